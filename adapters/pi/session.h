#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/adapter.h"
#include "adapters/pi/stuck.h"
#include "orchestrator/models/model.h"
#include "tools/registry.h"

namespace forge::adapters::pi {

/// Passes a run's events on, and hears when a budget is nearly spent: the model should know.
class BudgetEar final : public TraceSink {
 public:
  explicit BudgetEar(TraceSink& trace) : trace_(trace) {}
  void append(TraceData data, std::optional<int> turn = {}) override;
  void alive() override { trace_.alive(); }
  /// The warning since the last call, once.
  std::optional<trace::Budget> take_warning() { return std::exchange(warning_, std::nullopt); }

 private:
  TraceSink& trace_;
  std::optional<trace::Budget> warning_;
};

/// One conversation with a model that works by tools. A turn is one response with all its tool calls, run strictly in the order emitted.
class Session final : public AgentSession {
 public:
  using MakeModel = std::function<std::unique_ptr<models::Model>(TraceSink& trace)>;
  /// `context` and `tools` outlive the session.
  Session(const RunContext& context, const tools::Registry& tools, const MakeModel& make_model);

  AgentResult prompt(const std::string& text, const Stop& stop) override;

 private:
  /// One turn. Nothing while the agent goes on.
  std::optional<AgentResult> turn(const Stop& stop);
  std::optional<AgentResult> over_limit();
  /// Asks the model; an end of the run when it cannot answer. A conversation that no longer fits is compacted once.
  std::optional<AgentResult> ask(models::ModelResponse& response, const Stop& stop);
  models::ModelResponse complete(const models::ModelRequest& request, const Stop& stop);
  models::ModelRequest request() const;
  void note_answer(const models::ModelResponse& response);
  std::optional<AgentResult> without_calls(const models::ModelResponse& response);
  std::optional<AgentResult> run_calls(const std::vector<models::ToolUseBlock>& calls, const Stop& stop);
  models::ToolResultBlock run_call(const models::ToolUseBlock& call, const Stop& stop);
  /// Reminders that belong into the next user message.
  std::vector<std::string> reminders();
  void say(const std::string& text);
  bool nearly_full() const;
  bool compact(const Stop& stop);
  AgentResult ended(Reason reason, std::string error) const { return {reason, summary_, std::move(error)}; }

  const RunContext& context_;
  const tools::Registry& tools_;
  BudgetEar trace_;
  std::unique_ptr<models::Model> model_;
  const std::string system_;
  std::string task_;  // the first prompt, kept through compaction
  std::vector<models::ChatMessage> messages_;
  StuckDetector stuck_;
  bool nudged_ = false;
  int turns_ = 0;
  int monologue_ = 0;  // answers in a row that neither call a tool nor end
  std::int64_t tokens_ = 0;
  std::int64_t context_tokens_ = 0;   // of the conversation up to and with the last answer
  std::size_t counted_messages_ = 0;  // that context_tokens_ stands for
  bool warned_turns_ = false;
  bool warned_tokens_ = false;
  std::string summary_;
};

}  // namespace forge::adapters::pi
