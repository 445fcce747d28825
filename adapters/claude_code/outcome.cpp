#include "adapters/claude_code/outcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "orchestrator/base/text.h"

namespace forge::adapters::claude_code {
namespace {

constexpr std::size_t kShownBytes = 500;

std::string shown(const std::string& text) { return to_utf8(std::string_view(trim(text)).substr(0, kShownBytes)).text; }

std::string why(const CliResult& result) {
  if (!result.errors.empty()) return shown(fmt::format("{}", fmt::join(result.errors, "; ")));
  return result.text.empty() ? "" : shown(result.text);
}

/// A failed request to the model, as far as the program tells: the gateway closes the door for what it can name better.
AgentResult failed_request(const CliResult& result) {
  const bool refused_key = result.api_status == 401 || result.api_status == 403;
  const bool too_long = lower_ascii(result.text).find("prompt is too long") != std::string::npos;
  AgentResult ended;
  ended.reason = refused_key ? Reason::auth_error : too_long ? Reason::context_overflow : Reason::api_error;
  ended.error = why(result).empty() ? std::string(explain(ended.reason)) : why(result);
  return ended;
}

/// What the subtype says where a version gives no terminal reason.
std::string reason_word(const CliResult& result) {
  if (!result.terminal_reason.empty()) return result.terminal_reason;
  if (result.subtype == "error_max_turns") return "max_turns";
  if (result.subtype == "error_max_budget_usd") return "budget_exhausted";
  if (result.subtype == "success") return result.is_error ? "api_error" : "completed";
  return result.subtype;
}

AgentResult by_result(const CliResult& result) {
  const std::string word = reason_word(result);
  if (word == "max_turns") return {.reason = Reason::max_turns, .summary = {}, .error = "the agent used its turns without ending"};
  if (word == "budget_exhausted") return {.reason = Reason::budget_exhausted, .summary = {}, .error = why(result)};
  if (word == "api_error") return failed_request(result);
  if (word == "completed" && !result.is_error) {
    if (result.stop_reason == "refusal") return {.reason = Reason::refused, .summary = {}, .error = "the model refused the task"};
    return {};
  }
  return {.reason = Reason::agent_crash,
          .summary = {},
          .error = fmt::format("claude-code ended with '{}'{}", word, why(result).empty() ? "" : ": " + why(result))};
}

std::string how(const sandbox::CommandResult& command) {
  if (command.ended != sandbox::Ended::exited) return "(" + std::string(sandbox::name_of(command.ended)) + ")";
  if (command.exit.signal) return fmt::format("by signal {}", *command.exit.signal);
  return command.exit.code ? fmt::format("with exit code {}", *command.exit.code) : "";
}

/// The program ended without its last line.
AgentResult without_result(const Ending& ending) {
  const std::string said = shown(ending.command.err.text());
  if (ending.heard.unreadable > 0)
    return {.reason = Reason::protocol_error,
            .summary = {},
            .error = fmt::format("claude-code printed what is not its protocol: {}", ending.heard.unreadable_line)};
  return {.reason = Reason::agent_crash,
          .summary = {},
          .error = fmt::format("claude-code ended {} without a result{}", how(ending.command), said.empty() ? "" : ": " + said)};
}

}  // namespace

AgentResult result_of(const Ending& ending) {
  AgentResult result;
  if (ending.door) {
    result.reason = ending.door->reason;
    result.error = ending.door->text;
  } else if (ending.over_tokens) {
    result.reason = Reason::budget_exhausted;
    result.error = "the agent used its tokens without ending";
  } else {
    result = ending.heard.result ? by_result(*ending.heard.result) : without_result(ending);
  }
  const bool said = ending.heard.result && !ending.heard.result->is_error && !ending.heard.result->text.empty();
  result.summary = said ? ending.heard.result->text : ending.heard.last_text;
  return result;
}

}  // namespace forge::adapters::claude_code
