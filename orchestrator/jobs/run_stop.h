#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "orchestrator/base/guarded.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/domain/job.h"

namespace forge::jobs {

/// Why a live run must end from outside, said once: the first reason wins, and the run's Stop fires.
class RunStop {
 public:
  /// `time_limit` counts from now.
  explicit RunStop(std::chrono::seconds time_limit) : deadline_(SteadyClock::now() + time_limit) {}

  /// cancelled, interrupted, no_output or output_limit.
  void request(Reason why);
  /// What was requested; `timeout` once the time limit passed; nothing while the run may go on.
  std::optional<Reason> why();
  Stop stop() const { return Stop(source_.get_token(), deadline_); }

 private:
  std::stop_source source_;
  SteadyClock::time_point deadline_;
  Guarded<std::optional<Reason>> requested_;
};

/// When the run's agent was last heard of, for the stall limit. Only while it is listened to: a fetch, a setup or a verify command is not
/// the agent's. A tool at work counts as being heard: tools have time-outs of their own.
class Activity {
 public:
  void listen(bool on);
  void touch();
  void tool_started();
  void tool_ended();
  /// Zero while nobody listens, and while a tool runs.
  SteadyClock::duration silent_for();

 private:
  struct State {
    SteadyClock::time_point last = SteadyClock::now();
    int tools = 0;
    bool listening = false;
  };
  Guarded<State> state_;
};

/// The agent is at work, and listened to, while it lives.
class Listening {
 public:
  explicit Listening(Activity& activity) : activity_(activity) { activity_.listen(true); }
  ~Listening() { activity_.listen(false); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  Activity& activity_;
};

}  // namespace forge::jobs
