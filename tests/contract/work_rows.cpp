#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/domain/trace.h"
#include "tests/contract/row.h"
#include "tests/contract/stage.h"

namespace forge::contract {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Payloads are cut at 16 KiB; the rest is the envelope.
constexpr std::size_t kMostEventBytes = 2 * Payload::kInlineBytes;
constexpr std::size_t kMostQuestionBytes = 1 << 20;

void expect_success(const Ended& ended) {
  EXPECT_EQ(ended.run.reason, Reason::completed) << ended.run.error;
  EXPECT_EQ(ended.run.state, JobState::succeeded);
}

/// Each step was asked for once and paid for to the token.
void expect_exact_usage(Stage& stage, const Ended& ended) {
  if (!asks_a_model(stage.agent())) return;
  json usage{{"input", ended.run.usage.input},
             {"output", ended.run.usage.output},
             {"cache_read", ended.run.usage.cache_read},
             {"cache_write", ended.run.usage.cache_write}};
  EXPECT_EQ(usage, stage.script_usage());
}

void edits_land(Agent agent) {
  const Tools tools(agent);
  Stage stage(agent,
              json::array({does({tools.read("src/main.py")}), does({tools.edit("src/main.py", "one", "two")}),
                           does({tools.write("docs/new.md", "new\n"), tools.shell("rm README.md; echo ignored > ignored.o; "
                                                                                  "mkdir build; echo x > build/x; chmod +x src/main.py")}),
                           says("Count to two\n\nIt was time.")}));
  const Ended ended = stage.run();
  expect_success(ended);
  expect_exact_usage(stage, ended);
  EXPECT_EQ(stage.changed(ended), "D\tREADME.md\nA\tdocs/new.md\nA\tignored.o\nM\tsrc/main.py");
  EXPECT_EQ(stage.file(ended, "src/main.py"), "print('two')");
  EXPECT_EQ(ended.run.diff_stat.files, 4);
  EXPECT_THAT(ended.run.summary, HasSubstr("Count to two"));
}

void nothing_done(Agent agent) {
  Stage stage(agent, json::array({says("There is nothing to do")}));
  const Ended ended = stage.run();
  EXPECT_EQ(ended.run.reason, Reason::no_changes);
  EXPECT_EQ(ended.run.state, JobState::no_changes);
  expect_exact_usage(stage, ended);
}

void calls_in_order(Agent agent) {
  const Tools tools(agent);
  Stage stage(
      agent, json::array({does({tools.write("z", "written\n"), tools.shell("cat z >> log"), tools.shell("echo 2 >> log; exit 3")}, "First"),
                          does({tools.shell("echo 3 >> log"), tools.shell("cat log")}, "Second"), says("Done")}));
  const Ended ended = stage.run();
  expect_success(ended);
  expect_exact_usage(stage, ended);
  std::vector<std::string> told;
  for (const json& event : ended.events)
    if (event.at("type") == "tool_call") told.push_back(event.at("turn").dump() + " " + event.at("data").at("arguments").dump());
  ASSERT_EQ(told.size(), 5u);
  for (std::size_t i = 0; i < told.size(); ++i) {
    const std::vector<std::string> parts{"written", "cat z", "exit 3", "echo 3", "cat log"};
    EXPECT_THAT(told[i], testing::StartsWith(i < 3 ? "1 " : "2 "));
    EXPECT_THAT(told[i], HasSubstr(parts[i]));
  }
  std::vector<std::string> codes;
  for (const json& result : ended.of("tool_result"))
    codes.push_back(result.at("ok").dump() + " " + (result.contains("exit_code") ? result.at("exit_code").dump() : "null"));
  EXPECT_THAT(codes, ElementsAre("true null", "true 0", "false 3", "true 0", "true 0"));
  EXPECT_THAT(ended.of("tool_result").back().at("output").at("text").get<std::string>(), HasSubstr("written\n2\n3"));
  EXPECT_EQ(stage.file(ended, "log"), "written\n2\n3");
}

void malformed_calls(Agent agent) {
  const Tools tools(agent);
  json cut = does({tools.raw_shell(R"({"command": "touch EXECUTED-CUT)")});
  cut["stop"] = "max_tokens";
  Stage stage(agent,
              json::array({does({tools.raw_shell(R"({"command": "touch EXECUTED)")}), does({tools.raw_shell("touch EXECUTED")}),
                           does({tools.raw_shell(R"(["touch EXECUTED"])")}), cut, does({tools.write("done", "done\n")}), says("Done")}));
  const Ended ended = stage.run();
  expect_success(ended);
  EXPECT_EQ(stage.changed(ended), "A\tdone");
  int failed = 0;
  for (const json& result : ended.of("tool_result")) failed += result.at("ok") == false ? 1 : 0;
  EXPECT_GE(failed, 3);
}

void huge_output(Agent agent) {
  const Tools tools(agent);
  Stage stage(agent, json::array({does({tools.shell("head -c 20000000 /dev/zero | tr '\\0' x; echo; seq 300000")}),
                                  does({tools.write("done", "done\n")}), says("Done")}));
  const Ended ended = stage.run();
  expect_success(ended);
  expect_exact_usage(stage, ended);
  EXPECT_EQ(ended.of("tool_result").at(0).at("truncated"), true);
  for (const json& event : ended.events) EXPECT_LT(event.dump().size(), kMostEventBytes) << event.at("type");
  for (const auto& request : stage.model().requests()) EXPECT_LT(request.body.size(), kMostQuestionBytes);
}

void output_that_is_no_text(Agent agent) {
  const Tools tools(agent);
  Stage stage(agent,
              json::array({does({tools.shell("printf 'caf\\351 \\377\\376\\000\\001\\033[31m|end\\n'; printf 'caf\\351\\377' > latin")}),
                           says("Done")}));
  const Ended ended = stage.run();
  expect_success(ended);
  expect_exact_usage(stage, ended);
  EXPECT_THAT(ended.of("tool_result").at(0).at("output").dump(), HasSubstr("end"));
  EXPECT_EQ(stage.file(ended, "latin"), "caf\351\377");
}

}  // namespace

std::vector<Row> work_rows() {
  const std::string no_model = "it plays its script without a model, so no arguments of a call are parsed";
  return {{"EditsLand", edits_land},        {"NothingDone", nothing_done},
          {"CallsInOrder", calls_in_order}, {"MalformedCalls", malformed_calls, {{Agent::dummy, no_model}}},
          {"HugeOutput", huge_output},      {"OutputThatIsNoText", output_that_is_no_text}};
}

}  // namespace forge::contract
