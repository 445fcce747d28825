#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/models/anthropic.h"
#include "orchestrator/models/conversation.h"
#include "orchestrator/models/openai.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"

namespace forge::models {
namespace {

using nlohmann::json;

std::string pretty(const std::string& body) { return json::parse(body).dump(2) + "\n"; }

/// Every rule of building requests in one conversation.
ModelRequest conversation() {
  ModelRequest request;
  request.system = "You fix bugs.";
  request.max_output_tokens = 4096;
  request.tools = {
      {"bash", "Runs a command.", R"({"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]})"},
      {"read_file", "Reads a file.", R"({"type": "object"})"}};
  request.messages = {
      {Speaker::user, {TextBlock{"Fix the test."}, TextBlock{""}, TextBlock{" \n"}}},
      {Speaker::user, {TextBlock{"It is in test.py."}}},
      {Speaker::assistant,
       {ThinkingBlock{"Let me look.\n", "c2lnbmF0dXJl", false}, ThinkingBlock{"b3BhcXVl", "", true},
        ThinkingBlock{"from elsewhere", "", false}, TextBlock{"I look at it."},
        ToolUseBlock{"call_1", "bash", R"({"command": "cat t\u00e9st.py"})", true}, ToolUseBlock{"call_2", "read_file", "", true},
        ToolUseBlock{"call_3", "bash", R"({"command": "echo)", false}}},
      {Speaker::user,
       {TextBlock{"Be quick."}, ToolResultBlock{"call_1", "assert 1 == 2", false}, ToolResultBlock{"call_2", "no path", true}}},
      {Speaker::user, {ToolResultBlock{"call_3", "the arguments are not valid JSON", true}, TextBlock{""}}},
      {Speaker::assistant, {TextBlock{""}}},
      {Speaker::user, {TextBlock{"Go on."}}},
  };
  return request;
}

TEST(AnthropicBody, FollowsTheRulesOfTheApi) {
  test::expect_golden("tests/golden/models/anthropic_body.json", pretty(anthropic_body(conversation(), "claude-opus-5-5")));
}

TEST(AnthropicBody, LeavesOutWhatIsEmpty) {
  ModelRequest request;
  request.messages = {{Speaker::user, {TextBlock{"hi"}}}};
  EXPECT_EQ(
      anthropic_body(request, "m"),
      R"({"max_tokens":16384,"messages":[{"content":[{"cache_control":{"type":"ephemeral"},"text":"hi","type":"text"}],"role":"user"}],"model":"m","stream":true})");
}

TEST(AnthropicBody, MarksAtMostThreeBlocksForTheCache) {
  const std::string body = anthropic_body(conversation(), "m");
  std::size_t marks = 0;
  for (std::size_t at = body.find("cache_control"); at != std::string::npos; at = body.find("cache_control", at + 1)) ++marks;
  EXPECT_EQ(marks, 3U);
}

TEST(AnthropicBody, ReplacesBytesThatAreNoUtf8) {
  ModelRequest request;
  request.messages = {{Speaker::user, {ToolResultBlock{"call_1", "bad \xFF byte", false}}}};
  EXPECT_EQ(json::parse(anthropic_body(request, "m"))["messages"][0]["content"][0]["content"], "bad \xEF\xBF\xBD byte");
}

TEST(AnthropicBody, RefusesASchemaThatIsNoJson) {
  ModelRequest request;
  request.tools = {{"bash", "", "{"}};
  EXPECT_EQ(test::code_of([&] { anthropic_body(request, "m"); }), "invalid_argument");
  EXPECT_EQ(test::code_of([&] { openai_body(request, "m"); }), "invalid_argument");
}

TEST(OpenAiBody, FollowsTheRulesOfTheApi) {
  test::expect_golden("tests/golden/models/openai_body.json", pretty(openai_body(conversation(), "gpt-6.2-sol")));
}

TEST(OpenAiBody, SpeaksTheDialectItWasTold) {
  ModelRequest request;
  request.messages = {{Speaker::user, {TextBlock{"hi"}}}};
  EXPECT_EQ(openai_body(request, "m", {.stream_options = false, .max_completion_tokens = true}),
            R"({"max_completion_tokens":16384,"messages":[{"content":"hi","role":"user"}],"model":"m","stream":true})");
}

TEST(Conversation, MergesNeighboursAfterDroppingWhatIsEmpty) {
  const auto messages = normalised(
      {{Speaker::user, {TextBlock{"a"}}}, {Speaker::assistant, {TextBlock{""}}}, {Speaker::user, {TextBlock{"b"}}}, {Speaker::user, {}}});
  ASSERT_EQ(messages.size(), 1U);
  ASSERT_EQ(messages[0].blocks.size(), 2U);
  EXPECT_EQ(std::get<TextBlock>(messages[0].blocks[1]).text, "b");
}

TEST(Conversation, PutsToolResultsFirstAndKeepsTheirOrder) {
  const auto messages = normalised(
      {{Speaker::user, {TextBlock{"a"}, ToolResultBlock{"1", "x", false}}}, {Speaker::user, {ToolResultBlock{"2", "y", false}}}});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(std::get<ToolResultBlock>(messages[0].blocks[0]).id, "1");
  EXPECT_EQ(std::get<ToolResultBlock>(messages[0].blocks[1]).id, "2");
  EXPECT_EQ(std::get<TextBlock>(messages[0].blocks[2]).text, "a");
}

TEST(Conversation, GuessesFourBytesPerToken) {
  ModelRequest request;
  request.system = "12345678";
  request.messages = {{Speaker::user, {TextBlock{"123"}}}};
  const Usage usage = estimated_usage(request, {TextBlock{"12345"}});
  EXPECT_EQ(usage, (Usage{.input = 3, .output = 2, .cache_read = 0, .cache_write = 0}));
}

}  // namespace
}  // namespace forge::models
