#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/base/error.h"
#include "orchestrator/models/openai.h"
#include "tests/support/errors.h"
#include "tests/support/model_recorder.h"

namespace forge::models {
namespace {

using test::ModelRecorder;
using ::testing::ElementsAre;

struct ChunkReading {
  ModelRequest request;
  ModelRecorder heard;
  std::unique_ptr<StreamReader> reader = make_openai_reader(request, heard);

  explicit ChunkReading(const std::vector<std::string>& events) {
    for (const std::string& event : events) reader->take({.name = {}, .data = event, .id = {}});
  }
};

std::string delta(const std::string& inner) {
  return R"({"id":"c1","model":"gpt-x","choices":[{"index":0,"delta":)" + inner + R"(,"finish_reason":null}]})";
}
std::string finish(const std::string& reason) {
  return R"({"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":")" + reason + R"("}]})";
}
std::string call(const std::string& inner) { return delta(R"({"tool_calls":[)" + inner + "]}"); }
const char* const kUsage =
    R"({"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":60}}})";
const char* const kDone = "[DONE]";

/// "id name arguments parsed" of each call that the fragments make.
std::vector<std::string> calls_of(const std::vector<std::string>& fragments, const std::string& reason = "tool_calls") {
  std::vector<std::string> events;
  for (const std::string& fragment : fragments) events.push_back(call(fragment));
  events.push_back(finish(reason));
  ChunkReading reading(events);
  std::vector<std::string> seen;
  for (const Block& block : reading.reader->response().blocks) {
    const auto& use = std::get<ToolUseBlock>(block);
    seen.push_back(use.id + " " + use.name + " " + use.arguments + (use.parsed ? "" : " !"));
  }
  return seen;
}

TEST(OpenAiStream, GathersTextReasoningCallsAndCounts) {
  ChunkReading r({delta(R"({"role":"assistant","content":null})"), delta(R"({"reasoning_content":"hm"})"), delta(R"({"content":"Hel"})"),
                  delta(R"({"content":[{"type":"text","text":"lo"}]})"), delta(R"({"content":""})"),
                  call(R"({"index":0,"id":"a","type":"function","function":{"name":"bash","arguments":""}})"),
                  call(R"({"index":0,"function":{"arguments":"{\"x\":1}"}})"), finish("tool_calls"), kUsage, kDone});
  ASSERT_TRUE(r.reader->complete());
  ASSERT_TRUE(r.reader->whole());
  EXPECT_EQ(r.heard.text, "Hello");
  EXPECT_EQ(r.heard.thinking, "hm");
  const ModelResponse response = r.reader->response();
  EXPECT_EQ(response.model, "gpt-x");
  EXPECT_EQ(response.stop_reason, StopReason::tool_use);
  EXPECT_EQ(response.usage, (Usage{.input = 40, .output = 7, .cache_read = 60, .cache_write = 0}));
  ASSERT_EQ(response.blocks.size(), 3U);
  EXPECT_EQ(std::get<ThinkingBlock>(response.blocks[0]).text, "hm");
  EXPECT_EQ(std::get<TextBlock>(response.blocks[1]).text, "Hello");
  EXPECT_EQ(std::get<ToolUseBlock>(response.blocks[2]).arguments, R"({"x":1})");
}

TEST(OpenAiStream, PutsTogetherCallsByTheBook) {
  EXPECT_THAT(calls_of({R"({"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}})",
                        R"({"index":1,"id":"b","function":{"name":"g","arguments":""}})", R"({"index":0,"function":{"arguments":":1}"}})",
                        R"({"index":1,"function":{"arguments":"{}"}})"}),
              ElementsAre(R"(a f {"x":1})", "b g {}"));
}

TEST(OpenAiStream, TakesFragmentsWithoutIndexForTheLastCall) {
  EXPECT_THAT(calls_of({R"({"id":"a","function":{"name":"f","arguments":"{"}})", R"({"function":{"arguments":"}"}})",
                        R"({"id":"b","function":{"name":"f","arguments":"{}"}})"}),
              ElementsAre("a f {}", "b f {}"));
}

TEST(OpenAiStream, StartsACallAtANewIdUnderAKnownIndex) {
  EXPECT_THAT(
      calls_of({R"({"index":0,"id":"a","function":{"name":"f","arguments":"{"}})", R"({"index":0,"function":{"arguments":"}"}})",
                R"({"index":0,"id":"b","function":{"name":"g","arguments":"{\"y\""}})", R"({"index":0,"function":{"arguments":":2}"}})"}),
      ElementsAre("a f {}", R"(b g {"y":2})"));
}

TEST(OpenAiStream, TakesIdAndNameRepeatedInEachFragmentForOneCall) {
  EXPECT_THAT(calls_of({R"({"index":0,"id":"a","function":{"name":"f","arguments":""}})",
                        R"({"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}})",
                        R"({"index":0,"id":"a","function":{"name":"f","arguments":"{}}"}})"}),
              ElementsAre(R"(a f {"x":{}})"));
}

TEST(OpenAiStream, TakesAnIdRepeatedWithoutIndexForOneCall) {
  EXPECT_THAT(calls_of({R"({"id":"a","function":{"name":"f","arguments":"{\"x\""}})", R"({"id":"a","function":{"arguments":":1}"}})"}),
              ElementsAre(R"(a f {"x":1})"));
}

TEST(OpenAiStream, TakesWholeCallsWithoutIds) {
  EXPECT_THAT(calls_of({R"({"index":0,"id":"null","function":{"name":"f","arguments":"{}"}})",
                        R"({"index":0,"id":"null","function":{"name":"f","arguments":"{\"x\":1}"}})",
                        R"({"index":0,"function":{"name":"g","arguments":"{}"}})"}),
              ElementsAre("forge_call_1 f {}", R"(forge_call_2 f {"x":1})", "forge_call_3 g {}"));
}

TEST(OpenAiStream, GivesEachOfTwoCallsThatShareAnIdItsOwn) {
  EXPECT_THAT(calls_of({R"({"index":0,"id":"a","function":{"name":"f","arguments":"{}"}})",
                        R"({"index":1,"id":"a","function":{"name":"g","arguments":"{}"}})"}),
              ElementsAre("a f {}", "forge_call_2 g {}"));
}

TEST(OpenAiStream, WaitsForAnIdThatComesLate) {
  EXPECT_THAT(calls_of({R"({"index":0,"id":null,"function":{"name":"f","arguments":""}})",
                        R"({"index":0,"id":"late","function":{"arguments":"{}"}})"}),
              ElementsAre("late f {}"));
}

TEST(OpenAiStream, TakesArgumentsThatAreAnObject) {
  EXPECT_THAT(calls_of({R"({"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}})"}), ElementsAre(R"(a f {"x":1})"));
}

TEST(OpenAiStream, PassesOverFragmentsThatAreNone) {
  EXPECT_THAT(calls_of({"5", "null", R"({"index":0,"id":"a","function":{"name":"f"}})", R"({"index":0,"function":null})"}),
              ElementsAre("a f "));
}

TEST(OpenAiStream, NumbersItsOwnIdsOnThroughTheConversation) {
  ModelRequest request;
  request.messages = {{Speaker::assistant, {ToolUseBlock{"forge_call_1", "f", "{}", true}, ToolUseBlock{"x", "f", "{}", true}}}};
  ModelRecorder heard;
  const auto reader = make_openai_reader(request, heard);
  reader->take({.name = {}, .data = call(R"({"function":{"name":"f","arguments":"{}"}})"), .id = {}});
  EXPECT_EQ(std::get<ToolUseBlock>(reader->response().blocks.at(0)).id, "forge_call_3");
}

TEST(OpenAiStream, MarksArgumentsThatDoNotParseOrWereCut) {
  EXPECT_THAT(calls_of({R"({"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}})"}), ElementsAre(R"(a f {"x" !)"));
  EXPECT_THAT(calls_of({R"({"index":0,"id":"a","function":{"name":"f","arguments":"{}"}})"}, "length"), ElementsAre("a f {} !"));
}

TEST(OpenAiStream, TrustsTheCallsMoreThanTheFinishReason) {
  struct Row {
    const char* reason;
    bool calls;
    StopReason expected;
  };
  for (const Row& row :
       {Row{"stop", false, StopReason::end_turn}, Row{"stop", true, StopReason::tool_use}, Row{"length", true, StopReason::max_tokens},
        Row{"content_filter", false, StopReason::refusal}, Row{"tool_calls", true, StopReason::tool_use},
        Row{"tool_calls", false, StopReason::other}, Row{"eos", false, StopReason::other}}) {
    std::vector<std::string> events;
    if (row.calls) events.push_back(call(R"({"id":"a","function":{"name":"f","arguments":"{}"}})"));
    events.push_back(finish(row.reason));
    EXPECT_EQ(ChunkReading(events).reader->response().stop_reason, row.expected) << row.reason << row.calls;
  }
}

TEST(OpenAiStream, IsWholeWithAFinishReasonOrDone) {
  EXPECT_TRUE(ChunkReading({delta(R"({"content":"x"})"), finish("stop")}).reader->whole());
  EXPECT_TRUE(ChunkReading({delta(R"({"content":"x"})"), kDone}).reader->whole());
  EXPECT_FALSE(ChunkReading({delta(R"({"content":"x"})")}).reader->whole());
  EXPECT_FALSE(ChunkReading({}).reader->whole());
}

TEST(OpenAiStream, MakesTheCountsDisjoint) {
  struct Row {
    const char* usage;
    Usage expected;
  };
  for (const Row& row :
       {Row{R"({"prompt_tokens":10,"completion_tokens":2})", {10, 2, 0, 0}},
        Row{R"({"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":null})", {10, 2, 0, 0}},
        Row{R"({"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":3}})",
            {3, 2, 4, 3}},
        Row{R"({"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":40}})", {0, 2, 10, 0}},
        Row{R"({"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":2})", {2, 2, 8, 0}},
        Row{R"({"prompt_tokens":10,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":7}})", {10, 9, 0, 0}}}) {
    for (const std::string choices : {"[]", "null"}) {
      ChunkReading r({finish("stop"), R"({"choices":)" + choices + R"(,"usage":)" + row.usage + "}", kDone});
      const ModelResponse response = r.reader->response();
      EXPECT_EQ(response.usage, row.expected) << row.usage;
      EXPECT_FALSE(response.usage_estimated);
    }
  }
}

TEST(OpenAiStream, ReplacesCountsThatAreRepeated) {
  ChunkReading r({R"({"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":1}})", R"({"choices":[],"usage":null})",
                  R"({"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5}})", finish("stop")});
  EXPECT_EQ(r.reader->usage(), (Usage{10, 5, 0, 0}));
}

TEST(OpenAiStream, GuessesTheCountsOfAServerThatTellsNone) {
  ChunkReading r({delta(R"({"content":"12345678"})"), finish("stop"), kDone});
  const ModelResponse response = r.reader->response();
  EXPECT_TRUE(response.usage_estimated);
  EXPECT_EQ(response.usage.output, 2);
}

TEST(OpenAiStream, GuessesTheCountsOfAStreamThatBrokeOffBeforeThem) {
  ChunkReading r({delta(R"({"content":"12345678"})")});
  EXPECT_FALSE(r.reader->whole());
  EXPECT_EQ(r.reader->usage().output, 2);
  EXPECT_EQ(ChunkReading({delta(R"({"role":"assistant","content":""})")}).reader->usage(), Usage{}) << "nothing was said";
}

TEST(OpenAiStream, ReadsAResponseInOnePiece) {
  ChunkReading r(
      {R"({"id":"c","model":"m","choices":[{"message":{"role":"assistant","content":"hi","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":1}})"});
  ASSERT_TRUE(r.reader->whole());
  const ModelResponse response = r.reader->response();
  EXPECT_EQ(response.blocks.size(), 2U);
  EXPECT_EQ(response.usage.input, 3);
}

TEST(OpenAiStream, KeepsAnErrorInsideTheStream) {
  ChunkReading r({delta(R"({"content":"x"})"), R"({"error":{"message":"Provider returned error","code":502}})"});
  ASSERT_TRUE(r.reader->error());
  EXPECT_EQ(r.reader->error()->status, 502);
  EXPECT_FALSE(r.reader->whole());
}

TEST(OpenAiError, IsReadInItsManyForms) {
  struct Row {
    const char* body;
    int status;
    const char* message;
    bool overflow;
    bool final;
  };
  for (const Row& row :
       {Row{R"({"error":{"message":"m","type":"invalid_request_error","code":null}})", 400, "m", false, false},
        Row{R"({"error":{"message":"m","type":"rate_limit_error"}})", 429, "m", false, false},
        Row{R"({"error":{"message":"m","code":"rate_limit_exceeded"}})", 429, "m", false, false},
        Row{R"({"error":{"message":"m","type":"server_error"}})", 500, "m", false, false},
        Row{R"({"error":{"message":"m","code":"insufficient_quota"}})", 500, "m", false, true},
        Row{R"({"error":{"message":"m","type":"invalid_request_error","code":"context_length_exceeded"}})", 400, "m", true, false},
        Row{R"({"error":{"message":"This model's maximum context length is 9 tokens","type":"invalid_request_error"}})", 400,
            "This model's maximum context length is 9 tokens", true, false},
        Row{R"({"error":"plain text"})", 500, "plain text", false, false}}) {
    const VendorError error = read_openai_error(row.body);
    EXPECT_EQ(error.status, row.status) << row.body;
    EXPECT_EQ(error.message, row.message) << row.body;
    EXPECT_EQ(error.context_overflow, row.overflow) << row.body;
    EXPECT_EQ(error.final, row.final) << row.body;
  }
  EXPECT_EQ(read_openai_error(R"({"message":"bare"})").message, "bare");
  EXPECT_EQ(read_openai_error("<html>").message, "");
}

}  // namespace
}  // namespace forge::models
