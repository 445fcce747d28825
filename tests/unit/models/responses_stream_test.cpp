#include <gtest/gtest.h>

#include "orchestrator/models/openai.h"
#include "tests/support/model_recorder.h"

namespace forge::models {
namespace {

/// Feeds the data of some events.
std::unique_ptr<StreamReader> responses_read(std::initializer_list<const char*> events, test::ModelRecorder& heard) {
  auto reader = make_responses_reader(heard);
  for (const char* event : events) reader->take({.name = {}, .data = event, .id = {}});
  return reader;
}

TEST(ResponsesReader, TakesCountsAndReasonFromTheEnd) {
  test::ModelRecorder heard;
  const auto reader =
      responses_read({R"({"type":"response.created","response":{"id":"r1","status":"in_progress","usage":null}})",
                      R"({"type":"response.output_text.delta","delta":"Hel"})", R"({"type":"response.output_text.delta","delta":"lo"})",
                      R"({"type":"response.reasoning_summary_text.delta","delta":"hm"})", R"({"type":"response.of_the_future"})",
                      R"({"type":"response.completed","response":{"id":"r1","model":"m","status":"completed",
        "output":[{"type":"function_call"}],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":3}}})"},
                     heard);
  ASSERT_TRUE(reader->whole());
  const ModelResponse response = reader->response();
  EXPECT_EQ(response.usage, (Usage{6, 3, 4, 0}));
  EXPECT_FALSE(response.usage_estimated);
  EXPECT_EQ(response.stop_reason, StopReason::tool_use);
  EXPECT_EQ(response.request_id, "r1");
  EXPECT_EQ(heard.text, "Hello");
  EXPECT_EQ(heard.thinking, "hm");
}

TEST(ResponsesReader, IsNotWholeBeforeItsEndNorAfterAFailure) {
  test::ModelRecorder heard;
  EXPECT_FALSE(responses_read({R"({"type":"response.output_text.delta","delta":"a"})"}, heard)->whole());
  EXPECT_FALSE(responses_read({R"({"type":"error","code":"server_error","message":"no"})"}, heard)->whole());
  const auto failed =
      responses_read({R"({"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"c","message":"no"}}})"}, heard);
  EXPECT_FALSE(failed->whole());
  EXPECT_EQ(failed->error()->message, "no");
}

TEST(ResponsesReader, ReadsAResponseThatDoesNotStream) {
  test::ModelRecorder heard;
  const auto reader =
      responses_read({R"({"object":"response","id":"r","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},
      "usage":{"input_tokens":1,"output_tokens":2}})"},
                     heard);
  ASSERT_TRUE(reader->whole());
  EXPECT_EQ(reader->response().stop_reason, StopReason::max_tokens);
  EXPECT_EQ(reader->response().usage, (Usage{1, 2, 0, 0}));
}

}  // namespace
}  // namespace forge::models
