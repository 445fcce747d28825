#include "adapters/claude_code/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/base/text.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"
#include "tests/support/trace_recorder.h"

namespace forge::adapters::claude_code {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Lines that the real program printed (version 2.1.332, against the scripted model server) in tests/golden/claude_code.
class ClaudeStream : public testing::Test {
 protected:
  const Heard& play(const std::string& name) {
    const std::string text = test::read_file(test::source_file("tests/golden/claude_code/" + name + ".jsonl"));
    for (const auto line : split_lines(text)) stream_.line(line);
    stream_.finish();
    return stream_.heard();
  }
  const Heard& say(const std::string& line) {
    stream_.line(line);
    return stream_.heard();
  }
  std::vector<int> turns() const {
    std::vector<int> turns;
    for (const auto& seen : recorder_.all()) turns.push_back(seen.turn.value_or(0));
    return turns;
  }

  test::TraceRecorder recorder_;
  TurnTrace trace_{recorder_, 1'000'000, [] {}};
  Stream stream_{trace_};
};

TEST_F(ClaudeStream, TellsAWholePromptAsTurnsTextsCallsAndResults) {
  const Heard& heard = play("mends");
  EXPECT_TRUE(heard.started);
  EXPECT_EQ(recorder_.types(),
            "turn thinking text tool_call tool_result turn text tool_call tool_call tool_result tool_result turn tool_call tool_call "
            "tool_call tool_result tool_result tool_result turn tool_call tool_result turn text");
  EXPECT_THAT(turns(), ElementsAre(1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 5, 5));
  const auto calls = recorder_.of<trace::ToolCall>();
  EXPECT_EQ(calls.at(0).name, "Bash");
  EXPECT_EQ(calls.at(0).arguments.text, R"({"command":"python3 test_add.py; echo exit=$?","description":"Run the test"})");
  EXPECT_EQ(calls.at(2).name, "Edit");
  EXPECT_EQ(calls.at(6).arguments.text, R"({"command": "echo tru)") << "what the model sent, not what the program made of it";
  const auto results = recorder_.of<trace::ToolResult>();
  EXPECT_EQ(results.at(0).id, calls.at(0).id);
  EXPECT_EQ(results.at(0).exit_code, 0);
  EXPECT_THAT(results.at(0).output.text, HasSubstr("AssertionError: add is wrong"));
  EXPECT_EQ(results.at(1).name, "Read");
  EXPECT_FALSE(results.at(1).exit_code);
  EXPECT_EQ(results.at(5).name, "Nope");
  EXPECT_FALSE(results.at(5).ok);
  EXPECT_FALSE(results.at(6).ok);
  ASSERT_TRUE(heard.result);
  EXPECT_EQ(heard.result->terminal_reason, "completed");
  EXPECT_FALSE(heard.result->is_error);
  EXPECT_EQ(heard.result->text, "Fix add\n\nIt subtracted.");
  EXPECT_EQ(heard.result->reported_cost_nano_usd, 928'500);
  EXPECT_EQ(heard.unreadable, 0);
}

// Anything inside may write to the program's output. A line is at most 16 MiB, which is room for millions of brackets.
TEST_F(ClaudeStream, IsNotBroughtDownByALineThatNestsWithoutEnd) {
  const std::string deep = std::string(2'000'000, '[') + std::string(2'000'000, ']');
  const Heard& heard =
      say(R"({"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"a":)" + deep + "}}]}}");
  EXPECT_EQ(heard.unreadable, 1);
  EXPECT_THAT(recorder_.of<trace::ToolCall>(), IsEmpty());
}

TEST_F(ClaudeStream, ReadsExitCodesAndCutOutputFromTheTextOfAResult) {
  play("outputs");
  const auto results = recorder_.of<trace::ToolResult>();
  EXPECT_FALSE(results.at(1).ok);
  EXPECT_EQ(results.at(1).exit_code, 3);
  EXPECT_EQ(results.at(1).output.text, "Exit code 3\nout\nerr");
  EXPECT_TRUE(results.at(2).truncated);
  EXPECT_EQ(results.at(2).exit_code, 0);
}

TEST_F(ClaudeStream, TellsRetriesAndTheProgramsOwnWordsApartFromTheModels) {
  const Heard& heard = play("refused_key");
  const auto retries = recorder_.of<trace::Retry>();
  ASSERT_EQ(retries.size(), 2U);
  EXPECT_EQ(retries[0].attempt, 1);
  EXPECT_EQ(retries[0].delay_ms, 570);
  EXPECT_EQ(retries[0].status, 401);
  EXPECT_EQ(retries[0].message, "authentication_failed");
  EXPECT_THAT(recorder_.of<trace::Text>(), IsEmpty());
  EXPECT_THAT(recorder_.of<trace::Turn>(), IsEmpty());
  EXPECT_THAT(recorder_.of<trace::LogLine>().at(0).message, HasSubstr("Failed to authenticate"));
  EXPECT_EQ(heard.result->subtype, "success");
  EXPECT_TRUE(heard.result->is_error);
  EXPECT_EQ(heard.result->terminal_reason, "api_error");
  EXPECT_EQ(heard.result->api_status, 401);
}

TEST_F(ClaudeStream, TellsEachDenialOnce) {
  play("denied");
  const auto denials = recorder_.of<trace::Permission>();
  ASSERT_EQ(denials.size(), 2U);
  EXPECT_EQ(denials[0].tool, "Write");
  EXPECT_EQ(denials[0].decision, "denied");
  EXPECT_THAT(denials[0].message, HasSubstr("/workspace/new.txt"));
  EXPECT_EQ(denials[1].tool, "Bash");
  EXPECT_THAT(recorder_.of<trace::LogLine>().at(0).message, HasSubstr("asks for permissions"));
}

TEST_F(ClaudeStream, TellsADenialThatOnlyTheLastLineNames) {
  say(R"({"permission_denials":[{"tool_name":"Bash","tool_use_id":"t1","tool_input":{}}],"type":"result","subtype":"success"})");
  EXPECT_EQ(recorder_.of<trace::Permission>().at(0).tool, "Bash");
}

TEST_F(ClaudeStream, TellsWhatTheProgramSaysToTheModel) {
  play("safety_stop");
  EXPECT_THAT(recorder_.of<trace::Steer>().at(0).text.text, HasSubstr("stopped by a safety classifier"));
}

TEST_F(ClaudeStream, CountsTheCostOfThisPromptAloneAfterAResume) {
  EXPECT_EQ(play("resumed").result->reported_cost_nano_usd, 4'200'000) << "the session's total is 6,300,000";
}

TEST_F(ClaudeStream, TakesTheTotalOfAVersionThatSaysNoDifference) {
  EXPECT_EQ(say(R"({"type":"result","total_cost_usd":0.5})").result->reported_cost_nano_usd, 500'000'000);
  EXPECT_FALSE(say(R"({"type":"result","total_cost_usd":"much"})").result->reported_cost_nano_usd);
  EXPECT_FALSE(say(R"({"type":"result","total_cost_usd":-1})").result->reported_cost_nano_usd);
  EXPECT_FALSE(say(R"({"type":"result","total_cost_usd":1e300})").result->reported_cost_nano_usd);
}

TEST_F(ClaudeStream, WarnsOfAnotherVersionAndOfServersThatMustNotBe) {
  say(R"({"subtype":"init","claude_code_version":"9.9.9","mcp_servers":[{"name":"evil"}],"permissionMode":"bypassPermissions","type":"system"})");
  const auto lines = recorder_.of<trace::LogLine>();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].level, "warn");
  EXPECT_EQ(lines[0].message, "claude-code is version 9.9.9; this Forge was checked against 2.1.332");
  EXPECT_THAT(lines[1].message, HasSubstr("evil"));
}

TEST_F(ClaudeStream, PassesOverWhatItDoesNotKnow) {
  for (const char* line :
       {R"({"type":"later","x":1})", R"({"type":"system","subtype":"later"})", R"({"type":["system"]})", R"({})", R"({"type":"assistant"})",
        R"({"type":"assistant","message":{"content":"text"}})", R"({"type":"user","message":7})",
        R"({"type":"user","message":{"content":[null,7,{"type":"tool_result","tool_use_id":"nobody asked"}]}})"})
    say(line);
  EXPECT_EQ(recorder_.types(), "");
  EXPECT_EQ(stream_.heard().unreadable, 0);
}

TEST_F(ClaudeStream, CountsLinesThatAreNoObjects) {
  say("Segmentation fault");
  say("[1,2]");
  const Heard& heard = say("{\"type\":");
  EXPECT_EQ(heard.unreadable, 3);
  EXPECT_EQ(heard.unreadable_line, "Segmentation fault");
}

TEST_F(ClaudeStream, GivesCallsThatWereNeverAnsweredAnEnd) {
  say(R"({"type":"assistant","request_id":"r","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}})");
  stream_.finish();
  const auto results = recorder_.of<trace::ToolResult>();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].id, "t1");
  EXPECT_FALSE(results[0].ok);
}

TEST(ClaudeTurnTrace, GivesTheGatewaysFiguresTheTurnOfTheirRequest) {
  test::TraceRecorder recorder;
  TurnTrace trace(recorder, 1'000'000, [] {});
  EXPECT_EQ(trace.turn_of("r1"), 1);
  EXPECT_EQ(trace.turn_of("r2"), 2);
  EXPECT_EQ(trace.turn_of("r1"), 1);
  trace.append(trace::Model{.request_id = "r1", .stop_reason = "tool_use"});
  trace.append(trace::Model{.request_id = "r3", .stop_reason = "end_turn"});
  trace.append(trace::Model{.request_id = "", .stop_reason = "dropped"});
  std::vector<int> turns;
  for (const auto& seen : recorder.all()) turns.push_back(seen.turn.value_or(0));
  EXPECT_EQ(recorder.types(), "turn turn model turn model model");
  EXPECT_THAT(turns, ElementsAre(1, 2, 1, 3, 3, 3));
}

TEST(ClaudeTurnTrace, BeginsTurnsForTheJobsModelAndForWhatIsPrintedOnly) {
  test::TraceRecorder recorder;
  TurnTrace trace(recorder, 100, [] {});
  trace.set_job_model("a/large");
  trace.append(trace::Model{.request_id = "s1", .model = "a/small", .stop_reason = "end_turn"});
  EXPECT_EQ(trace.turns(), 0);
  trace.append(trace::Model{.request_id = "r1", .model = "a/large", .usage = {1, 0, 0, 0}, .stop_reason = "tool_use"});
  trace.append(trace::Model{.request_id = "s2", .model = "a/small", .usage = {2, 0, 0, 0}, .stop_reason = "end_turn"});
  EXPECT_EQ(trace.turns(), 1);
  EXPECT_EQ(trace.turn_of("s3"), 2);
  trace.append(trace::Model{.request_id = "s3", .model = "a/small", .stop_reason = "end_turn"});
  std::vector<int> turns;
  for (const auto& seen : recorder.all()) turns.push_back(seen.turn.value_or(0));
  EXPECT_EQ(recorder.types(), "model turn model model turn model");
  EXPECT_THAT(turns, ElementsAre(0, 1, 1, 1, 2, 2));
  EXPECT_EQ(trace.tokens(), 3) << "they are billed all the same";
}

TEST(ClaudeTurnTrace, SaysOnceThatTheTokensAreUsed) {
  test::TraceRecorder recorder;
  int said = 0;
  TurnTrace trace(recorder, 100, [&] { ++said; });
  trace.append(trace::Model{.request_id = "r1", .usage = {60, 39, 0, 0}});
  EXPECT_EQ(said, 0);
  trace.append(trace::Model{.request_id = "r2", .usage = {1, 0, 0, 0}});
  trace.append(trace::Model{.request_id = "r3", .usage = {1, 0, 0, 0}});
  EXPECT_EQ(said, 1);
  EXPECT_EQ(recorder.of<trace::Limit>().at(0).what, "max_tokens");
}

}  // namespace
}  // namespace forge::adapters::claude_code
