#include "orchestrator/egress/proxy_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/base/error.h"

namespace forge::egress {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string refusal(std::string_view head) {
  try {
    parse_proxy_request(head);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    return e.what();
  }
  ADD_FAILURE() << "accepted " << head;
  return {};
}

TEST(ProxyRequest, TakesATunnel) {
  const ProxyRequest request = parse_proxy_request("CONNECT Example.com:443 HTTP/1.1\r\nHost: whatever\r\n\r\n");
  EXPECT_TRUE(request.tunnel);
  EXPECT_EQ(request.host, "example.com");
  EXPECT_EQ(request.port, 443);
  EXPECT_EQ(request.head, "");
  EXPECT_EQ(parse_proxy_request("CONNECT [2001:DB8::1]:8443 HTTP/1.1\r\n\r\n").host, "2001:db8::1");
}

TEST(ProxyRequest, RewritesAPlainRequestForTheServer) {
  const ProxyRequest request = parse_proxy_request(
      "GET http://Example.com:8080/a/b?c=d HTTP/1.1\r\nHost: evil.org\r\nAccept: */*\r\nProxy-Authorization: Basic x\r\nProxy-Connection: "
      "keep-alive\r\n"
      "Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nUpgrade: websocket\r\nX-End:  to end \r\n\r\n");
  EXPECT_FALSE(request.tunnel);
  EXPECT_EQ(request.host, "example.com");
  EXPECT_EQ(request.port, 8080);
  EXPECT_EQ(request.head, "GET /a/b?c=d HTTP/1.1\r\nHost: Example.com:8080\r\nAccept: */*\r\nX-End: to end\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(request.body.finished());
}

TEST(ProxyRequest, FillsInPathAndPort) {
  EXPECT_THAT(parse_proxy_request("GET HTTP://a.com HTTP/1.1\r\n\r\n").head, HasSubstr("GET / HTTP/1.1\r\nHost: a.com\r\n"));
  EXPECT_THAT(parse_proxy_request("GET http://a.com?q HTTP/1.0\r\n\r\n").head, HasSubstr("GET /?q HTTP/1.0\r\n"));
  EXPECT_EQ(parse_proxy_request("GET http://a.com/ HTTP/1.1\r\n\r\n").port, 80);
}

TEST(ProxyRequest, KeepsTheFramingOfTheBodyWhateverConnectionNames) {
  const ProxyRequest request =
      parse_proxy_request("POST http://a.com/ HTTP/1.1\r\nContent-Length: 3\r\nConnection: content-length\r\n\r\n");
  EXPECT_THAT(request.head, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_FALSE(request.body.finished());
}

TEST(ProxyRequest, RefusesWhatIsNoProxyRequest) {
  EXPECT_THAT(refusal("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), HasSubstr("this is a proxy"));
  EXPECT_THAT(refusal("GET https://a.com/ HTTP/1.1\r\n\r\n"), HasSubstr("this is a proxy"));
  for (const char* head : {"CONNECT a.com HTTP/1.1\r\n\r\n", "CONNECT a.com:0 HTTP/1.1\r\n\r\n", "CONNECT :443 HTTP/1.1\r\n\r\n",
                           "CONNECT a b:443 HTTP/1.1\r\n\r\n", "GET http:// HTTP/1.1\r\n\r\n", "GET http://u:p@a.com/ HTTP/1.1\r\n\r\n",
                           "GET http://a.com/ HTTP/2.0\r\n\r\n", "GET http://a.com/\r\n\r\n", "\r\n\r\n",
                           "GET http://a.com/ HTTP/1.1\r\n folded: x\r\n\r\n", "GET http://a.com/ HTTP/1.1\r\nname : x\r\n\r\n",
                           "GET http://a.com/ HTTP/1.1\r\nno colon\r\n\r\n", "GET http://a.com/ HTTP/1.1\r\na: b\nc: d\r\n\r\n",
                           "G\tET http://a.com/ HTTP/1.1\r\n\r\n", "GET http://a.com/\x01 HTTP/1.1\r\n\r\n"})
    EXPECT_NE(refusal(head), "") << head;
}

TEST(ProxyRequest, RefusesTwoAnswersToTheLengthOfTheBody) {
  const std::string begin = "POST http://a.com/ HTTP/1.1\r\n";
  for (const char* headers : {"Content-Length: 3\r\nContent-Length: 3\r\n", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
                              "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip, chunked\r\n",
                              "Content-Length: 3, 3\r\n", "Content-Length: -1\r\n", "Content-Length: +1\r\n", "Content-Length: \r\n",
                              "Content-Length: 0x3\r\n", "Content-Length: 99999999999999999999\r\n"})
    EXPECT_NE(refusal(begin + headers + "\r\n"), "") << headers;
}

TEST(BodyGate, CountsABody) {
  BodyGate gate = BodyGate::counted(5);
  EXPECT_EQ(gate.take("abc"), 3U);
  EXPECT_FALSE(gate.finished());
  EXPECT_EQ(gate.take("deGET http://evil"), 2U);
  EXPECT_TRUE(gate.finished());
  EXPECT_EQ(gate.take("more"), 0U);
}

TEST(BodyGate, FindsTheEndOfAChunkedBodyHoweverItIsSplit) {
  const std::string body = "5;ext=1\r\nhello\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
  const std::string sent = body + "GET http://evil/ HTTP/1.1\r\n\r\n";
  for (std::size_t step = 1; step <= sent.size(); ++step) {
    BodyGate gate = BodyGate::chunked();
    std::size_t taken = 0;
    for (std::size_t at = 0; at < sent.size(); at += step) taken += gate.take(std::string_view(sent).substr(at, step));
    EXPECT_EQ(taken, body.size()) << "in steps of " << step;
    EXPECT_TRUE(gate.finished());
  }
}

TEST(BodyGate, RefusesChunksThatBreakTheFormat) {
  for (const char* bad : {"\r\n", "x\r\n", "5\nhello", "5\r\nhelloX", "5\r\nhello\n", "5 \r\n", "0\r\n\n", "5\rx", "0000000000001\r\n",
                          "-1\r\n", "0\r\nA: b\n"}) {
    BodyGate gate = BodyGate::chunked();
    EXPECT_THROW(gate.take(bad), Error) << bad;
  }
}

TEST(BodyGate, LetsATunnelPass) {
  BodyGate gate = BodyGate::open();
  EXPECT_EQ(gate.take("anything"), 8U);
  EXPECT_FALSE(gate.finished());
}

}  // namespace
}  // namespace forge::egress
