#pragma once

#include <optional>
#include <string>
#include <vector>

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

  RunTrace(store::Store& store, RunId run, Activity& activity) : store_(store), run_(std::move(run)), activity_(activity) {}

  void append(TraceData data, std::optional<int> turn = {}) override;
  void alive() override { activity_.touch(); }
  Activity& activity() { return activity_; }
  /// "kind: path: message", in the order they were found.
  std::vector<std::string> findings();

 private:
  store::Store& store_;
  const RunId run_;
  Activity& activity_;
  Guarded<std::vector<std::string>> findings_;
};

}  // namespace forge::jobs
