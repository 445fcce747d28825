#include "orchestrator/net/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "tests/support/errors.h"
#include "tests/support/loopback_server.h"
#include "tests/support/temp_dir.h"

namespace forge::net {
namespace {

using namespace std::chrono_literals;
using test::code_of;
using test::Connection;
using test::error_of;
using test::http_answer;
using test::LoopbackServer;
using test::SeenRequest;
using ::testing::HasSubstr;
using ::testing::Not;

Stop soon() { return Stop::after(8s); }

/// Answers every request of every connection with the same bytes and keeps the requests.
class Answering {
 public:
  explicit Answering(std::string answer) : answer_(std::move(answer)), server_([this](Connection& c) { serve(c); }) {}
  std::string url(const std::string& path = "/") const { return server_.url() + path; }
  int connections() const { return server_.connections(); }
  SeenRequest last() { return seen_.lock()->back(); }

 private:
  void serve(Connection& connection) {
    while (auto request = connection.read_request()) {
      seen_.lock()->push_back(*request);
      connection.send(answer_);
    }
  }
  std::string answer_;
  Guarded<std::vector<SeenRequest>> seen_;
  LoopbackServer server_;
};

/// A server whose every connection is handled by `serve` after its first request was read.
std::unique_ptr<LoopbackServer> after_request(std::function<void(Connection&)> serve) {
  return std::make_unique<LoopbackServer>([serve = std::move(serve)](Connection& connection) {
    if (connection.read_request()) serve(connection);
  });
}

TEST(HttpClient, SendsMethodTargetHeadersAndBodyAsGiven) {
  Answering server(http_answer(200, "ok"));
  HttpClient client;
  const HttpResponse response = client.fetch({.method = "POST",
                                              .url = server.url("/a/../b?x=1"),
                                              .headers = {{"X-One", "1"}, {"Content-Type", "application/json"}, {"X-Empty", ""}},
                                              .body = std::string("{\"a\":\0}", 7)},
                                             soon());
  EXPECT_EQ(response.head.status, 200);
  EXPECT_EQ(response.body, "ok");
  const SeenRequest seen = server.last();
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/a/../b?x=1");
  EXPECT_EQ(seen.header("x-one"), "1");
  EXPECT_EQ(seen.header("content-type"), "application/json");
  EXPECT_EQ(seen.header("expect"), "");
  EXPECT_EQ(seen.body, std::string("{\"a\":\0}", 7));
}

TEST(HttpClient, SendsTheOtherMethodsToo) {
  Answering server(http_answer(200, ""));
  HttpClient client;
  for (const std::string method : {"GET", "DELETE", "PUT", "PATCH", "POST"}) {
    client.fetch({.method = method, .url = server.url()}, soon());
    EXPECT_EQ(server.last().method, method);
    EXPECT_EQ(server.last().header("content-type"), "");
  }
}

TEST(HttpClient, ReadsNoBodyAfterHead) {
  Answering server("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
  HttpClient client;
  const HttpResponse response = client.fetch({.method = "HEAD", .url = server.url()}, soon());
  EXPECT_EQ(response.head.status, 200);
  EXPECT_EQ(server.last().method, "HEAD");
}

TEST(HttpClient, TellsTheHeadOnceAndBeforeTheBody) {
  Answering server("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n" +
                   http_answer(429, "slow down", "Retry-After: 7\r\nX-Twice: a\r\nx-twice: b\r\n"));
  HttpClient client;
  std::string order;
  const HttpHead head = client.stream({.method = "GET", .url = server.url()},
                                      {.head = [&](const HttpHead& h) { order += "head" + std::to_string(h.status) + " "; },
                                       .body = [&](std::string_view piece) { order += piece; }},
                                      soon());
  EXPECT_EQ(order, "head429 slow down");
  EXPECT_EQ(head.header("retry-AFTER"), "7");
  EXPECT_EQ(head.header("X-Twice"), "a");
  EXPECT_EQ(head.header("x-early"), std::nullopt);
}

TEST(HttpClient, KeepsItsConnectionBetweenRequests) {
  Answering server(http_answer(200, "ok"));
  HttpClient client;
  for (int i = 0; i < 3; ++i) client.fetch({.method = "GET", .url = server.url()}, soon());
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClient, SpeaksOverAUnixSocket) {
  const test::TempDir dir;
  const std::string path = dir / "api.sock";
  const LoopbackServer server(
      [](Connection& c) {
        while (auto request = c.read_request()) c.send(http_answer(200, request->header("host")));
      },
      path);
  HttpClient client;
  const auto response = client.fetch({.method = "GET", .url = "http://forge/x", .unix_socket = path}, soon());
  EXPECT_EQ(response.body, "forge");
}

TEST(HttpClient, FollowsNoRedirect) {
  Answering server(http_answer(302, "", "Location: /elsewhere\r\n"));
  HttpClient client;
  EXPECT_EQ(client.fetch({.method = "GET", .url = server.url()}, soon()).head.status, 302);
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClient, TakesNoProxyFromTheEnvironment) {
  Answering server(http_answer(200, "direct"));
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  ::setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
  HttpClient client;
  EXPECT_EQ(client.fetch({.method = "GET", .url = server.url()}, soon()).body, "direct");
  ::unsetenv("http_proxy");
  ::unsetenv("ALL_PROXY");
}

TEST(HttpClient, RefusesWhatCannotBeSent) {
  HttpClient client;
  const auto refusal = [&](HttpRequest request) { return code_of([&] { client.fetch(request, soon()); }); };
  for (const std::string url : {"", "file:///etc/passwd", "ftp://localhost/", "http://", "gopher://localhost/1"})
    EXPECT_EQ(refusal({.method = "GET", .url = url}), "invalid_argument") << url;
  for (const HttpHeader& header :
       {HttpHeader{"A", "1\r\nB: 2"}, HttpHeader{"A\nB", "1"}, HttpHeader{"", "1"}, HttpHeader{"A", std::string("\0", 1)}})
    EXPECT_EQ(refusal({.method = "GET", .url = "http://127.0.0.1:1/", .headers = {header}}), "invalid_argument");
  EXPECT_EQ(refusal({.method = "GET x", .url = "http://127.0.0.1:1/"}), "invalid_argument");
  EXPECT_EQ(refusal({.method = "GET", .url = "http://x/", .unix_socket = std::string(300, 'x')}), "invalid_argument");
}

TEST(HttpClient, SaysWhoCouldNotBeReachedWithoutCredentials) {
  int port = 0;
  {
    const LoopbackServer gone([](Connection&) {});
    port = gone.port();
  }
  HttpClient client;
  const std::optional<Error> error = error_of(
      [&] { client.fetch({.method = "GET", .url = "http://user:secret@127.0.0.1:" + std::to_string(port) + "/x?key=hidden#f"}, soon()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unavailable);
  EXPECT_THAT(error->what(), HasSubstr("GET http://127.0.0.1:" + std::to_string(port) + "/x: "));
  EXPECT_THAT(error->what(), Not(HasSubstr("secret")));
  EXPECT_THAT(error->what(), Not(HasSubstr("hidden")));
}

TEST(HttpClient, TakesABodyThatWasCutForAFailure) {
  const auto server = after_request([](Connection& c) { c.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"); });
  HttpClient client;
  EXPECT_EQ(code_of([&] { client.fetch({.method = "GET", .url = server->url()}, soon()); }), "unavailable");
}

TEST(HttpClient, TakesAResetForAFailure) {
  const auto server = after_request([](Connection& c) { c.reset(); });
  HttpClient client;
  EXPECT_EQ(code_of([&] { client.fetch({.method = "POST", .url = server->url(), .body = "x"}, soon()); }), "unavailable");
}

TEST(HttpClient, CapsBodyAndHeadAndTakesWhatFits) {
  Answering server(http_answer(200, "12345678"));
  HttpClient fits({.max_body_bytes = 8});
  EXPECT_EQ(fits.fetch({.method = "GET", .url = server.url()}, soon()).body, "12345678");
  HttpClient small({.max_body_bytes = 7});
  EXPECT_EQ(code_of([&] { small.fetch({.method = "GET", .url = server.url()}, soon()); }), "limit_exceeded");
  Answering wordy(http_answer(200, "", "X-Long: " + std::string(2000, 'x') + "\r\n"));
  HttpClient terse({.max_head_bytes = 1000});
  EXPECT_EQ(code_of([&] { terse.fetch({.method = "GET", .url = wordy.url()}, soon()); }), "limit_exceeded");
}

TEST(HttpClient, FindsSilenceBeforeAndInsideTheBody) {
  for (const char* before : {"", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"}) {
    const auto server = after_request([before](Connection& c) {
      c.send(before);
      c.wait_gone();
    });
    HttpClient client({.idle = 60ms});
    const std::optional<Error> error = error_of([&] { client.fetch({.method = "GET", .url = server->url()}, soon()); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::unavailable);
    EXPECT_THAT(error->what(), HasSubstr("nothing was received for 60 ms"));
  }
}

TEST(HttpClient, ObeysTheDeadline) {
  const auto server = after_request([](Connection& c) { c.wait_gone(); });
  HttpClient client;
  EXPECT_EQ(code_of([&] { client.fetch({.method = "GET", .url = server->url()}, Stop::after(50ms)); }), "timed_out");
}

TEST(HttpClient, StopsWhenCancelledInTheMiddle) {
  const auto server = after_request([](Connection& c) {
    c.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    c.wait_gone();
  });
  std::stop_source source;
  std::jthread canceller;
  HttpClient client;
  const HttpReceiver cancel_on_body{.head = {},
                                    .body = [&](std::string_view) { canceller = std::jthread([&] { source.request_stop(); }); }};
  const Stop stop(source.get_token());  // no deadline: only the cancel can end this
  EXPECT_EQ(code_of([&] { client.stream({.method = "GET", .url = server->url()}, cancel_on_body, stop); }), "cancelled");
}

TEST(HttpClient, PassesOnWhatACallbackThrowsAndWorksAfterwards) {
  Answering server(http_answer(200, "body"));
  HttpClient client;
  const HttpRequest request{.method = "GET", .url = server.url()};
  EXPECT_THROW(client.stream(request, {.head = [](const HttpHead&) { throw std::runtime_error("head"); }}, soon()), std::runtime_error);
  EXPECT_THROW(client.stream(request, {.body = [](std::string_view) { throw std::logic_error("body"); }}, soon()), std::logic_error);
  EXPECT_EQ(client.fetch(request, soon()).body, "body");
}

TEST(HttpClient, LeavesABodyThatDoesNotEndOnceTheCallerHasEnough) {
  const auto server = after_request([](Connection& c) {
    c.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nlast\r\n");
    c.wait_gone();
  });
  HttpClient client;
  std::string body;
  client.stream({.method = "GET", .url = server->url()},
                {.body = [&](std::string_view piece) { body += piece; }, .satisfied = [&] { return body == "last"; }}, soon());
  EXPECT_EQ(body, "last");
}

TEST(HttpClient, KeepsTheConnectionWhenTheBodyEndsRightAfterEnough) {
  Answering server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nlast\r\n0\r\n\r\n");
  HttpClient client;
  for (int i = 0; i < 2; ++i) {
    client.stream({.method = "GET", .url = server.url()}, {.body = [](std::string_view) {}, .satisfied = [] { return true; }}, soon());
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClient, TriesAStaleConnectionAnew) {
  const LoopbackServer server([](Connection& c) {
    if (c.read_request()) c.send(http_answer(200, "ok"));  // and closes without saying so
  });
  HttpClient client;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.fetch({.method = "POST", .url = server.url(), .body = "x"}, soon()).body, "ok");
}

TEST(HttpDate, IsReadInItsThreeForms) {
  for (const char* text : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"})
    EXPECT_EQ(parse_http_date(text), 784111777000) << text;
  for (const char* text : {"", "soon", "12"}) EXPECT_EQ(parse_http_date(text), std::nullopt) << text;
}

}  // namespace
}  // namespace forge::net
