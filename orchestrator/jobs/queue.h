#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "orchestrator/base/clock.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/base/log.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/jobs/run_stop.h"
#include "orchestrator/store/store.h"

namespace forge::jobs {

struct QueueOptions {
  int concurrency = 2;  ///< runs at once; 0 = a queue that hands out nothing
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  std::chrono::milliseconds renew_every = std::chrono::seconds(10);
  std::chrono::milliseconds end_again = std::chrono::seconds(1);  ///< pause before the next attempt to write the end of a run
};

/// A run that this process works on.
struct LiveRun {
  LiveRun(store::Lease held, const JobSpec& spec)
      : lease(std::move(held)), stop(std::chrono::seconds(spec.limits.time_limit_s)), stall_limit(spec.limits.stall_limit_s) {}
  const store::Lease lease;
  RunStop stop;
  Activity activity;
  const std::chrono::seconds stall_limit;
};

/// Hands queued runs to worker threads. A hand-out is a lease with a generation: the keeper thread renews it, and a lease that cannot be
/// renewed stops its run. Nothing is forgotten at hand-out: what dies with this process is ended at the next start
/// (Store::end_interrupted).
class Queue {
 public:
  /// Does one leased run, on a worker thread, and says how it ended. What it throws is logged and ends the run as interrupted.
  using Work = std::function<store::RunEnd(const Job& job, const Run& run, LiveRun& live)>;

  Queue(store::Store& store, const Clock& clock, Log& log, QueueOptions options, Work work);
  /// Interrupts what still lives and waits for it.
  ~Queue();

  /// A run was queued.
  void wake();
  /// Asks for the end of a live run; false when it does not live here.
  bool stop_run(const RunId& run, Reason why);
  /// Claims nothing more and waits until the live runs have ended, or `stop` ends the wait; then those left are interrupted.
  void drain(const Stop& stop);
  /// True once drain() was called.
  bool draining();
  /// Runs at work now.
  std::size_t live();

 private:
  struct State {
    std::uint64_t wakes = 0;
    bool draining = false;
    bool giving_up = false;  ///< the time to drain is over
    /// By run and not by job: the next run of a job may begin before the one that has just ended left its worker.
    std::map<RunId, LiveRun*> live;
  };

  class Registration;

  void worker(const std::stop_token& token);
  void keeper(const std::stop_token& token);
  void perform(const store::Lease& lease, const std::stop_token& token);
  void write_end(const store::Lease& lease, const store::RunEnd& end, const std::stop_token& token);
  /// Waits for a wake-up after `seen`, at most a poll interval. False when stopping.
  bool wait_for_work(const std::stop_token& token, std::uint64_t& seen);

  store::Store& store_;
  const Clock& clock_;
  Log& log_;
  const QueueOptions options_;
  const Work work_;
  Guarded<State> state_;
  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace forge::jobs
