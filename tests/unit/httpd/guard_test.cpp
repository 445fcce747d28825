#include "orchestrator/httpd/guard.h"

#include <gmock/gmock.h>

#include "orchestrator/base/text.h"

namespace forge::httpd {
namespace {

using testing::ElementsAre;
using testing::Pair;

const HeadLimits kLimits{.request_line_bytes = 200, .head_bytes = 1000, .fields = 10};

/// Status of the refusal of a whole head, or 200; scanned at once, and byte by byte with the same result.
int status_of(const std::string& head) {
  const auto scanned = [&](std::size_t step) {
    HeadScanner scanner(kLimits);
    for (std::size_t end = step; end < head.size() + step; end += step) {
      if (const auto refusal = scanner.scan(std::string_view(head).substr(0, end))) return refusal->status;
      if (scanner.head_bytes() != 0) {
        const auto parsed = parse_head(std::string_view(head).substr(0, scanner.head_bytes()), kLimits);
        return std::holds_alternative<Refusal>(parsed) ? std::get<Refusal>(parsed).status : 200;
      }
    }
    return 0;  // incomplete
  };
  const int at_once = scanned(head.size());
  EXPECT_EQ(scanned(1), at_once) << head;
  return at_once;
}

int with_fields(const std::string& fields, const std::string& method = "POST") {
  return status_of(method + " /x HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n");
}

RequestHead parsed(const std::string& head) { return std::get<RequestHead>(parse_head(head, kLimits)); }

TEST(Guard, TakesAPlainRequest) {
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), 200);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\nHost: h\r\n\r\n"), 200);
  EXPECT_EQ(with_fields("Content-Length: 0\r\n"), 200);
  EXPECT_EQ(with_fields("content-length:12\r\n"), 200);
}

TEST(Guard, IsNotDoneBeforeTheEmptyLine) {
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: h\r\n"), 0);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: h\r\n\r"), 0);
}

TEST(Guard, RefusesTwoWaysToEndABody) {
  EXPECT_EQ(with_fields("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(with_fields("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"), 400);
}

TEST(Guard, RefusesTransferEncodings) {
  EXPECT_EQ(with_fields("Transfer-Encoding: chunked\r\n"), 411);
  EXPECT_EQ(with_fields("Transfer-Encoding: gzip, chunked\r\n"), 400);
  EXPECT_EQ(with_fields("Transfer-Encoding: chunked, chunked\r\n"), 400);
  EXPECT_EQ(with_fields("Transfer-Encoding: CHUNKED\r\n"), 400);
  EXPECT_EQ(with_fields("Transfer-Encoding: identity\r\n"), 400);
  EXPECT_EQ(with_fields("Transfer-Encoding:\r\n"), 400);
  EXPECT_EQ(with_fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(status_of("POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

TEST(Guard, RefusesLengthsThatAreNotOneNumber) {
  EXPECT_EQ(with_fields("Content-Length: 3\r\nContent-Length: 3\r\n"), 400);
  EXPECT_EQ(with_fields("Content-Length: 3\r\nContent-Length: 4\r\n"), 400);
  for (const char* length : {"-1", "+3", "3, 3", "0x10", "3 ", "1e3", "", "9999999999999999", "18446744073709551617"})
    EXPECT_EQ(with_fields(std::string("Content-Length: ") + length + "x\r\n"), 400) << length;
  for (const char* length : {"-1", "+3", "3, 3", "0x10", "1e3", "", "9999999999999999", "18446744073709551617"})
    EXPECT_EQ(with_fields(std::string("Content-Length: ") + length + "\r\n"), 400) << length;
}

TEST(Guard, WantsALengthWhereABodyMayCome) {
  for (const char* method : {"POST", "PUT", "PATCH"}) EXPECT_EQ(with_fields("", method), 411) << method;
  EXPECT_EQ(with_fields("", "DELETE"), 200);
  EXPECT_EQ(with_fields("Content-Length: 1\r\n", "GET"), 400);
  EXPECT_EQ(with_fields("Content-Length: 0\r\n", "GET"), 200);
}

TEST(Guard, WantsExactlyOneHost) {
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\n\r\n"), 400);
}

TEST(Guard, RefusesASecondValueWhereOneCounts) {
  for (const std::string name : {"Authorization", "Origin", "Content-Type", "Idempotency-Key", "Last-Event-ID"}) {
    EXPECT_EQ(with_fields("Content-Length: 0\r\n" + name + ": a\r\n"), 200) << name;
    EXPECT_EQ(with_fields("Content-Length: 0\r\n" + name + ": a\r\n" + lower_ascii(name) + ": a\r\n"), 400) << name;
    EXPECT_EQ(with_fields(name + ": a\r\nAccept: x\r\n" + name + ": b\r\n", "GET"), 400) << name;
  }
  EXPECT_EQ(with_fields("Accept: a\r\nAccept: b\r\nCookie: a=1\r\nCookie: b=1\r\n", "GET"), 200);
}

TEST(Guard, RefusesControlCharacters) {
  using namespace std::string_literals;
  EXPECT_EQ(with_fields("X: a\0b\r\n"s), 400);
  EXPECT_EQ(with_fields("X: a\x01\r\n"), 400);
  EXPECT_EQ(with_fields("X: a\x7f\r\n"), 400);
  EXPECT_EQ(with_fields("X: a\tb\r\n"), 400);
  EXPECT_EQ(status_of("GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
}

TEST(Guard, RefusesBareLineEnds) {
  EXPECT_EQ(status_of("GET / HTTP/1.1\nHost: h\n\n"), 400);
  EXPECT_EQ(with_fields("X: a\nY: b\r\n"), 400);
  EXPECT_EQ(with_fields("X: a\rY: b\r\n"), 400);
  EXPECT_EQ(status_of("\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"), 400);
}

TEST(Guard, RefusesMalformedFields) {
  EXPECT_EQ(with_fields("Content-Length : 3\r\n"), 400);
  EXPECT_EQ(with_fields("X: a\r\n folded\r\n"), 400);
  EXPECT_EQ(with_fields("no colon\r\n"), 400);
  EXPECT_EQ(with_fields(": no name\r\n"), 400);
  EXPECT_EQ(with_fields("b\xc3\xa4"
                        "d: x\r\n"),
            400);
}

TEST(Guard, RefusesMalformedRequestLines) {
  for (const char* line :
       {"GET", "GET /", "GET  HTTP/1.1", " / HTTP/1.1", "GET / x HTTP/1.1", "GET x HTTP/1.1", "GET http://h/ HTTP/1.1",
        "OPTIONS * HTTP/1.1", "GET /#a HTTP/1.1", "GET /\xc3\xa4 HTTP/1.1", "G(T / HTTP/1.1", "GET / http/1.1", "GET / HTTX/1.1"})
    EXPECT_EQ(status_of(std::string(line) + "\r\nHost: h\r\n\r\n"), 400) << line;
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\nHost: h\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.2\r\nHost: h\r\n\r\n"), 505);
  EXPECT_EQ(status_of("BREW / HTTP/1.1\r\nHost: h\r\n\r\n"), 501);
  EXPECT_EQ(status_of("CONNECT / HTTP/1.1\r\nHost: h\r\n\r\n"), 501);
}

TEST(Guard, HoldsItsLimitsAtTheLimitAndOneAbove) {
  const auto line = [](std::size_t bytes) {
    const std::string begin = "GET /";
    const std::string end = " HTTP/1.1";
    return status_of(begin + std::string(bytes - begin.size() - end.size(), 'a') + end + "\r\nHost: h\r\n\r\n");
  };
  EXPECT_EQ(line(kLimits.request_line_bytes), 200);
  EXPECT_EQ(line(kLimits.request_line_bytes + 1), 414);
  const auto fields = [](std::size_t count) {
    std::string text = "GET / HTTP/1.1\r\nHost: h\r\n";
    for (std::size_t i = 1; i < count; ++i) text += "X: y\r\n";
    return status_of(text + "\r\n");
  };
  EXPECT_EQ(fields(kLimits.fields), 200);
  EXPECT_EQ(fields(kLimits.fields + 1), 431);
  const auto size = [](std::size_t bytes) {
    const std::string begin = "GET / HTTP/1.1\r\nHost: h\r\nX: ";
    return status_of(begin + std::string(bytes - begin.size() - 4, 'a') + "\r\n\r\n");
  };
  EXPECT_EQ(size(kLimits.head_bytes), 200);
  EXPECT_EQ(size(kLimits.head_bytes + 1), 431);
}

TEST(Guard, MeetsOnlyOneExpectation) {
  EXPECT_EQ(with_fields("Content-Length: 1\r\nExpect: 100-continue\r\n"), 200);
  EXPECT_EQ(with_fields("Content-Length: 1\r\nExpect: more\r\n"), 417);
}

TEST(Guard, KeepsHeaderValuesAsTheyWereSent) {
  // A decoder of RFC 2047 would put a line break into this value.
  const RequestHead head = parsed("GET /a%2Fb?x HTTP/1.1\r\nHost: h\r\nX-Word:  =?UTF-8?Q?a=0D=0Ab?= \r\n\r\n");
  EXPECT_EQ(head.target, "/a%2Fb?x");
  EXPECT_EQ(head.headers.at(1).name, "x-word");
  EXPECT_EQ(head.headers.at(1).value, "=?UTF-8?Q?a=0D=0Ab?=");
}

TEST(Guard, KnowsWhoKeepsTheConnection) {
  EXPECT_TRUE(parsed("GET / HTTP/1.1\r\nHost: h\r\n\r\n").keep_alive);
  EXPECT_FALSE(parsed("GET / HTTP/1.1\r\nHost: h\r\nConnection: Close\r\n\r\n").keep_alive);
  EXPECT_FALSE(parsed("GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade, close\r\n\r\n").keep_alive);
  EXPECT_FALSE(parsed("GET / HTTP/1.0\r\nHost: h\r\n\r\n").keep_alive);
  EXPECT_TRUE(parsed("GET / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n").keep_alive);
}

TEST(Target, IsDecodedAfterTheSplit) {
  const Target target = std::get<Target>(parse_target("/a%2Fb/c%20d+e/?q=1%26+2&q=3&flag&=x"));
  EXPECT_THAT(target.segments, ElementsAre("a/b", "c d+e", ""));
  EXPECT_THAT(target.query, ElementsAre(Pair("q", "1& 2"), Pair("q", "3"), Pair("flag", ""), Pair("", "x")));
}

TEST(Target, TheRootHasNoSegments) { EXPECT_TRUE(std::get<Target>(parse_target("/")).segments.empty()); }

TEST(Target, RefusesBadEscapes) {
  for (const char* target : {"/%", "/%4", "/%zz", "/%00", "/a%0d%0ab", "/%ff", "/x?%", "/x?a=%0a", "/x?%ff=1"})
    EXPECT_TRUE(std::holds_alternative<Refusal>(parse_target(target))) << target;
}

}  // namespace
}  // namespace forge::httpd
