// One test per protocol defect that a server can have, over a real socket: what must not be read in two ways is refused, and the
// connection is closed, so that the bytes behind it are never taken for another request.
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>

#include "tests/unit/httpd/test_site.h"

namespace forge::httpd {
namespace {

using std::chrono::milliseconds;
using test::body_request;
using test::get_request;
using test::RawClient;
using test::RawResponse;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

const std::string kSmuggled = get_request("/hello", "X-Smuggled: yes\r\n");

/// Sends `bytes` with a whole second request behind them; expects `status`, a close, and that the second was not served.
void expect_refused(const std::string& bytes, int status) {
  TestServer server;
  RawClient client = server.client();
  const RawResponse response = client.ask(bytes + kSmuggled);
  EXPECT_EQ(response.status, status) << bytes;
  EXPECT_EQ(response.header("connection"), "close");
  EXPECT_THAT(response.body, HasSubstr("\"error\""));
  EXPECT_TRUE(client.closes()) << bytes;
  server.server.stop(Stop::after(std::chrono::seconds(50)));
  EXPECT_THAT(*server.site.log.lock(), Not(Contains("/hello 200"))) << bytes;
}

std::string post_head(const std::string& fields) { return "POST /echo HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n"; }

TEST(Defects, ABodyThatTheHandlerDoesNotReadIsNotTheNextRequest) {
  // Refused before its body is read: what follows the head must not be served.
  TestServer server;
  RawClient client = server.client();
  const RawResponse response = client.ask(
      "POST /denied HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(kSmuggled.size()) + "\r\n\r\n" + kSmuggled);
  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(response.header("connection"), "close");
  EXPECT_TRUE(client.closes());
  EXPECT_THAT(*server.site.log.lock(), Each("/denied 403"));
}

TEST(Defects, ABodyForAnUnknownPathIsNotTheNextRequest) {
  expect_refused("POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(kSmuggled.size()) + "\r\n\r\n", 404);
}

TEST(Defects, ContentLengthWithTransferEncoding) {
  expect_refused(post_head("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n", 400);
}

TEST(Defects, DuplicateContentLength) { expect_refused(post_head("Content-Length: 5\r\nContent-Length: 0\r\n") + "hello", 400); }

TEST(Defects, NegativeContentLength) { expect_refused(post_head("Content-Length: -5\r\n"), 400); }

TEST(Defects, ChunkedBodiesAreNotTaken) {
  TestServer server;
  RawClient client = server.client();
  const RawResponse response = client.ask(post_head("Transfer-Encoding: chunked\r\n") + "5\r\nhello\r\n0\r\n\r\n");
  EXPECT_EQ(response.status, 411);
  EXPECT_THAT(response.body, HasSubstr("chunked bodies are not taken"));
  EXPECT_TRUE(client.closes());
}

TEST(Defects, ABadChunkSizeIsNotTheEndOfABody) { expect_refused(post_head("Transfer-Encoding: chunked\r\n") + "zz\r\nhello\r\n", 411); }

TEST(Defects, OtherTransferEncodings) { expect_refused(post_head("Transfer-Encoding: gzip, chunked\r\n"), 400); }

TEST(Defects, ABodyWithoutALength) { expect_refused(post_head(""), 411); }

TEST(Defects, SpaceBeforeTheColon) { expect_refused(post_head("Content-Length : 0\r\n"), 400); }

TEST(Defects, BareLineFeeds) { expect_refused("GET /hello HTTP/1.1\nHost: localhost\n\n", 400); }

TEST(Defects, NoHost) { expect_refused("GET /hello HTTP/1.1\r\n\r\n", 400); }

TEST(Defects, TwoHosts) { expect_refused("GET /hello HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400); }

TEST(Defects, ControlCharactersInAHeader) { expect_refused(get_request("/hello", "X-Value: a\x02z\r\n"), 400); }

TEST(Defects, ControlCharactersInTheTarget) {
  expect_refused("GET /hel\x02lo HTTP/1.1\r\nHost: localhost\r\n\r\n", 400);
  expect_refused(get_request("/hello%0d%0aX:%20y"), 400);
}

TEST(Defects, EncodedWordsInHeadersAreNotDecoded) {
  TestServer server;
  EXPECT_EQ(server.client().ask(get_request("/value", "X-Value: =?UTF-8?Q?a=0D=0ASet-Cookie:_x?=\r\n")).body,
            "=?UTF-8?Q?a=0D=0ASet-Cookie:_x?=");
}

TEST(Defects, ABodyCutShortIsNotServed) {
  TestServer server;
  RawClient client = server.client();
  client.send(post_head("Content-Length: 10\r\n") + "half");
  ::shutdown(client.fd(), SHUT_WR);
  EXPECT_EQ(client.read_response().status, 400);
  EXPECT_TRUE(client.closes());
}

TEST(Defects, ABodyAtTheCapPassesAndOneAboveDoesNot) {
  TestServer server;
  EXPECT_EQ(server.client().ask(body_request("POST", "/echo", std::string(1000, 'x'))).body.size(), 1000U);
  RawClient client = server.client();
  const RawResponse response = client.ask(body_request("POST", "/echo", std::string(1001, 'x')));
  EXPECT_EQ(response.status, 413);
  EXPECT_THAT(response.body, HasSubstr("larger than 1000 bytes"));
  EXPECT_TRUE(client.closes());
}

TEST(Defects, ALargeRefusedBodyDoesNotHideTheAnswer) {
  // The client still sends while the answer is on its way: a plain close would reset the connection under it.
  TestServer server;
  RawClient client = server.client();
  client.send(post_head("Content-Length: 4000000\r\n"));
  client.send(std::string(4'000'000, 'x'));
  EXPECT_EQ(client.read_response().status, 413);
}

TEST(Defects, ARouteWithoutABodyTakesNone) {
  expect_refused("DELETE /hello HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n", 405);
}

TEST(Defects, ExpectContinueIsMetBeforeTheBody) {
  TestServer server;
  RawClient client = server.client();
  EXPECT_EQ(client.ask(post_head("Content-Length: 5\r\nExpect: 100-continue\r\n")).status, 100);
  EXPECT_EQ(client.ask("hello").body, "hello");
}

TEST(Defects, ExpectContinueIsNotMetForABodyOverTheCap) {
  TestServer server;
  RawClient client = server.client();
  EXPECT_EQ(client.ask(post_head("Content-Length: 5000\r\nExpect: 100-continue\r\n")).status, 413);
}

TEST(Defects, AHeadThatDripsIsCutAsAWhole) {
  TestServer server({.head_deadline = milliseconds(50), .idle = std::chrono::hours(1)});
  RawClient client = server.client();
  client.send("GET /hello HTTP/1.1\r\n");
  EXPECT_EQ(client.read_response().status, 408);
  EXPECT_TRUE(client.closes());
}

TEST(Defects, ABodyThatDripsIsCutAsAWhole) {
  TestServer server({.body_deadline = milliseconds(50)});
  RawClient client = server.client();
  client.send(post_head("Content-Length: 10\r\n") + "a");
  EXPECT_EQ(client.read_response().status, 408);
  EXPECT_TRUE(client.closes());
}

TEST(Defects, AnIdleConnectionIsClosed) {
  TestServer server({.idle = milliseconds(20)});
  RawClient fresh = server.client();
  EXPECT_TRUE(fresh.closes());
  RawClient used = server.client();
  used.ask(get_request("/hello"));
  EXPECT_TRUE(used.closes());
}

TEST(Defects, SlowAndIdleClientsTakeNoThread) {
  TestServer server({.threads = 1});
  std::vector<RawClient> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(server.client());
    clients.back().send(i % 2 == 0 ? "GET /hel" : "");
  }
  EXPECT_EQ(server.client().ask(get_request("/hello")).body, "hello");
}

TEST(Defects, HalfABodyAndAnUnreadAnswerTakeNoThread) {
  TestServer server({.threads = 1, .body_deadline = std::chrono::hours(1), .write_deadline = std::chrono::hours(1)});
  std::vector<RawClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(server.client());
    clients.back().send(i % 2 == 0 ? post_head("Content-Length: 10\r\n") + "half" : get_request("/large"));
  }
  EXPECT_EQ(server.client().ask(get_request("/hello")).body, "hello");
  clients[0].send(" whole" + get_request("/hello"));
  EXPECT_EQ(clients[0].read_response().body, "half whole");
  EXPECT_EQ(clients[0].read_response().body, "hello");
  EXPECT_EQ(clients[1].read_response().body.size(), 8U << 20);
  EXPECT_EQ(clients[1].ask(get_request("/hello")).body, "hello");
}

TEST(Defects, AClientThatReadsNothingIsGivenUp) {
  TestServer server({.threads = 1, .write_deadline = milliseconds(50)});
  RawClient client = server.client();
  client.send(get_request("/large"));
  EXPECT_EQ(server.client().ask(get_request("/hello")).body, "hello");
}

TEST(Defects, MoreThanTheWaitingRoomHoldsIsTurnedAwayEarly) {
  TestServer server({.threads = 1, .max_waiting = 1});
  RawClient served = server.client();
  served.send(get_request("/gate"));
  server.site.gate.await(1);
  RawClient waiting = server.client();
  waiting.send(get_request("/gate"));
  // The front thread takes requests in order of arrival on one connection only; a third is refused as soon as the second waits.
  RawResponse refused;
  while (refused.status != 503) {
    RawClient more = server.client();
    more.send(get_request("/hello"));
    pollfd polled{more.fd(), POLLIN, 0};
    if (::poll(&polled, 1, 1000) == 1) refused = more.read_response();
  }
  EXPECT_EQ(refused.header("retry-after"), "1");
  EXPECT_THAT(refused.body, HasSubstr("\"busy\""));
  server.site.gate.open();
  EXPECT_EQ(served.read_response().body, "through");
}

TEST(Defects, MoreConnectionsThanAllowedAreTurnedAway) {
  TestServer server({.max_connections = 2});
  RawClient first = server.client();
  RawClient second = server.client();
  first.ask(get_request("/hello"));
  second.ask(get_request("/hello"));
  RawClient third = server.client();
  EXPECT_EQ(third.read_response().status, 503);
  EXPECT_TRUE(third.closes());
  EXPECT_EQ(first.ask(get_request("/hello")).status, 200);
}

TEST(Defects, ManyClientsAtOnceAreAllServed) {
  TestServer server({.threads = 4});
  std::vector<RawClient> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(server.client());
  for (RawClient& client : clients) client.send(get_request("/hello"));
  for (RawClient& client : clients) EXPECT_EQ(client.read_response().body, "hello");
}

}  // namespace
}  // namespace forge::httpd
