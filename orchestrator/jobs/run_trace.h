#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/domain/trace.h"
#include "orchestrator/jobs/run_stop.h"
#include "orchestrator/store/store.h"

namespace forge::jobs {

/// The trace of one run: stores each event, keeps the activity clock, and collects the findings for the run's record.
class RunTrace final : public TraceSink {
 public:
  /// Findings beyond this stay in the trace alone.
  static constexpr std::size_t kKeptFindings = 100;

  /// Bytes that one run may put into its trace: whoever writes it also fills the disk of all others.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;

  /// `stop` is asked for the end of the run (output_limit) when the trace has `most_bytes`; what the agent does then is no longer kept.
  RunTrace(store::Store& store, RunId run, Activity& activity, RunStop& stop, std::size_t most_bytes = kMostBytes)
      : store_(store), run_(std::move(run)), activity_(activity), stop_(stop), most_bytes_(most_bytes) {}

  void append(TraceData data, std::optional<int> turn = {}) override;
  void alive() override { activity_.touch(); }
  Activity& activity() { return activity_; }
  /// Runs `write`, a write of this run to the store, and remembers when the store could not take it.
  template <typename Write>
  decltype(auto) storing(Write&& write) {
    try {
      return std::forward<Write>(write)();
    } catch (const Error& e) {
      if (e.code() == ErrorCode::unavailable || e.code() == ErrorCode::busy || e.code() == ErrorCode::corrupt) store_failed_ = true;
      throw;
    }
  }
  /// A full disk shows wherever something is stored: what fails on the way up then is neither the sandbox's doing nor the agent's.
  bool store_failed() const { return store_failed_; }
  /// "kind: path: message", in the order they were found.
  std::vector<std::string> findings();

 private:
  /// False when the event has no room any more.
  bool has_room(const TraceData& data);

  store::Store& store_;
  const RunId run_;
  Activity& activity_;
  RunStop& stop_;
  const std::size_t most_bytes_;
  std::atomic<std::size_t> bytes_ = 0;
  Guarded<std::vector<std::string>> findings_;
  std::atomic<bool> store_failed_ = false;
};

}  // namespace forge::jobs
