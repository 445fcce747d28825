#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/pi/turn_trace.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/domain/job.h"

namespace forge::adapters::pi {

/// What a session may still use of its turns, tokens and time, counted over all its prompts. Each is warned about once, at 80 %.
class Allowance {
 public:
  struct Ended {
    Reason reason;
    std::string error;  ///< for people
  };

  Allowance(const RunLimits& limits, TurnTrace& trace) : limits_(limits), trace_(trace) {}

  /// Before each turn: what ended, with its `limit` event.
  std::optional<Ended> ended();
  /// Counts a turn and begins it in the trace; its number.
  int begin_turn();
  void add_tokens(const Usage& usage) { tokens_ += usage.total(); }
  /// After each turn: what the agent must be told now, one sentence each; each with its `limit` event.
  std::vector<std::string> warnings(const Stop& stop);

 private:
  struct Kind {
    const char* what;
    bool warned = false;
  };
  /// 80 % reached for the first time.
  bool reached(Kind& kind, std::int64_t value, std::int64_t limit);

  const RunLimits limits_;
  TurnTrace& trace_;
  std::int64_t turns_ = 0;
  std::int64_t tokens_ = 0;
  Kind turn_kind_{"max_turns"};
  Kind token_kind_{"max_tokens"};
  Kind time_kind_{"time_limit_s"};
};

}  // namespace forge::adapters::pi
