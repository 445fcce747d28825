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

  /// cancelled, interrupted or no_output.
  void request(Reason why);
  /// What was requested; `timeout` once the time limit passed; nothing while the run may go on.
  std::optional<Reason> why();
  Stop stop() const { return Stop(source_.get_token(), deadline_); }

 private:
  std::stop_source source_;
  SteadyClock::time_point deadline_;
  Guarded<std::optional<Reason>> requested_;
};

/// When the run's agent was last heard of, for the stall limit. A tool at work counts as being heard: tools have time-outs of their own.
class Activity {
 public:
  void touch();
  void tool_started();
  void tool_ended();
  /// Zero while a tool runs.
  SteadyClock::duration silent_for();

 private:
  struct State {
    SteadyClock::time_point last = SteadyClock::now();
    int tools = 0;
  };
  Guarded<State> state_;
};

}  // namespace forge::jobs
