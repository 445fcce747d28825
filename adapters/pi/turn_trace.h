#pragma once

#include <optional>
#include <string>
#include <utility>

#include "orchestrator/domain/trace.h"

namespace forge::adapters::pi {

/// The run's trace as the loop and its model see it: fills in the turn, and keeps the gateway's warning about a budget for the agent.
class TurnTrace final : public TraceSink {
 public:
  explicit TurnTrace(TraceSink& inner) : inner_(inner) {}

  void begin_turn(int turn) {
    turn_ = turn;
    append(trace::Turn{turn});
  }
  int turn() const { return turn_; }

  void append(TraceData data, std::optional<int> turn = {}) override;
  void alive() override { inner_.alive(); }

  /// "spent of limit" since the last call, once per warning.
  std::optional<std::string> take_budget_warning() { return std::exchange(budget_warning_, std::nullopt); }

 private:
  TraceSink& inner_;
  int turn_ = 0;
  std::optional<std::string> budget_warning_;
};

}  // namespace forge::adapters::pi
