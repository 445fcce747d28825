#include "adapters/pi/session.h"

#include <utility>

#include "adapters/pi/conversation.h"
#include "adapters/pi/prompt.h"
#include "orchestrator/base/error.h"

namespace forge::adapters::pi {
namespace {

using models::Speaker;

constexpr std::int64_t kReserveTokens = 16'384;  // room for the next answer
constexpr std::int64_t kKeepTokens = 20'000;     // recent messages that compaction leaves whole
constexpr int kMonologue = 3;
constexpr std::int64_t kWarnPercent = 80;

/// Tells the run that the model is alive, and its trace about retries.
class Listening final : public models::ModelObserver {
 public:
  Listening(TraceSink& trace, int turn) : trace_(trace), turn_(turn) {}
  void text_delta(std::string_view) override { trace_.alive(); }
  void thinking_delta(std::string_view) override { trace_.alive(); }
  void retrying(const Retry& retry) override {
    trace_.append(trace::Retry{"model", retry.attempt, retry.delay_ms, retry.status, retry.message}, turn_);
  }

 private:
  TraceSink& trace_;
  const int turn_;
};

Reason reason_of(const Error& e) {
  switch (e.code()) {
    case ErrorCode::budget_exhausted: return Reason::budget_exhausted;
    case ErrorCode::unauthenticated:
    case ErrorCode::permission_denied: return Reason::auth_error;
    case ErrorCode::context_overflow: return Reason::context_overflow;
    default: return Reason::api_error;
  }
}

bool nearly(std::int64_t value, std::int64_t limit) { return value * 100 >= limit * kWarnPercent; }

}  // namespace

void BudgetEar::append(TraceData data, std::optional<int> turn) {
  if (const auto* budget = std::get_if<trace::Budget>(&data); budget != nullptr && budget->spent_nano_usd < budget->limit_nano_usd)
    warning_ = *budget;
  trace_.append(std::move(data), turn);
}

Session::Session(const RunContext& context, const tools::Registry& tools, const MakeModel& make_model)
    : context_(context), tools_(tools), trace_(context.trace), model_(make_model(trace_)), system_(system_prompt(context.instructions)) {}

AgentResult Session::prompt(const std::string& text, const Stop& stop) {
  if (task_.empty()) task_ = text;
  say(text);
  monologue_ = 0;
  while (true) {
    stop.check();
    if (auto end = turn(stop)) return *end;
  }
}

std::optional<AgentResult> Session::turn(const Stop& stop) {
  if (auto end = over_limit()) return end;
  ++turns_;
  trace_.append(trace::Turn{turns_}, turns_);
  if (nearly_full()) compact(stop);
  models::ModelResponse response;
  if (auto end = ask(response, stop)) return end;
  note_answer(response);
  if (response.stop_reason == models::StopReason::refusal) return ended(Reason::refused, "the model refused the task");
  if (response.stop_reason == models::StopReason::pause_turn) return {};  // sent back as it is, the model goes on
  std::vector<models::ToolUseBlock> calls;
  for (const auto& block : response.blocks)
    if (const auto* call = std::get_if<models::ToolUseBlock>(&block)) calls.push_back(*call);
  if (calls.empty()) return without_calls(response);
  monologue_ = 0;
  return run_calls(calls, stop);
}

std::optional<AgentResult> Session::over_limit() {
  const RunLimits& limits = context_.job.spec.limits;
  if (turns_ >= limits.max_turns) {
    trace_.append(trace::Limit{"turns", turns_, limits.max_turns}, turns_);
    return ended(Reason::max_turns, "the agent used all of its " + std::to_string(limits.max_turns) + " turns");
  }
  if (tokens_ >= limits.max_tokens) {
    trace_.append(trace::Limit{"tokens", tokens_, limits.max_tokens}, turns_);
    return ended(Reason::budget_exhausted, "the agent used all of its " + std::to_string(limits.max_tokens) + " tokens");
  }
  return {};
}

models::ModelRequest Session::request() const {
  models::ModelRequest request;
  request.system = system_;
  request.messages = messages_;
  for (const auto* spec : tools_.specs(tools::Caller::agent)) request.tools.push_back({spec->name, spec->description, spec->schema_json});
  request.turn = turns_;
  return request;
}

models::ModelResponse Session::complete(const models::ModelRequest& request, const Stop& stop) {
  Listening listening(trace_, turns_);
  auto response = model_->complete(request, listening, stop);
  tokens_ += response.usage.total();
  return response;
}

std::optional<AgentResult> Session::ask(models::ModelResponse& response, const Stop& stop) {
  for (bool compacted = false;; compacted = true) {
    try {
      response = complete(request(), stop);
      if (response.stop_reason != models::StopReason::context_overflow) return {};
      if (compacted || !compact(stop)) return ended(Reason::context_overflow, "the conversation no longer fits the model");
    } catch (const Error& e) {
      if (e.code() == ErrorCode::cancelled || e.code() == ErrorCode::timed_out) throw;
      const bool overflow = e.code() == ErrorCode::context_overflow;
      if (overflow && !compacted && compact(stop)) continue;
      return ended(reason_of(e), e.client_text().empty() ? "the model could not be used" : e.client_text());
    }
  }
}

void Session::note_answer(const models::ModelResponse& response) {
  for (const auto& block : response.blocks) {
    if (const auto* thinking = std::get_if<models::ThinkingBlock>(&block); thinking != nullptr && !thinking->redacted)
      trace_.append(trace::Thinking{{thinking->text}}, turns_);
    if (const auto* text = std::get_if<models::TextBlock>(&block); text != nullptr && !text->text.empty())
      trace_.append(trace::Text{{text->text}}, turns_);
  }
  if (const std::string text = text_of(response.blocks); !text.empty()) summary_ = text;
  if (!response.blocks.empty()) messages_.push_back({Speaker::assistant, response.blocks});
  context_tokens_ = response.usage.total();
  counted_messages_ = messages_.size();
}

std::optional<AgentResult> Session::without_calls(const models::ModelResponse& response) {
  const bool cut = response.stop_reason == models::StopReason::max_tokens;
  const bool empty = text_of(response.blocks).empty();
  if (!cut && !empty) return ended(Reason::completed, "");
  if (++monologue_ >= kMonologue)
    return ended(Reason::stuck,
                 std::string("the model gave ") + std::to_string(kMonologue) + (cut ? " cut-off" : " empty") + " answers in a row");
  say(cut ? kCutOff : kEmpty);
  return {};
}

std::optional<AgentResult> Session::run_calls(const std::vector<models::ToolUseBlock>& calls, const Stop& stop) {
  models::ChatMessage results{Speaker::user, {}};
  bool circling = false;
  for (const auto& call : calls) {
    auto result = run_call(call, stop);
    circling = stuck_.note(call.name, call.arguments, result.content, !result.is_error) || circling;
    results.blocks.emplace_back(std::move(result));
  }
  if (circling && nudged_) {
    messages_.push_back(std::move(results));
    return ended(Reason::stuck, "the agent went in circles: it repeated the same steps with the same results");
  }
  if (circling) {
    nudged_ = true;
    trace_.append(trace::LogLine{"warn", "the agent repeats itself; it was told so"}, turns_);
    results.blocks.emplace_back(models::TextBlock{kNudge});
  }
  for (auto& reminder : reminders()) results.blocks.emplace_back(models::TextBlock{std::move(reminder)});
  messages_.push_back(std::move(results));
  return {};
}

models::ToolResultBlock Session::run_call(const models::ToolUseBlock& call, const Stop& stop) {
  trace_.append(trace::ToolCall{call.id, call.name, {call.arguments}}, turns_);
  const auto started = SteadyClock::now();
  tools::ToolOutcome outcome;
  if (call.parsed) {
    outcome = tools_.call(tools::Caller::agent, call.name, call.arguments.empty() ? "{}" : call.arguments,
                          {&context_.sandbox, stop, [this] { trace_.alive(); }});
  } else {
    outcome = tools::failed(
        "The arguments are not one complete JSON object (or the answer was cut off), so nothing was executed. Send the call again.");
  }
  const auto duration = std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - started).count();
  trace_.append(trace::ToolResult{.id = call.id,
                                  .name = call.name,
                                  .ok = outcome.ok,
                                  .exit_code = outcome.exit_code,
                                  .truncated = outcome.truncated,
                                  .bytes = outcome.bytes,
                                  .duration_ms = duration,
                                  .output = {outcome.text}},
                turns_);
  return {call.id, outcome.text, !outcome.ok};
}

std::vector<std::string> Session::reminders() {
  const RunLimits& limits = context_.job.spec.limits;
  std::vector<std::string> said;
  const auto warn = [&](const std::string& what) {
    said.push_back("You have used " + what + ". Finish up: leave the code working and stop.");
  };
  if (!warned_turns_ && nearly(turns_, limits.max_turns)) {
    warned_turns_ = true;
    trace_.append(trace::Limit{"turns", turns_, limits.max_turns}, turns_);
    warn(std::to_string(turns_) + " of " + std::to_string(limits.max_turns) + " turns");
  }
  if (!warned_tokens_ && nearly(tokens_, limits.max_tokens)) {
    warned_tokens_ = true;
    trace_.append(trace::Limit{"tokens", tokens_, limits.max_tokens}, turns_);
    warn(std::to_string(tokens_) + " of " + std::to_string(limits.max_tokens) + " tokens");
  }
  if (const auto budget = trace_.take_warning())
    warn(format_usd(budget->spent_nano_usd) + " of a budget of " + format_usd(budget->limit_nano_usd));
  return said;
}

void Session::say(const std::string& text) { messages_.push_back({Speaker::user, {models::TextBlock{text}}}); }

bool Session::nearly_full() const {
  if (model_->context_window() == 0) return false;
  const std::int64_t now = context_tokens_ + estimated_tokens(messages_, std::min(counted_messages_, messages_.size()));
  return now > model_->context_window() - kReserveTokens;
}

bool Session::compact(const Stop& stop) {
  const std::size_t cut = recent_part(messages_, kKeepTokens);
  if (cut == 0) return false;
  const std::int64_t before = context_tokens_ + estimated_tokens(messages_, std::min(counted_messages_, messages_.size()));
  // Half of the window for what is summarised: the estimate is rough, and the summary needs room.
  const std::int64_t window = model_->context_window() > 0 ? model_->context_window() : 4 * kReserveTokens;
  models::ModelRequest asked;
  asked.system = "You summarise the work of a coding agent for itself.";
  asked.messages = {
      {Speaker::user, {models::TextBlock{compaction_prompt(transcript(messages_, cut, static_cast<std::size_t>(window * 2)))}}}};
  asked.max_output_tokens = kReserveTokens / 2;
  asked.turn = turns_;
  const std::string summary = text_of(complete(asked, stop).blocks);
  std::vector<models::ChatMessage> kept{{Speaker::user, {models::TextBlock{compacted_opening(task_, summary)}}}};
  kept.insert(kept.end(), messages_.begin() + static_cast<std::ptrdiff_t>(cut), messages_.end());
  messages_ = std::move(kept);
  context_tokens_ = 0;
  counted_messages_ = 0;
  trace_.append(trace::Compaction{before, estimated_tokens(messages_), {summary}}, turns_);
  return true;
}

}  // namespace forge::adapters::pi
