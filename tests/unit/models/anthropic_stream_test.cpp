#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/base/error.h"
#include "orchestrator/models/anthropic.h"
#include "orchestrator/net/sse_parser.h"
#include "tests/support/errors.h"
#include "tests/support/model_recorder.h"

namespace forge::models {
namespace {

using test::ModelRecorder;

/// One reading of a stream written as data lines only: the type inside each event is what counts.
struct Reading {
  ModelRecorder heard;
  std::unique_ptr<StreamReader> reader = make_anthropic_reader(heard);

  explicit Reading(std::initializer_list<std::string_view> events) {
    for (const std::string_view event : events) reader->take({.name = {}, .data = std::string(event), .id = {}});
  }
};

constexpr std::string_view kStart =
    R"({"type":"message_start","message":{"id":"msg_1","model":"claude-x","usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":20,"output_tokens":1}}})";
constexpr std::string_view kStop = R"({"type":"message_stop"})";

std::string ended(std::string_view reason, std::string_view usage = R"({"output_tokens":7})") {
  return R"({"type":"message_delta","delta":{"stop_reason":")" + std::string(reason) + R"(","stop_sequence":null},"usage":)" +
         std::string(usage) + "}";
}

std::string tool_start(int index) {
  return R"({"type":"content_block_start","index":)" + std::to_string(index) + R"(,"content_block":{"type":"tool_use","id":"t)" +
         std::to_string(index) + R"(","name":"bash","input":{}}})";
}

std::string fragment(int index, const std::string& escaped) {
  return R"({"type":"content_block_delta","index":)" + std::to_string(index) + R"(,"delta":{"type":"input_json_delta","partial_json":")" +
         escaped + R"("}})";
}

TEST(AnthropicStream, TellsWhatWasWrittenIntoTheCacheForAnHour) {
  Reading r(
      {R"({"type":"message_start","message":{"id":"m","usage":{"input_tokens":1,"cache_creation_input_tokens":30,"output_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20}}}})",
       ended("end_turn"), kStop});
  EXPECT_EQ(r.reader->usage(), (Usage{.input = 1, .output = 7, .cache_write = 30, .cache_write_hour = 20}));
}

TEST(AnthropicStream, GathersTextThinkingAndCallsByIndex) {
  Reading r({kStart, R"({"type":"ping"})",
             R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}})",
             R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}})",
             R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s1"}})",
             R"({"type":"content_block_stop","index":0})",
             R"({"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}})",
             R"({"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}})",
             R"({"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Hel"}})",
             R"({"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"lo"}})", tool_start(3), tool_start(4),
             fragment(4, R"({\"b\":)"), fragment(3, R"({\"a\")"), fragment(4, "2}"), fragment(3, ":1}"), ended("tool_use"), kStop});
  ASSERT_TRUE(r.reader->whole());
  EXPECT_EQ(r.heard.text, "Hello");
  EXPECT_EQ(r.heard.thinking, "hm");
  const ModelResponse response = r.reader->response();
  EXPECT_EQ(response.model, "claude-x");
  EXPECT_EQ(response.stop_reason, StopReason::tool_use);
  EXPECT_FALSE(response.usage_estimated);
  ASSERT_EQ(response.blocks.size(), 5U);
  EXPECT_EQ(std::get<ThinkingBlock>(response.blocks[0]).signature, "s1");
  EXPECT_TRUE(std::get<ThinkingBlock>(response.blocks[1]).redacted);
  EXPECT_EQ(std::get<ThinkingBlock>(response.blocks[1]).text, "xyz");
  EXPECT_EQ(std::get<TextBlock>(response.blocks[2]).text, "Hello");
  EXPECT_EQ(std::get<ToolUseBlock>(response.blocks[3]).arguments, R"({"a":1})");
  EXPECT_EQ(std::get<ToolUseBlock>(response.blocks[4]).arguments, R"({"b":2})");
  EXPECT_TRUE(std::get<ToolUseBlock>(response.blocks[4]).parsed);
}

TEST(AnthropicStream, ReplacesCumulativeCountsAndKeepsWhatIsNotRepeated) {
  Reading r({kStart, ended("end_turn", R"({"output_tokens":5})"),
             ended("end_turn", R"({"input_tokens":11,"cache_creation_input_tokens":3,"cache_read_input_tokens":21,"output_tokens":9})"),
             kStop});
  EXPECT_EQ(r.reader->usage(), (Usage{.input = 11, .output = 9, .cache_read = 21, .cache_write = 3}));
  Reading partial({kStart, ended("end_turn", R"({"output_tokens":9,"input_tokens":null})"), kStop});
  EXPECT_EQ(partial.reader->usage(), (Usage{.input = 10, .output = 9, .cache_read = 20, .cache_write = 3}));
}

TEST(AnthropicStream, GuessesTheOutputOfAStreamThatBrokeOffBeforeItsCount) {
  const std::string said(4000, 'x');
  Reading r({kStart, R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})",
             R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":")" + said + R"("}})"});
  EXPECT_EQ(r.reader->usage(), (Usage{.input = 10, .output = 1000, .cache_read = 20, .cache_write = 3}));
}

TEST(AnthropicStream, IsNotWholeWithoutItsLastEvent) {
  Reading r({kStart, R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"all of it"}})", ended("end_turn")});
  EXPECT_FALSE(r.reader->complete());
  EXPECT_FALSE(r.reader->whole());
  EXPECT_EQ(r.heard.text, "all of it");
}

TEST(AnthropicStream, TellsEachStopReason) {
  struct Row {
    const char* word;
    StopReason reason;
  };
  for (const Row& row :
       {Row{"end_turn", StopReason::end_turn}, Row{"tool_use", StopReason::tool_use}, Row{"max_tokens", StopReason::max_tokens},
        Row{"stop_sequence", StopReason::stop_sequence}, Row{"pause_turn", StopReason::pause_turn}, Row{"refusal", StopReason::refusal},
        Row{"model_context_window_exceeded", StopReason::context_overflow}, Row{"something_new", StopReason::other}}) {
    Reading r({kStart, ended(row.word), kStop});
    EXPECT_EQ(r.reader->response().stop_reason, row.reason) << row.word;
  }
}

TEST(AnthropicStream, MarksArgumentsThatAreNotOneStrictObject) {
  struct Row {
    const char* escaped;
    bool parsed;
  };
  for (const Row& row : {Row{"", true}, Row{"{}", true}, Row{R"({\"a\":1})", true}, Row{R"({\"a\":1)", false}, Row{"[1]", false},
                         Row{"null", false}, Row{R"({\"a\":1}{})", false}, Row{R"({a:1})", false}, Row{R"({\"a\":1,})", false},
                         Row{R"({\"a\":1,\"a\":2})", false}, Row{"  ", false}}) {
    Reading r({kStart, tool_start(0), fragment(0, row.escaped), R"({"type":"content_block_stop","index":0})", ended("tool_use"), kStop});
    const ModelResponse response = r.reader->response();
    ASSERT_EQ(response.blocks.size(), 1U);
    EXPECT_EQ(std::get<ToolUseBlock>(response.blocks[0]).parsed, row.parsed) << row.escaped;
  }
}

TEST(AnthropicStream, RunsNoCallOfAResponseCutByLength) {
  for (const char* reason : {"max_tokens", "model_context_window_exceeded"}) {
    Reading r({kStart, tool_start(0), fragment(0, "{}"), tool_start(1), ended(reason), kStop});
    for (const Block& block : r.reader->response().blocks) EXPECT_FALSE(std::get<ToolUseBlock>(block).parsed) << reason;
  }
}

TEST(AnthropicStream, KeepsTheStopReasonThatALaterDeltaDoesNotRepeat) {
  Reading r({kStart, tool_start(0), fragment(0, R"({\"command\":\"rm -r build\"})"), ended("max_tokens"),
             R"({"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":9}})",
             R"({"type":"message_delta","usage":{"output_tokens":9}})", kStop});
  const ModelResponse response = r.reader->response();
  EXPECT_EQ(response.stop_reason, StopReason::max_tokens);
  EXPECT_FALSE(std::get<ToolUseBlock>(response.blocks.at(0)).parsed);
  EXPECT_EQ(response.usage.output, 9);
}

TEST(AnthropicStream, TakesAnInputThatCameWhole) {
  Reading r({kStart,
             R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"bash","input":{"a":1}}})",
             ended("tool_use"), kStop});
  EXPECT_EQ(std::get<ToolUseBlock>(r.reader->response().blocks.at(0)).arguments, R"({"a":1})");
}

TEST(AnthropicStream, PassesOverWhatItDoesNotKnow) {
  Reading r({kStart, R"({"type":"brand_new","x":[1]})",
             R"({"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"x"}})",
             R"({"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{}}})",
             R"({"type":"content_block_delta"})", R"({"no":"type"})", "[]", R"({"type":"message_start","message":5})", ended("end_turn"),
             kStop});
  EXPECT_TRUE(r.reader->whole());
  EXPECT_TRUE(r.reader->response().blocks.empty());
}

TEST(AnthropicStream, KeepsAnErrorInsideTheStream) {
  Reading r({kStart, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})"});
  ASSERT_TRUE(r.reader->error());
  EXPECT_EQ(r.reader->error()->status, 529);
  EXPECT_EQ(r.reader->error()->message, "Overloaded");
  EXPECT_FALSE(r.reader->whole());
  EXPECT_EQ(r.reader->usage().input, 10);
}

TEST(AnthropicStream, KnowsWhatErrorTypesStandFor) {
  EXPECT_EQ(status_of_anthropic_error("invalid_request_error"), 400);
  EXPECT_EQ(status_of_anthropic_error("authentication_error"), 401);
  EXPECT_EQ(status_of_anthropic_error("permission_error"), 403);
  EXPECT_EQ(status_of_anthropic_error("request_too_large"), 413);
  EXPECT_EQ(status_of_anthropic_error("rate_limit_error"), 429);
  EXPECT_EQ(status_of_anthropic_error("overloaded_error"), 529);
  EXPECT_EQ(status_of_anthropic_error("never_seen"), 500);
}

TEST(AnthropicStream, TakesBrokenJsonForABrokenStream) {
  for (const char* data : {"", "{", "nonsense"}) EXPECT_EQ(test::code_of([&] { Reading r({data}); }), "unavailable") << data;
}

TEST(AnthropicStream, CountsNoNegativeOrAbsurdTokens) {
  Reading r({R"({"type":"message_start","message":{"usage":{"input_tokens":-5,"output_tokens":1e300,"cache_read_input_tokens":"many"}}})"});
  EXPECT_EQ(r.reader->usage().input, 0);
  EXPECT_EQ(r.reader->usage().output, 1'000'000'000);
  EXPECT_EQ(r.reader->usage().cache_read, 0);
}

}  // namespace
}  // namespace forge::models
