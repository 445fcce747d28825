#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "orchestrator/base/guarded.h"
#include "orchestrator/domain/trace.h"

namespace forge::adapters::claude_code {

/// The run's trace as the session and the gateway's door see it, from two threads: what the program prints about a response and what the
/// gateway meters of it get the same turn, by the id of the request. Counts the tokens that the gateway metered.
class TurnTrace final : public TraceSink {
 public:
  /// `over_limit` is called once, from any thread, when `max_tokens` are used.
  TurnTrace(TraceSink& inner, std::int64_t max_tokens, std::function<void()> over_limit)
      : inner_(inner), max_tokens_(max_tokens), over_limit_(std::move(over_limit)) {}

  /// The turn of that request; begins the next one when it is new.
  int turn_of(const std::string& request_id);
  /// Turns so far.
  int turns() { return state_.lock()->turns; }
  std::int64_t tokens() { return state_.lock()->tokens; }

  void append(TraceData data, std::optional<int> turn = {}) override;
  void alive() override { inner_.alive(); }

 private:
  struct State {
    int turns = 0;
    std::map<std::string, int> by_request;
    std::int64_t tokens = 0;
    bool over = false;
  };
  void count(const Usage& usage);

  TraceSink& inner_;
  const std::int64_t max_tokens_;
  const std::function<void()> over_limit_;
  Guarded<State> state_;
};

}  // namespace forge::adapters::claude_code
