#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "orchestrator/base/guarded.h"
#include "orchestrator/domain/trace.h"

namespace forge::adapters::claude_code {

/// The run's trace as the session and the gateway's door see it, from two threads: what the program prints about a response and what the
/// gateway meters of it get the same turn, by the id of the request. What the gateway alone has seen of another model than the job's is
/// side work of the program (a title, a summary) and begins no turn. Counts the tokens that the gateway metered, of all models.
class TurnTrace final : public TraceSink {
 public:
  /// `over_limit` is called once, from any thread, when `max_tokens` are used.
  TurnTrace(TraceSink& inner, std::int64_t max_tokens, std::function<void()> over_limit)
      : inner_(inner), max_tokens_(max_tokens), over_limit_(std::move(over_limit)) {}

  /// The name of the job's model in `model` events. Until it is told, every response begins a turn.
  void set_job_model(std::string name) { state_.lock()->job_model = std::move(name); }
  /// The turn of that request; begins the next one when it is new.
  int turn_of(const std::string& request_id);
  /// Turns so far.
  int turns() { return state_.lock()->turns; }
  std::int64_t tokens() { return state_.lock()->tokens; }

  void append(TraceData data, std::optional<int> turn = {}) override;
  void alive() override { inner_.alive(); }

 private:
  struct State {
    std::string job_model;
    int turns = 0;
    std::map<std::string, int> by_request;
    std::int64_t tokens = 0;
    bool over = false;
  };
  /// The turn that a metered response belongs to; begins one where that is due.
  std::optional<int> turn_of_metered(const trace::Model& model);
  void count(const Usage& usage);

  TraceSink& inner_;
  const std::int64_t max_tokens_;
  const std::function<void()> over_limit_;
  Guarded<State> state_;
};

}  // namespace forge::adapters::claude_code
