#include "orchestrator/models/scripted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/model_recorder.h"
#include "tests/support/temp_dir.h"

namespace forge::models {
namespace {

using namespace std::chrono_literals;
using test::code_of;
using test::error_of;
using test::ModelRecorder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A conversation in which the assistant has spoken `turns` times.
ModelRequest after_turns(int turns) {
  ModelRequest request;
  request.messages = {{Speaker::user, {TextBlock{"go"}}}};
  for (int i = 0; i < turns; ++i) request.messages.push_back({Speaker::assistant, {TextBlock{"ok"}}});
  return request;
}

struct Played {
  ModelRecorder heard;
  std::vector<std::chrono::milliseconds> pauses;
  std::unique_ptr<Model> model;

  explicit Played(const char* script) {
    RetryPolicy retries;
    retries.max_attempts = 3;
    retries.pause = [this](std::chrono::milliseconds delay, const Stop&) { pauses.push_back(delay); };
    retries.random = [] { return 0.5; };
    model = make_scripted_model("scripted:test", parse_script(script, "test"), retries);
  }
  ModelResponse ask(int turns = 0) { return model->complete(after_turns(turns), heard, Stop::after(8s)); }
};

TEST(ScriptedModel, PlaysTheStepOfTheTurn) {
  Played played(R"([{"text": "first", "usage": {"input": 3, "output": 1}}, {"text": "second"}])");
  EXPECT_EQ(played.model->name(), "scripted:test");
  EXPECT_GT(played.model->context_window(), 0);
  const ModelResponse second = played.ask(1);
  EXPECT_EQ(std::get<TextBlock>(second.blocks.at(0)).text, "second");
  const ModelResponse first = played.ask(0);
  EXPECT_EQ(std::get<TextBlock>(first.blocks.at(0)).text, "first");
  EXPECT_EQ(first.usage, (Usage{3, 1, 0, 0}));
  EXPECT_EQ(first.stop_reason, StopReason::end_turn);
  EXPECT_EQ(first.request_id, "scripted-1");
  EXPECT_EQ(first.model, "scripted");
  EXPECT_EQ(played.heard.text, "secondfirst");
}

TEST(ScriptedModel, CallsToolsWithIdsOfItsOwnAndMarksBadArguments) {
  Played played(
      R"([{"thinking": "hm", "tools": [{"name": "bash", "input": {"command": "ls"}}, {"id": "mine", "name": "bash", "raw_input": "{\"command\": \"echo hi"}]}])");
  const ModelResponse response = played.ask();
  ASSERT_EQ(response.blocks.size(), 3U);
  EXPECT_EQ(std::get<ThinkingBlock>(response.blocks[0]).text, "hm");
  EXPECT_EQ(std::get<ToolUseBlock>(response.blocks[1]).id, "call_1_1");
  EXPECT_TRUE(std::get<ToolUseBlock>(response.blocks[1]).parsed);
  EXPECT_EQ(std::get<ToolUseBlock>(response.blocks[2]).id, "mine");
  EXPECT_FALSE(std::get<ToolUseBlock>(response.blocks[2]).parsed);
  EXPECT_EQ(response.stop_reason, StopReason::tool_use);
  EXPECT_EQ(played.heard.thinking, "hm");
}

TEST(ScriptedModel, RunsNoCallOfAStepCutByLength) {
  Played played(R"([{"tools": [{"name": "bash"}], "stop": "max_tokens"}])");
  EXPECT_FALSE(std::get<ToolUseBlock>(played.ask().blocks.at(0)).parsed);
}

TEST(ScriptedModel, RefusesToGoPastItsEnd) {
  Played played(R"([{"text": "only"}])");
  const auto error = error_of([&] { played.ask(1); });
  EXPECT_EQ(error->code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error->client_text(), "scripted:test has 1 steps, and the conversation asks for one more");
}

TEST(ScriptedModel, FailsAsOftenAsTheScriptSays) {
  Played played(R"([{"text": "ok", "error": {"status": 429, "retry_after_s": 2, "times": 2}}])");
  EXPECT_EQ(std::get<TextBlock>(played.ask().blocks.at(0)).text, "ok");
  EXPECT_THAT(played.pauses, ElementsAre(2s, 2s));
  EXPECT_EQ(played.heard.retries.at(0).status, 429);
  EXPECT_EQ(played.heard.retries.at(0).message, "scripted answered 429");
}

TEST(ScriptedModel, FailsForEverWithoutACount) {
  Played played(R"([{"error": {"status": 529}}])");
  const auto error = error_of([&] { played.ask(); });
  EXPECT_EQ(error->code(), ErrorCode::unavailable);
  EXPECT_EQ(error->client_text(), "scripted answered 529 (gave up after 3 attempts)");
  EXPECT_EQ(played.pauses.size(), 2U);
}

TEST(ScriptedModel, MapsStatusesAsARealModelDoes) {
  EXPECT_EQ(code_of([] { Played(R"([{"error": {"status": 401}}])").ask(); }), "unauthenticated");
  EXPECT_EQ(code_of([] { Played(R"([{"error": {"status": 400}}])").ask(); }), "invalid_argument");
  EXPECT_EQ(code_of([] { Played(R"([{"error": {"status": 413}}])").ask(); }), "context_overflow");
}

TEST(ScriptedModel, DropsACutAnswerAndTellsItsWaste) {
  Played played(R"([{"text": "half", "usage": {"input": 5, "output": 2}, "cut": true}])");
  const auto error = error_of([&] { played.ask(); });
  EXPECT_EQ(error->code(), ErrorCode::unavailable);
  EXPECT_THAT(error->client_text(), HasSubstr("the stream ended before its last event"));
  EXPECT_THAT(played.heard.waste, ElementsAre(Usage{5, 2, 0, 0}, Usage{5, 2, 0, 0}, Usage{5, 2, 0, 0}));
}

TEST(ScriptedModel, CanBeStoppedInADelay) {
  Played played(R"([{"text": "late", "delay_ms": 600000}])");
  EXPECT_EQ(code_of([&] { played.model->complete(after_turns(0), played.heard, Stop::after(20ms)); }), "timed_out");
}

TEST(ScriptedModel, IsMadeFromAFileByName) {
  const test::TempDir dir;
  test::write_file(dir / "demo.json", R"([{"text": "hi"}])");
  const std::string name = "scripted:" + (dir / "demo.json").string();
  const auto model = make_scripted_model(name, default_retries());
  EXPECT_EQ(model->name(), name);
  EXPECT_EQ(code_of([] { make_scripted_model("scripted:", default_retries()); }), "invalid_argument");
  EXPECT_EQ(code_of([] { make_scripted_model("scripted:/nonexistent", default_retries()); }), "not_found");
}

}  // namespace
}  // namespace forge::models
