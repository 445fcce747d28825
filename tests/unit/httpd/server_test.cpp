#include "orchestrator/httpd/server.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <filesystem>
#include <thread>

#include "tests/support/temp_dir.h"
#include "tests/unit/httpd/test_site.h"

namespace forge::httpd {
namespace {

using std::chrono::milliseconds;
using test::body_request;
using test::get_request;
using test::RawClient;
using test::RawResponse;
using testing::Contains;
using testing::HasSubstr;

TEST(Server, AnswersAndKeepsTheConnection) {
  TestServer server;
  RawClient client = server.client();
  for (int i = 0; i < 3; ++i) {
    const RawResponse response = client.ask(get_request("/hello"));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "hello");
    EXPECT_EQ(response.header("content-type"), "text/plain");
    EXPECT_EQ(response.header("x-content-type-options"), "nosniff");
    EXPECT_EQ(response.header("cache-control"), "no-store");
    EXPECT_THAT(response.header("date"), HasSubstr("GMT"));
    EXPECT_EQ(response.header("connection"), "");
  }
}

TEST(Server, ServesPipelinedRequestsInOrder) {
  TestServer server;
  RawClient client = server.client();
  client.send(body_request("POST", "/echo", "first") + get_request("/hello") + body_request("POST", "/echo", "third"));
  EXPECT_EQ(client.read_response().body, "first");
  EXPECT_EQ(client.read_response().body, "hello");
  EXPECT_EQ(client.read_response().body, "third");
}

TEST(Server, ReadsARequestThatArrivesByteByByte) {
  TestServer server;
  RawClient client = server.client();
  for (const char c : body_request("POST", "/echo", "slow but sure")) client.send(std::string(1, c));
  EXPECT_EQ(client.read_response().body, "slow but sure");
}

TEST(Server, AnswersHeadWithoutABody) {
  TestServer server;
  RawClient client = server.client();
  const RawResponse head = client.ask("HEAD /hello HTTP/1.1\r\nHost: localhost\r\n\r\n", true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-length"), "5");
  EXPECT_EQ(client.ask(get_request("/hello")).body, "hello");
}

TEST(Server, A204HasNoLength) {
  TestServer server;
  RawClient client = server.client();
  const RawResponse response = client.ask(get_request("/empty"));
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.header("content-length"), "");
  EXPECT_EQ(client.ask(get_request("/hello")).status, 200);
}

TEST(Server, ClosesWhenAsked) {
  TestServer server;
  RawClient client = server.client();
  EXPECT_EQ(client.ask(get_request("/hello", "Connection: close\r\n")).header("connection"), "close");
  EXPECT_TRUE(client.closes());
  RawClient old = server.client();
  EXPECT_EQ(old.ask("GET /hello HTTP/1.0\r\nHost: localhost\r\n\r\n").body, "hello");
  EXPECT_TRUE(old.closes());
}

TEST(Server, TellsUnknownPathsFromUnknownMethods) {
  TestServer server;
  RawClient client = server.client();
  EXPECT_EQ(client.ask(get_request("/nowhere")).status, 404);
  const RawResponse wrong = client.ask("DELETE /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.header("allow"), "GET, HEAD");
  EXPECT_THAT(wrong.body, HasSubstr(R"("code":"unsupported")"));
}

TEST(Server, RefusesQueryParametersThatTheRouteDoesNotKnow) {
  TestServer server;
  RawClient client = server.client();
  EXPECT_EQ(client.ask(get_request("/asked?name=a%20b")).body, "a b");
  EXPECT_EQ(client.ask(get_request("/asked?nmae=x")).status, 400);
  EXPECT_EQ(client.ask(get_request("/hello?x=1")).status, 400);
}

TEST(Server, AnErrorOfAHandlerKeepsTheConnection) {
  TestServer server;
  RawClient client = server.client();
  EXPECT_EQ(client.ask(get_request("/boom")).status, 500);
  EXPECT_EQ(client.ask(get_request("/hello")).status, 200);
}

TEST(Server, WritesABodyInChunks) {
  TestServer server;
  RawClient client = server.client();
  const RawResponse response = client.ask(get_request("/written"));
  EXPECT_EQ(response.header("transfer-encoding"), "chunked");
  EXPECT_EQ(response.body, "one,two,three");
  EXPECT_EQ(client.ask(get_request("/hello")).body, "hello");
}

TEST(Server, WritesABodyUntilTheCloseForHttp10) {
  TestServer server;
  RawClient client = server.client();
  const RawResponse response = client.ask("GET /written HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(response.header("transfer-encoding"), "");
  EXPECT_EQ(response.body, "one,two,three");
}

TEST(Server, SendsALargeAnswerWhole) {
  TestServer server;
  RawClient client = server.client();
  EXPECT_EQ(client.ask(get_request("/large")).body.size(), std::size_t{8 << 20});
}

TEST(Server, ListensOnAUnixSocketAndRemovesItsFile) {
  const test::TempDir directory;
  const std::string path = directory.str() + "/s";
  TestServer server;
  const std::uint64_t id = server.server.add_listener(listen_unix(path));
  RawClient client = RawClient::unix_socket(path);
  EXPECT_EQ(client.ask(get_request("/hello")).body, "hello");
  server.server.remove_listener(id);
  EXPECT_TRUE(client.closes());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(server.client().ask(get_request("/hello")).status, 200);
}

TEST(Server, ServesAListenerThatWasPassedIn) {
  const test::TempDir directory;
  const std::string path = directory.str() + "/s";
  Listener made = listen_unix(path);
  TestServer server;
  server.site.add(Method::get, "/where", [](const Request& request, const Stop&) {
    return text_response(200, "text/plain", request.listener->name + (request.is_local() ? " local" : " tcp"));
  });
  server.server.add_listener(adopt_listener(std::move(made.socket), "sandbox-7"));
  EXPECT_EQ(RawClient::unix_socket(path).ask(get_request("/where")).body, "sandbox-7 local");
  EXPECT_THAT(server.client().ask(get_request("/where")).body, HasSubstr(" tcp"));
}

// Each body alone is small enough; what counts here is that many come at once.
TEST(Server, AwaitsOnlySoManyBytesOfBodiesAtOnce) {
  ServerOptions options;
  options.max_bodies_bytes = 1000;
  TestServer server(options);
  const auto announce = [](std::size_t bytes) {
    return "POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n";
  };
  RawClient first = server.client();
  first.send(announce(600));
  first.read_to("100 Continue\r\n\r\n");  // it has its room
  RawClient too_much = server.client();
  too_much.send(announce(401));
  EXPECT_EQ(too_much.read_response().status, 503);
  RawClient fits = server.client();
  fits.send(announce(400));
  fits.read_to("100 Continue\r\n\r\n");
  first.send(std::string(600, 'x'));
  EXPECT_EQ(first.read_response().body, std::string(600, 'x'));
  first.send(announce(600));  // the room is given back
  first.read_to("100 Continue\r\n\r\n");
}

TEST(Server, TellsTheSiteWhatItServedByPatternNotByPath) {
  TestServer server;
  server.client().ask(get_request("/asked?name=secret", "Connection: close\r\n"));
  server.client().ask(get_request("/nowhere", "Connection: close\r\n"));
  server.server.stop(Stop::after(std::chrono::seconds(50)));
  EXPECT_THAT(*server.site.log.lock(), Contains("/asked 200"));
  EXPECT_THAT(*server.site.log.lock(), Contains("- 404"));
}

}  // namespace
}  // namespace forge::httpd
