#include "adapters/pi/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "adapters/pi/prompt.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::adapters::pi {
namespace {

using models::Block;
using models::ModelResponse;
using models::StopReason;
using models::TextBlock;
using models::ThinkingBlock;
using models::ToolResultBlock;
using models::ToolUseBlock;
using tools::ToolOutcome;

constexpr std::size_t kShownArgumentBytes = 300;
constexpr std::size_t kTrimmedResultBytes = 4 << 10;  // of old results, when even the newest turns do not fit

constexpr std::string_view kNotRunCut =
    "Not run: your response was cut at its limit of length, so the arguments may be incomplete. Send the call again in a shorter response; "
    "write "
    "long files in several parts.";
constexpr std::string_view kNotRunStopped = "Not run: the run was stopped.";
constexpr std::string_view kGoOnShorter =
    "Your response was cut at its limit of length. Go on where it stopped, with shorter texts and one tool call at a time.";
constexpr std::string_view kGoOnEmpty =
    "Your response was empty. If the task is done, end it with the summary of your work; otherwise go on.";

/// Tools as the model interface takes them: what only the registry needs is left out.
std::vector<models::ToolSpec> model_specs(const tools::Registry& registry) {
  std::vector<models::ToolSpec> specs;
  for (const tools::ToolSpec* spec : registry.specs(tools::Caller::agent))
    specs.push_back({spec->name, spec->description, spec->schema_json});
  return specs;
}

std::vector<ToolUseBlock> calls_of(const ModelResponse& response) {
  std::vector<ToolUseBlock> calls;
  for (const Block& block : response.blocks)
    if (const auto* call = std::get_if<ToolUseBlock>(&block)) calls.push_back(*call);
  return calls;
}

/// All that was said, without the thoughts.
std::string text_of(const ModelResponse& response) {
  std::string text;
  for (const Block& block : response.blocks)
    if (const auto* said = std::get_if<TextBlock>(&block)) text += (text.empty() ? "" : "\n") + said->text;
  return std::string(trim(text));
}

/// Why a model that does not answer ends the run; nothing for errors that are not the model's.
std::optional<Reason> reason_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::unauthenticated:
    case ErrorCode::permission_denied: return Reason::auth_error;
    case ErrorCode::budget_exhausted: return Reason::budget_exhausted;
    case ErrorCode::context_overflow: return Reason::context_overflow;  // of the summary itself
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
    case ErrorCode::limit_exceeded:
    case ErrorCode::unavailable:
    case ErrorCode::corrupt: return Reason::api_error;
    default: return {};
  }
}

/// Texts of a library stay in the log: they may name hosts and paths.
std::string for_people(const Error& error, Reason reason) {
  return error.client_text().empty() ? std::string(explain(reason)) : error.client_text();
}

ToolOutcome not_run(std::string_view text) { return tools::failed(std::string(text)); }

}  // namespace

/// Tells the trace that the model is at work, and counts what dropped attempts were billed.
class Session::Observer final : public models::ModelObserver {
 public:
  Observer(TurnTrace& trace, Allowance& allowance) : trace_(trace), allowance_(allowance) {}
  void text_delta(std::string_view) override { trace_.alive(); }
  void thinking_delta(std::string_view) override { trace_.alive(); }
  void retrying(const Retry& retry) override {
    trace_.append(trace::Retry{"model", retry.attempt, retry.delay_ms, retry.status, retry.message});
  }
  void wasted(const Usage& usage) override { allowance_.add_tokens(usage); }

 private:
  TurnTrace& trace_;
  Allowance& allowance_;
};

// The model is made with trace_, so that its events carry the turn and the warnings of the gateway are heard.
Session::Session(const RunContext& context, const tools::Registry& tools, const MakeModel& make_model)
    : context_(context),
      tools_(tools),
      trace_(context.trace),
      model_(make_model(trace_)),
      plan_(model_->context_window()),
      system_(system_prompt(context.job.spec, context.instructions)),
      specs_(model_specs(tools)),
      allowance_(context.job.spec.limits, trace_) {
  fixed_tokens_ = estimate_tokens(system_);
  for (const auto& spec : specs_) fixed_tokens_ += estimate_tokens(spec.description) + estimate_tokens(spec.schema_json);
}

AgentResult Session::prompt(const std::string& text, const Stop& stop) {
  if (task_.empty()) task_ = text;
  transcript_.tell(text);
  while (true) {
    if (auto ended = turn(stop)) return std::move(*ended);
  }
}

Session::End Session::turn(const Stop& stop) {
  stop.check();
  // Before the call, never after: the work of the last turn is kept, and nothing is paid that could not be used.
  if (auto ended = allowance_.ended()) return end(ended->reason, std::move(ended->error));
  allowance_.begin_turn();
  ModelResponse response;
  if (auto ended = ask(response, stop)) return ended;
  show(response);
  transcript_.add_response(response);
  if (std::string text = text_of(response); !text.empty()) summary_ = std::move(text);
  if (response.stop_reason == StopReason::refusal) {
    // Calls of a refused response must not be left without an answer either.
    run_calls(response, stop);
    return end(Reason::refused, "the model refused the task");
  }
  // Content decides, not the stop reason: some servers send "stop" with calls.
  if (calls_of(response).empty()) return after_talk(response);
  run_calls(response, stop);
  if (auto ended = judge(std::exchange(worst_, StuckDetector::Verdict::fine))) return ended;
  tell_warnings(stop);
  return {};
}

Session::End Session::ask(ModelResponse& response, const Stop& stop) {
  try {
    if (plan_.due(transcript_.context_tokens())) compact(plan_.keep, stop);
    if (fits(response, stop)) return {};
    // Whatever we counted was wrong: half of it must go at least.
    if (compact(std::min(plan_.keep, transcript_.context_tokens() / 2), stop) && fits(response, stop)) return {};
    return end(Reason::context_overflow, "the conversation no longer fits the model, also after it was summed up");
  } catch (const Error& e) {
    const auto reason = reason_of(e.code());
    if (!reason) throw;
    return end(*reason, for_people(e, *reason));
  }
}

bool Session::fits(ModelResponse& response, const Stop& stop) {
  models::ModelRequest request;
  request.system = system_;
  request.messages = transcript_.messages();
  request.tools = specs_;
  request.max_output_tokens = plan_.reserve;
  request.turn = trace_.turn();
  Observer observer(trace_, allowance_);
  try {
    response = model_->complete(request, observer, stop);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::context_overflow) throw;
    return false;
  }
  allowance_.add_tokens(response.usage);
  return response.stop_reason != StopReason::context_overflow;
}

bool Session::compact(std::int64_t keep_tokens, const Stop& stop) {
  const std::int64_t before = transcript_.context_tokens();
  const auto first_kept = transcript_.cut_point(keep_tokens);
  std::string summary;
  if (first_kept) {
    models::ModelRequest request = summary_request(transcript_, *first_kept, plan_);
    request.turn = trace_.turn();
    Observer observer(trace_, allowance_);
    const ModelResponse response = model_->complete(request, observer, stop);
    allowance_.add_tokens(response.usage);
    summary = text_of(response);
    if (!summary.empty()) transcript_.replace_before(*first_kept, summary_message(task_, summary), fixed_tokens_);
  }
  // A summary that failed, or a newest turn that alone is too large: old outputs are what there is left to give.
  const bool still_long = summary.empty() || plan_.due(transcript_.context_tokens());
  if (still_long) transcript_.shorten_results(kTrimmedResultBytes, fixed_tokens_);
  const std::int64_t after = transcript_.context_tokens();
  if (summary.empty() && after >= before) return false;
  trace_.append(trace::Compaction{before, after, {summary}});
  return true;
}

/// One event per block, after the whole response: a retried attempt must leave no text behind.
void Session::show(const ModelResponse& response) {
  for (const Block& block : response.blocks) {
    if (const auto* thinking = std::get_if<ThinkingBlock>(&block);
        thinking != nullptr && !thinking->redacted && !trim(thinking->text).empty())
      trace_.append(trace::Thinking{{thinking->text}});
    if (const auto* said = std::get_if<TextBlock>(&block); said != nullptr && !trim(said->text).empty())
      trace_.append(trace::Text{{said->text}});
  }
}

void Session::run_calls(const ModelResponse& response, const Stop& stop) {
  const std::vector<ToolUseBlock> calls = calls_of(response);
  if (calls.empty()) return;
  const bool cut = response.stop_reason == StopReason::max_tokens || response.stop_reason == StopReason::refusal;
  std::vector<ToolResultBlock> results;
  try {
    for (const ToolUseBlock& call : calls) results.push_back(run_call(call, cut, stop));
  } catch (const Error&) {
    // The conversation may go on after a cancelled call: no call of it may be left without an answer.
    while (results.size() < calls.size()) results.push_back({calls[results.size()].id, std::string(kNotRunStopped), true});
    transcript_.add_results(std::move(results));
    throw;
  }
  transcript_.add_results(std::move(results));
}

ToolResultBlock Session::run_call(const ToolUseBlock& call, bool cut, const Stop& stop) {
  trace_.append(trace::ToolCall{call.id, call.name, {call.arguments}});
  const auto began = SteadyClock::now();
  const auto note = [&](const ToolOutcome& outcome) {
    const auto duration = std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - began).count();
    trace_.append(
        trace::ToolResult{call.id, call.name, outcome.ok, outcome.exit_code, outcome.truncated, outcome.bytes, duration, {outcome.text}});
  };
  ToolOutcome outcome;
  try {
    outcome = execute(call, cut, stop);
  } catch (const Error& e) {
    note(not_run(e.code() == ErrorCode::unavailable ? "The sandbox is gone." : "Stopped with the run."));
    throw;
  }
  note(outcome);
  // Judged after the whole turn: each of its calls still has to be answered.
  worst_ = std::max(worst_, stuck_.called(call.name, call.arguments, outcome.text, outcome.ok));
  return {call.id, std::move(outcome.text), !outcome.ok};
}

/// The three ways not to run a call, then the registry.
ToolOutcome Session::execute(const ToolUseBlock& call, bool cut, const Stop& stop) {
  stop.check();
  if (cut) return not_run(kNotRunCut);
  if (!call.parsed)
    return not_run(fmt::format("Not run: the arguments are not one JSON object. They were: {}",
                               to_utf8(std::string_view(call.arguments).substr(0, kShownArgumentBytes)).text));
  return tools_.call(tools::Caller::agent, call.name, call.arguments,
                     {.sandbox = &context_.sandbox, .stop = stop, .alive = [this] { trace_.alive(); }});
}

Session::End Session::after_talk(const ModelResponse& response) {
  if (response.stop_reason == StopReason::pause_turn) return {};  // goes back as it is
  const bool cut = response.stop_reason == StopReason::max_tokens;
  if (!cut && !text_of(response).empty()) return end(Reason::completed, "");
  if (auto ended = judge(stuck_.talked())) return ended;
  transcript_.tell(std::string(cut ? kGoOnShorter : kGoOnEmpty));
  return {};
}

Session::End Session::judge(StuckDetector::Verdict verdict) {
  if (verdict == StuckDetector::Verdict::fine) return {};
  const bool stops = verdict == StuckDetector::Verdict::stop;
  trace_.append(trace::LogLine{"warn", fmt::format("the agent is stuck: {}; {}", stuck_.why(), stops ? "stopped" : "told so")});
  if (stops) return end(Reason::stuck, stuck_.why());
  transcript_.tell(
      fmt::format("[forge] You go round in circles: {}. Stop and think about what you have learnt, then try something different, or end "
                  "the task and say what is in "
                  "the way.",
                  stuck_.why()));
  return {};
}

void Session::tell_warnings(const Stop& stop) {
  const std::vector<std::string> warnings = allowance_.warnings(stop);
  if (warnings.empty()) return;
  transcript_.tell(
      fmt::format("[forge] {}. Finish up: leave the work tree in a good state and end with your summary.", fmt::join(warnings, "; ")));
}

}  // namespace forge::adapters::pi
