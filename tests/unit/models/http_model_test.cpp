#include "orchestrator/models/http_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/base/error.h"
#include "orchestrator/models/anthropic.h"
#include "orchestrator/models/openai.h"
#include "tests/support/errors.h"
#include "tests/support/fake_clock.h"
#include "tests/support/model_recorder.h"
#include "tests/support/model_server.h"
#include "tests/support/temp_dir.h"

namespace forge::models {
namespace {

using namespace std::chrono_literals;
using test::error_of;
using test::ModelFaults;
using test::ModelFormat;
using test::ModelRecorder;
using test::ModelServer;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const kKey = "sk-test-0123456789abcdef";

/// A script with all kinds of content: step 0 thinks, says and calls twice; step 1 ends.
const char* const kScript = R"([
  {"thinking": "Let me look.", "text": "Grüße, ich sehe nach 😀.", "usage": {"input": 100, "output": 20, "cache_read": 50, "cache_write": 7},
   "tools": [{"id": "a", "name": "bash", "input": {"command": "ls \"x\""}}, {"id": "b", "name": "read_file", "raw_input": "{\"path\": "}]},
  {"text": "Done.", "usage": {"input": 5, "output": 2}}
])";

ModelRequest asking(int assistant_turns = 0) {
  ModelRequest request;
  request.system = "sys";
  request.messages = {{Speaker::user, {TextBlock{"go"}}}};
  for (int i = 0; i < assistant_turns; ++i) {
    request.messages.push_back({Speaker::assistant, {TextBlock{"ok"}}});
    request.messages.push_back({Speaker::user, {TextBlock{"and"}}});
  }
  return request;
}

/// A client of one format on a server; pauses pass at once and are noted.
class Client {
 public:
  Client(ModelFormat format, const std::string& url, const std::string& unix_socket = {}, std::chrono::milliseconds idle = 8s) {
    RetryPolicy retries;
    retries.max_attempts = 3;
    retries.pause = [this](std::chrono::milliseconds delay, const Stop&) { pauses.push_back(delay); };
    retries.random = [] { return 0.5; };
    const bool anthropic = format == ModelFormat::anthropic;
    model_ = make_http_model({.provider = anthropic ? "anthropic" : "openai",
                              .base_url = anthropic ? url : url + "/v1",
                              .api_key = kKey,
                              .headers = {{"X-Team", "seven-team"}},
                              .unix_socket = unix_socket},
                             anthropic ? make_anthropic_wire("m1") : make_openai_wire("m1"),
                             {.model = "m1",
                              .context_window = 1000,
                              .retries = retries,
                              .transport = make_net_transport({.idle = idle, .max_body_bytes = 1 << 20})},
                             clock_);
  }
  ModelResponse ask(const ModelRequest& request = asking(), const Stop& stop = Stop::after(8s)) {
    return model_->complete(request, heard, stop);
  }
  Error refusal(const ModelRequest& request = asking()) {
    const auto error = error_of([&] { ask(request); });
    return error.value_or(Error(ErrorCode::internal, "none"));
  }
  Model& model() { return *model_; }

  ModelRecorder heard;
  std::vector<std::chrono::milliseconds> pauses;

 private:
  test::FakeClock clock_{784111777000};  // Sun, 06 Nov 1994 08:49:37 GMT
  std::unique_ptr<Model> model_;
};

std::string describe(const std::vector<Block>& blocks) {
  struct Describe {
    std::string operator()(const TextBlock& b) const { return "text(" + b.text + ")"; }
    std::string operator()(const ThinkingBlock& b) const { return "thinking(" + b.text + ")"; }
    std::string operator()(const ToolUseBlock& b) const {
      return "call(" + b.id + " " + b.name + " " + b.arguments + (b.parsed ? ")" : " !)");
    }
    std::string operator()(const ToolResultBlock& b) const { return "result(" + b.id + ")"; }
  };
  std::string all;
  for (const Block& block : blocks) all += std::visit(Describe{}, block);
  return all;
}

const char* const kWhole =
    R"(thinking(Let me look.)text(Grüße, ich sehe nach 😀.)call(a bash {"command":"ls \"x\""})call(b read_file {"path":  !))";

class BothFormats : public ::testing::TestWithParam<ModelFormat> {
 protected:
  bool anthropic() const { return GetParam() == ModelFormat::anthropic; }
};

INSTANTIATE_TEST_SUITE_P(Formats, BothFormats, ::testing::Values(ModelFormat::anthropic, ModelFormat::openai),
                         [](const auto& param) { return param.param == ModelFormat::anthropic ? "anthropic" : "openai"; });

TEST_P(BothFormats, StreamAWholeResponse) {
  ModelServer server(kScript);
  Client client(GetParam(), server.url());
  const ModelResponse response = client.ask();
  EXPECT_EQ(describe(response.blocks), kWhole);
  EXPECT_EQ(client.heard.text, "Grüße, ich sehe nach 😀.");
  EXPECT_EQ(client.heard.thinking, "Let me look.");
  EXPECT_EQ(response.usage, (Usage{.input = 100, .output = 20, .cache_read = 50, .cache_write = 7}));
  EXPECT_EQ(response.stop_reason, StopReason::tool_use);
  EXPECT_EQ(response.request_id, "req_1");
  EXPECT_EQ(response.model, "m1");
  EXPECT_GE(response.duration_ms, response.time_to_first_token_ms);
  EXPECT_TRUE(client.heard.waste.empty());
}

TEST_P(BothFormats, SendTheHeadersOfTheirVendorAndTheOperators) {
  ModelServer server(kScript);
  Client client(GetParam(), server.url());
  client.ask();
  const test::SeenRequest seen = server.requests().at(0);
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, anthropic() ? "/v1/messages" : "/v1/chat/completions");
  EXPECT_EQ(seen.header("content-type"), "application/json");
  EXPECT_EQ(seen.header("accept"), "text/event-stream");
  EXPECT_EQ(seen.header("x-team"), "seven-team");
  EXPECT_EQ(seen.header("x-api-key"), anthropic() ? kKey : "");
  EXPECT_EQ(seen.header("anthropic-version"), anthropic() ? "2023-06-01" : "");
  EXPECT_EQ(seen.header("authorization"), anthropic() ? "" : std::string("Bearer ") + kKey);
  EXPECT_EQ(seen.body, anthropic() ? anthropic_body(asking(), "m1") : openai_body(asking(), "m1"));
}

TEST_P(BothFormats, GoOnAlongTheConversationOverOneConnection) {
  ModelServer server(kScript);
  Client client(GetParam(), server.url());
  client.ask();
  EXPECT_EQ(describe(client.ask(asking(1)).blocks), "text(Done.)");
  EXPECT_EQ(server.connections(), 1);
}

TEST_P(BothFormats, SpeakOverAUnixSocket) {
  const test::TempDir dir;
  ModelServer server(kScript, dir / "model.sock");
  Client client(GetParam(), "http://model", dir / "model.sock");
  EXPECT_EQ(describe(client.ask().blocks), kWhole);
  EXPECT_EQ(server.requests().at(0).header("host"), "model");
}

TEST_P(BothFormats, ReadAnyFramingOfTheStream) {
  ModelServer server(kScript);
  Client client(GetParam(), server.url());
  for (const char* fault : {"crlf", "drip", "split_at=1", "split_at=37", "split_at=200", "split_at=801", "repeat_usage", "missing_done"}) {
    ModelFaults faults;
    faults.set(fault);
    server.fault_once(faults);
    const ModelResponse response = client.ask();
    EXPECT_EQ(describe(response.blocks), kWhole) << fault;
    EXPECT_EQ(response.usage.total(), 177) << fault;
  }
  EXPECT_TRUE(client.heard.retries.empty());
}

TEST_P(BothFormats, DoNotWaitForABodyThatStaysOpenAfterTheLastEvent) {
  ModelServer server(kScript);
  server.set_faults({.no_end = true});
  Client client(GetParam(), server.url());
  EXPECT_EQ(describe(client.ask().blocks), kWhole);
}

TEST_P(BothFormats, TryAgainAfterEachFailureOnTheWay) {
  for (const char* fault : {"hang", "reset", "error_after=6"}) {
    ModelServer server(kScript);
    Client client(GetParam(), server.url(), {}, 1s);
    ModelFaults faults;
    faults.set(fault);
    server.fault_once(faults);
    EXPECT_EQ(describe(client.ask().blocks), kWhole) << fault;
    ASSERT_EQ(client.heard.retries.size(), 1U) << fault;
    EXPECT_EQ(client.heard.text, "Grüße, ich sehe nach 😀.") << "the text of the dropped attempt is void";
    EXPECT_EQ(server.requests().size(), 2U);
  }
}

TEST_P(BothFormats, GiveUpOnAStreamThatIsAlwaysCut) {
  ModelServer server(R"([{"text": "never finished", "usage": {"input": 9, "output": 4}, "cut": true}])");
  Client client(GetParam(), server.url());
  const Error error = client.refusal();
  EXPECT_EQ(error.code(), ErrorCode::unavailable);
  EXPECT_THAT(error.client_text(), HasSubstr("the stream ended before its last event (gave up after 3 attempts)"));
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST_P(BothFormats, TellWhatADroppedAttemptWasBilled) {
  ModelServer server(kScript);
  server.fault_once({.oddities = {.repeat_usage = true}, .error_after = 7});
  Client client(GetParam(), server.url());
  client.ask();
  ASSERT_EQ(client.heard.waste.size(), 1U);
  EXPECT_EQ(client.heard.waste[0].input, 100);
  EXPECT_EQ(client.heard.waste[0].cache_read, 50);
  EXPECT_EQ(client.heard.retries.at(0).status, anthropic() ? 529 : 500);
}

TEST_P(BothFormats, ObeyRetryAfterAndThenSucceed) {
  ModelServer server(R"([{"text": "ok", "error": {"status": 429, "retry_after_s": 7, "times": 1}}])");
  Client client(GetParam(), server.url());
  EXPECT_EQ(describe(client.ask().blocks), "text(ok)");
  EXPECT_THAT(client.pauses, ::testing::ElementsAre(7s));
  EXPECT_EQ(client.heard.retries.at(0).status, 429);
  EXPECT_THAT(client.heard.retries.at(0).message, HasSubstr("answered 429 (rate_limit_error): scripted error [request req_1]"));
}

TEST_P(BothFormats, ObeyADateToComeBackAt) {
  ModelServer server(kScript);
  server.answer_once(test::http_answer(503, "busy", "Retry-After: Sun, 06 Nov 1994 08:49:40 GMT\r\n"));
  Client client(GetParam(), server.url());
  client.ask();
  EXPECT_THAT(client.pauses, ::testing::ElementsAre(3s));
}

TEST_P(BothFormats, FailAtOnceWhenToldToWaitForMinutes) {
  ModelServer server(R"([{"error": {"status": 429, "retry_after_s": 300}}])");
  Client client(GetParam(), server.url());
  const Error error = client.refusal();
  EXPECT_EQ(error.code(), ErrorCode::unavailable);
  EXPECT_THAT(error.client_text(), HasSubstr("asks to wait 300 s, more than the 60 s"));
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_P(BothFormats, TryAgainWhatMayPassAndNotWhatCannot) {
  struct Row {
    int status;
    std::size_t requests;
    ErrorCode code;
  };
  for (const Row& row :
       {Row{400, 1, ErrorCode::invalid_argument}, Row{401, 1, ErrorCode::unauthenticated}, Row{403, 1, ErrorCode::unauthenticated},
        Row{404, 1, ErrorCode::invalid_argument}, Row{413, 1, ErrorCode::context_overflow}, Row{408, 3, ErrorCode::unavailable},
        Row{409, 3, ErrorCode::unavailable}, Row{429, 3, ErrorCode::unavailable}, Row{500, 3, ErrorCode::unavailable},
        Row{504, 3, ErrorCode::unavailable}, Row{529, 3, ErrorCode::unavailable}}) {
    ModelServer server(R"([{"error": {"status": )" + std::to_string(row.status) + "}}]");
    Client client(GetParam(), server.url());
    const Error error = client.refusal();
    EXPECT_EQ(error.code(), row.code) << row.status;
    EXPECT_EQ(server.requests().size(), row.requests) << row.status;
    EXPECT_THAT(error.client_text(),
                AllOf(HasSubstr(anthropic() ? "anthropic" : "openai"), HasSubstr("answered " + std::to_string(row.status))));
  }
}

TEST_P(BothFormats, NeverRepeatTheKeyInAMessage) {
  ModelServer server(kScript);
  const std::string echo =
      R"({"error": {"type": "authentication_error", "message": "invalid x-api-key: )" + std::string(kKey) + R"( of seven-team"}})";
  server.answer_once(test::http_answer(401, echo));
  Client client(GetParam(), server.url());
  const Error error = client.refusal();
  EXPECT_EQ(error.code(), ErrorCode::unauthenticated);
  EXPECT_THAT(error.client_text(),
              AllOf(HasSubstr("answered 401"), HasSubstr("[redacted]"), Not(HasSubstr(kKey)), Not(HasSubstr("seven-team"))));
  EXPECT_THAT(error.what(), Not(HasSubstr(kKey)));
}

TEST_P(BothFormats, CutAVendorsLongWords) {
  ModelServer server(kScript);
  server.answer_once(test::http_answer(400, R"({"error": {"message": ")" + std::string(5000, 'x') + "\"}}"));
  Client client(GetParam(), server.url());
  EXPECT_LT(client.refusal().client_text().size(), 700U);
}

TEST_P(BothFormats, SayWhenNobodyListens) {
  std::string url;
  {
    ModelServer gone(kScript);
    url = gone.url();
  }
  Client client(GetParam(), url);
  const Error error = client.refusal();
  EXPECT_EQ(error.code(), ErrorCode::unavailable);
  EXPECT_EQ(client.heard.retries.size(), 2U);
  EXPECT_EQ(client.heard.retries[0].status, std::nullopt);
  EXPECT_THAT(error.client_text(), HasSubstr(url));
}

TEST_P(BothFormats, SayWhenAWebPageAnswers) {
  ModelServer server(kScript);
  server.answer_once(test::http_answer(200, "<html>hello</html>", "Content-Type: text/html\r\n"));
  Client client(GetParam(), server.url());
  const Error error = client.refusal();
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_THAT(error.client_text(), AllOf(HasSubstr("answered text/html instead of an event stream"), HasSubstr(server.url())));
}

TEST_P(BothFormats, FollowNoRedirectAndSayWhere) {
  ModelServer server(kScript);
  server.answer_once(test::http_answer(301, "", "Location: http://127.0.0.1:1/\r\n"));
  Client client(GetParam(), server.url());
  EXPECT_THAT(client.refusal().client_text(), AllOf(HasSubstr("answered 301"), HasSubstr("is the base URL")));
}

TEST_P(BothFormats, TakeTheServersWordOnRetrying) {
  ModelServer server(kScript);
  server.answer_once(test::http_answer(529, "", "x-should-retry: false\r\n"));
  Client client(GetParam(), server.url());
  EXPECT_EQ(client.refusal().code(), ErrorCode::unavailable);
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_P(BothFormats, ReportTheContextAsOverflown) {
  ModelServer server(kScript);
  server.answer_once(test::http_answer(
      400, anthropic() ? R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}})"
                       : R"({"error":{"message":"too many","type":"invalid_request_error","code":"context_length_exceeded"}})"));
  Client client(GetParam(), server.url());
  EXPECT_EQ(client.refusal().code(), ErrorCode::context_overflow);
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_P(BothFormats, TakeAnEventOverTheCapForAFailureThatStays) {
  ModelServer server(kScript);
  server.stream_once("data: " + std::string(2 << 20, 'x'));
  Client client(GetParam(), server.url());
  EXPECT_EQ(client.refusal().code(), ErrorCode::unavailable);
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_P(BothFormats, StopInTheMiddleWhenCancelledAndTellTheWaste) {
  struct Impatient final : ModelObserver {
    std::stop_source source;
    std::vector<Usage> waste;
    void text_delta(std::string_view) override { source.request_stop(); }
    void wasted(const Usage& usage) override { waste.push_back(usage); }
  } impatient;
  ModelServer server(R"([{"text": "never finished", "usage": {"input": 9, "output": 4}, "cut": true}])");
  server.set_faults({.oddities = {.repeat_usage = true}, .no_end = true});
  Client client(GetParam(), server.url());
  const Stop stop(impatient.source.get_token());  // no deadline: only the cancel can end this
  EXPECT_EQ(test::code_of([&] { client.model().complete(asking(), impatient, stop); }), "cancelled");
  ASSERT_EQ(impatient.waste.size(), 1U);
  EXPECT_EQ(impatient.waste[0].input, 9);
}

TEST_P(BothFormats, ObeyTheDeadline) {
  ModelServer server(kScript);
  server.set_faults({.hang = true});
  Client client(GetParam(), server.url());
  EXPECT_EQ(test::code_of([&] { client.ask(asking(), Stop::after(60ms)); }), "timed_out");
}

TEST_P(BothFormats, PassOnWhatTheListenerThrows) {
  struct Strict final : ModelObserver {
    void text_delta(std::string_view) override { throw Error(ErrorCode::budget_exhausted, "enough"); }
  } strict;
  ModelServer server(kScript);
  Client client(GetParam(), server.url());
  EXPECT_EQ(test::code_of([&] { client.model().complete(asking(), strict, Stop::after(8s)); }), "budget_exhausted");
}

TEST_P(BothFormats, PassThePastOfTheScriptOnAsARefusal) {
  ModelServer server(kScript);
  Client client(GetParam(), server.url());
  const Error error = client.refusal(asking(2));
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_THAT(error.client_text(), HasSubstr("the script has no step 2"));
}

TEST(OpenAiModel, ReadsEachServersOddCalls) {
  ModelServer server(
      R"([{"tools": [{"id": "a", "name": "f", "input": {"x": 1}}, {"id": "b", "name": "f", "input": {"y": [1, 2]}}, {"id": "c", "name": "g", "raw_input": ""}]}])");
  Client client(ModelFormat::openai, server.url());
  const std::string whole = R"(call(a f {"x":1})call(b f {"y":[1,2]})call(c g ))";
  for (const std::vector<const char*>& odd : std::vector<std::vector<const char*>>{{},
                                                                                   {"no_index"},
                                                                                   {"zero_index"},
                                                                                   {"repeat_ids"},
                                                                                   {"repeat_ids", "zero_index"},
                                                                                   {"repeat_ids", "no_index"},
                                                                                   {"whole_calls"},
                                                                                   {"whole_calls", "no_index"},
                                                                                   {"whole_calls", "zero_index"},
                                                                                   {"null_choices"}}) {
    ModelFaults faults;
    for (const char* name : odd) faults.set(name);
    server.fault_once(faults);
    EXPECT_EQ(describe(client.ask().blocks), whole) << ::testing::PrintToString(odd);
  }
}

TEST(OpenAiModel, MakesIdsForAServerThatSendsNone) {
  ModelServer server(R"([{"tools": [{"name": "f", "input": {"x": 1}}, {"name": "f", "input": {}}]}])");
  server.set_faults({.oddities = {.null_ids = true}});
  Client client(ModelFormat::openai, server.url());
  EXPECT_EQ(describe(client.ask().blocks), R"(call(forge_call_1 f {"x":1})call(forge_call_2 f {}))");
}

TEST(OpenAiModel, AsksOnceMoreWithoutWhatTheServerRefuses) {
  ModelServer server(R"([{"text": "12345678"}])");
  server.set_faults({.refuse_stream_options = true});
  Client client(ModelFormat::openai, server.url());
  const ModelResponse response = client.ask();
  EXPECT_TRUE(response.usage_estimated);
  EXPECT_EQ(response.usage.output, 2);
  EXPECT_THAT(client.pauses, ::testing::ElementsAre(0ms));
  EXPECT_THAT(server.requests().at(0).body, HasSubstr("stream_options"));
  EXPECT_THAT(server.requests().at(1).body, Not(HasSubstr("stream_options")));
  client.ask();
  EXPECT_EQ(server.requests().size(), 3U) << "what was refused once is not asked for again";
}

TEST(OpenAiModel, ChangesToTheNewerNameOfTheTokenLimit) {
  ModelServer server(kScript);
  server.answer_once(test::http_answer(
      400,
      R"({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "type": "invalid_request_error"}})"));
  Client client(ModelFormat::openai, server.url());
  client.ask();
  EXPECT_THAT(server.requests().at(1).body, AllOf(HasSubstr("\"max_completion_tokens\""), Not(HasSubstr("\"max_tokens\""))));
}

TEST(OpenAiModel, ReadsAServerThatDoesNotStream) {
  ModelServer server(kScript);
  server.answer_once(test::http_answer(
      200,
      R"({"id": "c", "model": "m", "choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1, "completion_tokens": 2}})",
      "Content-Type: application/json\r\n"));
  Client client(ModelFormat::openai, server.url());
  const ModelResponse response = client.ask();
  EXPECT_EQ(describe(response.blocks), "text(whole)");
  EXPECT_EQ(response.request_id, "c");
}

TEST(OpenAiModel, DoesNotAskAgainOnAnAccountWithoutMoney) {
  ModelServer server(kScript);
  server.answer_once(test::http_answer(
      429, R"({"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}})"));
  Client client(ModelFormat::openai, server.url());
  EXPECT_THAT(client.refusal().client_text(), HasSubstr("You exceeded your current quota"));
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(AnthropicModel, DoesNotRetryAnErrorInTheStreamThatStays) {
  ModelServer server(kScript);
  server.stream_once("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no\"}}\n\n");
  Client client(ModelFormat::anthropic, server.url());
  EXPECT_EQ(client.refusal().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(AnthropicModel, RunsNoCallOfAResponseCutByLength) {
  ModelServer server(R"([{"tools": [{"id": "a", "name": "f", "input": {}}], "stop": "max_tokens"}])");
  for (const ModelFormat format : {ModelFormat::anthropic, ModelFormat::openai}) {
    Client client(format, server.url());
    const ModelResponse response = client.ask();
    EXPECT_EQ(response.stop_reason, StopReason::max_tokens);
    EXPECT_EQ(describe(response.blocks), "call(a f {} !)");
  }
}

}  // namespace
}  // namespace forge::models
