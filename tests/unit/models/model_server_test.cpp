#include "tests/support/model_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

#include "orchestrator/base/process.h"
#include "orchestrator/net/http_client.h"
#include "tests/support/errors.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"

namespace forge::test {
namespace {

using namespace std::chrono_literals;
using net::HttpClient;
using net::HttpResponse;
using ::testing::HasSubstr;

HttpResponse post(const std::string& url, const std::string& body) {
  HttpClient client;
  return client.fetch({.method = "POST", .url = url, .body = body}, Stop::after(8s));
}

TEST(ModelServer, WritesAnthropicsEventsByteByByte) {
  ModelServer server(R"([{"text": "hi", "tools": [{"id": "t", "name": "f", "input": {}}], "usage": {"input": 3, "output": 2}}])");
  const HttpResponse response =
      post(server.url() + "/v1/messages?beta=true", R"({"model": "m", "messages": [{"role": "user", "content": "x"}]})");
  EXPECT_EQ(response.head.status, 200);
  EXPECT_EQ(response.head.header("content-type"), "text/event-stream; charset=utf-8");
  EXPECT_EQ(
      response.body,
      "event: message_start\n"
      R"(data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}})"
      "\n\nevent: ping\n"
      R"(data: {"type":"ping"})"
      "\n\nevent: content_block_start\n"
      R"(data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})"
      "\n\nevent: content_block_delta\n"
      R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}})"
      "\n\nevent: content_block_stop\n"
      R"(data: {"type":"content_block_stop","index":0})"
      "\n\nevent: content_block_start\n"
      R"(data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}})"
      "\n\nevent: content_block_delta\n"
      R"(data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}})"
      "\n\nevent: content_block_delta\n"
      R"(data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}})"
      "\n\nevent: content_block_stop\n"
      R"(data: {"type":"content_block_stop","index":1})"
      "\n\nevent: message_delta\n"
      R"(data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":2}})"
      "\n\nevent: message_stop\n"
      R"(data: {"type":"message_stop"})"
      "\n\n");
}

TEST(ModelServer, WritesOpenAisChunksByteByByte) {
  ModelServer server(R"([{"text": "hi", "usage": {"input": 3, "output": 2, "cache_read": 4}}])");
  const HttpResponse response = post(server.url() + "/v1/chat/completions", R"({"model": "m", "messages": []})");
  const std::string head = R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":)";
  EXPECT_EQ(response.body,
            head + R"([{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null})" + "\n\n" + head +
                R"([{"index":0,"delta":{"content":"hi"},"finish_reason":null}],"usage":null})" + "\n\n" + head +
                R"([{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null})" + "\n\n" + head +
                R"([],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}})" +
                "\n\ndata: [DONE]\n\n");
}

TEST(ModelServer, AnswersWhatCliClientsAskBesides) {
  ModelServer server(R"([{"text": "never asked"}])");
  HttpClient client;
  EXPECT_EQ(client.fetch({.method = "HEAD", .url = server.url()}, Stop::after(8s)).head.status, 200);
  EXPECT_EQ(client.fetch({.method = "GET", .url = server.url() + "/v1/models"}, Stop::after(8s)).head.status, 200);
  const HttpResponse other = client.fetch({.method = "GET", .url = server.url() + "/v1/other"}, Stop::after(8s));
  EXPECT_EQ(other.head.status, 404);
  EXPECT_THAT(other.body, HasSubstr("not_found_error"));
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST(ModelServer, RefusesAScriptItDoesNotUnderstand) {
  EXPECT_EQ(code_of([] { ModelServer server(R"([{"txt": ""}])"); }), "invalid_argument");
  EXPECT_EQ(code_of([] { ModelFaults().set("nonsense"); }), "invalid_argument");
}

TEST(ModelServer, RunsAsAProgramUntilItIsTold) {
  const TempDir dir;
  write_file(dir / "script.json", R"([{"text": "hi"}])");
  Pipe out = make_pipe();
  SpawnOptions options;
  const std::string program = test::built_program("scripted-model-server");
  options.argv = {program, "--script", dir / "script.json", "--log", dir / "log.jsonl", "--fault", "crlf"};
  options.fds = {{out.write.get(), 1}};
  Child child = Child::spawn(options);
  out.write.reset();
  const std::string port = read_some(out.read.get(), 100, Stop::after(8s));
  ASSERT_TRUE(port.ends_with('\n'));
  const HttpResponse response =
      post("http://127.0.0.1:" + port.substr(0, port.size() - 1) + "/v1/messages", R"({"model": "m", "messages": []})");
  EXPECT_THAT(response.body, HasSubstr("\r\n\r\nevent: message_stop\r\n"));
  EXPECT_THAT(read_file(dir / "log.jsonl"), HasSubstr(R"("target":"/v1/messages")"));
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(Stop::after(8s)).code, 0);
}

}  // namespace
}  // namespace forge::test
