#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/adapter.h"
#include "adapters/pi/allowance.h"
#include "adapters/pi/compaction.h"
#include "adapters/pi/stuck.h"
#include "adapters/pi/transcript.h"
#include "adapters/pi/turn_trace.h"
#include "orchestrator/models/model.h"
#include "tools/registry.h"

namespace forge::adapters::pi {

/// The loop over one conversation: ask the model, run its calls, until it ends by itself or something ends it.
class Session final : public AgentSession {
 public:
  /// Makes the metered model of the run; `trace` outlives it.
  using MakeModel = std::function<std::unique_ptr<models::Model>(TraceSink& trace)>;
  /// The references of `context`, and `tools`, outlive the session.
  Session(const RunContext& context, const tools::Registry& tools, const MakeModel& make_model);
  AgentResult prompt(const std::string& text, const Stop& stop) override;

 private:
  class Observer;
  using End = std::optional<AgentResult>;  // nothing = the loop goes on

  End turn(const Stop& stop);
  /// Asks the model; shortens the conversation and asks once more when it no longer fits.
  End ask(models::ModelResponse& response, const Stop& stop);
  /// One request. False when the conversation does not fit.
  bool fits(models::ModelResponse& response, const Stop& stop);
  /// Sums up all but about the newest `keep_tokens`; shortens old results where that is not enough. False when nothing became shorter.
  bool compact(std::int64_t keep_tokens, const Stop& stop);
  void show(const models::ModelResponse& response);
  void run_calls(const models::ModelResponse& response, const Stop& stop);
  models::ToolResultBlock run_call(const models::ToolUseBlock& call, bool cut, const Stop& stop);
  tools::ToolOutcome execute(const models::ToolUseBlock& call, bool cut, const Stop& stop);
  /// A response without calls: the end of the work, or what the model is told so that it goes on.
  End after_talk(const models::ModelResponse& response);
  End judge(StuckDetector::Verdict verdict);
  void tell_warnings(const Stop& stop);
  AgentResult end(Reason reason, std::string error) const { return {reason, summary_, std::move(error)}; }

  const RunContext context_;
  const tools::Registry& tools_;
  TurnTrace trace_;
  std::unique_ptr<models::Model> model_;
  const CompactionPlan plan_;
  const std::string system_;
  const std::vector<models::ToolSpec> specs_;
  std::int64_t fixed_tokens_ = 0;  // estimate for system prompt and tools
  Transcript transcript_;
  Allowance allowance_;
  StuckDetector stuck_;
  StuckDetector::Verdict worst_ = StuckDetector::Verdict::fine;  // of the calls of this turn
  std::string task_;                                             // the first prompt, kept through every summary
  std::string summary_;                                          // the agent's last text
};

}  // namespace forge::adapters::pi
