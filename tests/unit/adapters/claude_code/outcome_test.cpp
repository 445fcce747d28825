#include "adapters/claude_code/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forge::adapters::claude_code {
namespace {

using testing::HasSubstr;

AgentResult of(const CliResult& said, const sandbox::CommandResult& command = {}) {
  Heard heard;
  heard.started = true;
  heard.result = said;
  heard.last_text = "earlier words";
  return result_of({.heard = heard, .command = command, .door = {}});
}

TEST(ClaudeOutcome, FollowsTheTerminalReason) {
  EXPECT_EQ(of({.subtype = "success", .terminal_reason = "completed"}).reason, Reason::completed);
  EXPECT_EQ(of({.subtype = "error_max_turns", .is_error = true, .terminal_reason = "max_turns"}).reason, Reason::max_turns);
  EXPECT_EQ(of({.subtype = "error_max_budget_usd", .is_error = true, .terminal_reason = "budget_exhausted"}).reason,
            Reason::budget_exhausted);
  EXPECT_EQ(of({.subtype = "success", .is_error = true, .terminal_reason = "api_error"}).reason, Reason::api_error);
  EXPECT_EQ(of({.subtype = "success", .is_error = true, .terminal_reason = "api_error", .api_status = 401}).reason, Reason::auth_error);
  EXPECT_EQ(of({.subtype = "success", .is_error = true, .terminal_reason = "api_error", .api_status = 403}).reason, Reason::auth_error);
  EXPECT_EQ(of({.subtype = "success", .is_error = true, .terminal_reason = "api_error", .text = "Prompt is too long"}).reason,
            Reason::context_overflow);
  EXPECT_EQ(of({.subtype = "success", .terminal_reason = "completed", .stop_reason = "refusal"}).reason, Reason::refused);
  EXPECT_EQ(of({.subtype = "later", .terminal_reason = "something new"}).reason, Reason::agent_crash);
}

TEST(ClaudeOutcome, FollowsTheSubtypeOfVersionsWithoutATerminalReason) {
  EXPECT_EQ(of({.subtype = "success"}).reason, Reason::completed);
  EXPECT_EQ(of({.subtype = "success", .is_error = true}).reason, Reason::api_error);
  EXPECT_EQ(of({.subtype = "error_max_turns", .is_error = true}).reason, Reason::max_turns);
  const AgentResult crash = of({.subtype = "error_during_execution", .is_error = true, .errors = {"No conversation found"}});
  EXPECT_EQ(crash.reason, Reason::agent_crash);
  EXPECT_THAT(crash.error, HasSubstr("No conversation found"));
}

TEST(ClaudeOutcome, KeepsTheLastWordsOfAFailureForTheCommit) {
  EXPECT_EQ(of({.subtype = "error_max_turns", .is_error = true}).summary, "earlier words");
  EXPECT_EQ(of({.subtype = "success", .text = "last words"}).summary, "last words");
  EXPECT_EQ(of({.subtype = "success", .is_error = true, .text = "API Error: 500"}).summary, "earlier words");
}

TEST(ClaudeOutcome, TellsHowAProgramEndedThatSaidNothing) {
  const Heard nothing;
  const auto ended = [&](const sandbox::CommandResult& command) {
    return result_of({.heard = nothing, .command = command, .door = {}}).error;
  };
  sandbox::CommandResult command;
  command.ended = sandbox::Ended::out_of_memory;
  EXPECT_THAT(ended(command), HasSubstr("out_of_memory"));
  command.ended = sandbox::Ended::exited;
  command.exit.signal = 9;
  EXPECT_THAT(ended(command), HasSubstr("by signal 9"));
}

}  // namespace
}  // namespace forge::adapters::claude_code
