#include "orchestrator/egress/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <future>

#include "orchestrator/base/error.h"
#include "tests/support/loopback.h"
#include "tests/support/soon.h"
#include "tests/support/trace_recorder.h"

namespace forge::egress {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::connect_to_loopback;
using test::listen_on_loopback;
using test::read_until;
using test::TcpServer;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

using test::soon;
/// Names of the tests and what they stand for.
std::vector<Address> fake_names(const std::string& host, const Stop&) {
  const auto to = [](std::initializer_list<const char*> texts) {
    std::vector<Address> addresses;
    for (const char* text : texts) addresses.push_back(*Address::parse(text));
    return addresses;
  };
  if (host == "server.test" || host == "a.server.test") return to({"127.0.0.1"});
  if (host == "two.test") return to({"127.0.0.2", "127.0.0.1"});
  if (host == "metadata.test") return to({"169.254.169.254", "::ffff:10.0.0.1"});
  throw Error(ErrorCode::not_found, "no address for " + host);
}

/// A proxy on loopback, its log, and a client for it.
class ProxyTest : public testing::Test {
 protected:
  ProxyTest() { options.resolve = fake_names; }

  void start() {
    auto listener = listen_on_loopback();
    port = listener.port;
    proxy = std::make_unique<Proxy>(std::move(listener.fd), options, &trace, *log);
  }
  void allow(const std::vector<std::string>& hosts) { options.allow = HostRules::parse(hosts, "allow"); }
  /// Allows the server by its port and lets the proxy dial loopback.
  void allow_server(const TcpServer& server, const std::string& name = "server.test") {
    allow({name + ":" + std::to_string(server.port())});
    options.allow_private_for_tests = true;
    authority = name + ":" + std::to_string(server.port());
  }
  std::string ask(const std::string& request) const {
    const UniqueFd client = connect_to_loopback(port);
    write_all(client.get(), request, soon());
    return read_all(client.get(), 1 << 20, soon());
  }
  std::string connect_line() const { return "CONNECT " + authority + " HTTP/1.1\r\n\r\n"; }
  std::vector<std::string> decisions() const {
    std::vector<std::string> found;
    for (const auto& one : trace.of<trace::Network>()) found.push_back(one.host + ":" + std::to_string(one.port) + " " + one.decision);
    return found;
  }

  ProxyOptions options;
  test::TraceRecorder trace;
  std::unique_ptr<Log> log = make_null_log();
  int port = 0;
  std::string authority;
  std::unique_ptr<Proxy> proxy;
};

/// Answers each request head with a line that repeats it, then the body.
void echo_request(int connection, const Stop& stop) {
  std::string request = read_until(connection, "\r\n\r\n", stop);
  write_all(connection, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + request, stop);
}

TEST_F(ProxyTest, TunnelsBothWaysAndPassesTheEndOfEachSide) {
  const TcpServer server([](int connection, const Stop& stop) {
    const std::string all = read_all(connection, 1 << 20, stop);  // to the client's end
    write_all(connection, "got " + all, stop);
  });
  allow_server(server);
  start();
  const UniqueFd client = connect_to_loopback(port);
  write_all(client.get(), connect_line(), soon());
  EXPECT_EQ(read_until(client.get(), "\r\n\r\n", soon()), "HTTP/1.1 200 Connection established\r\n\r\n");
  write_all(client.get(), std::string("\0\xff raw", 6), soon());
  ::shutdown(client.get(), SHUT_WR);
  EXPECT_EQ(read_all(client.get(), 1000, soon()), std::string("got \0\xff raw", 10));
}

TEST_F(ProxyTest, PassesBytesThatCameWithTheHead) {
  const TcpServer server([](int connection, const Stop& stop) { write_all(connection, read_until(connection, "!", stop), stop); });
  allow_server(server);
  start();
  EXPECT_THAT(ask(connect_line() + "early!"), EndsWith("\r\n\r\nearly!"));
}

TEST_F(ProxyTest, CarriesMuchDataBothWaysAtOnce) {
  constexpr std::size_t kBytes = 8 << 20;
  const TcpServer server([](int connection, const Stop& stop) {
    while (true) {
      const std::string piece = read_some(connection, 65536, stop);
      if (piece.empty()) return;
      write_all(connection, piece, stop);
    }
  });
  allow_server(server);
  start();
  const UniqueFd client = connect_to_loopback(port);
  write_all(client.get(), connect_line(), soon());
  read_until(client.get(), "\r\n\r\n", soon());
  std::string sent(kBytes, '\0');
  for (std::size_t i = 0; i < kBytes; ++i) sent[i] = static_cast<char>(i * 31 >> 3);
  auto sending = std::async(std::launch::async, [&] {
    write_all(client.get(), sent, soon());
    ::shutdown(client.get(), SHUT_WR);
  });
  const std::string received = read_all(client.get(), kBytes + 1, soon());
  sending.get();
  EXPECT_TRUE(received == sent);
}

TEST_F(ProxyTest, ForwardsAPlainRequestInOriginForm) {
  const TcpServer server(echo_request);
  allow_server(server);
  start();
  EXPECT_EQ(ask("GET http://" + authority + "/x?y HTTP/1.1\r\nHost: evil.org\r\nConnection: keep-alive\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nGET /x?y HTTP/1.1\r\nHost: " + authority + "\r\nConnection: close\r\n\r\n");
}

TEST_F(ProxyTest, NeverForwardsASecondRequestOfOneConnection) {
  std::promise<std::string> seen;
  const TcpServer server([&](int connection, const Stop& stop) {
    std::string all = read_until(connection, "body", stop);
    write_all(connection, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfirst", stop);
    ::shutdown(connection, SHUT_WR);
    all += read_all(connection, 1 << 20, stop);  // whatever else the proxy would send
    seen.set_value(all);
  });
  allow_server(server);
  start();
  const std::string answer =
      ask("POST http://" + authority + "/ HTTP/1.1\r\nContent-Length: 4\r\n\r\nbodyGET http://" + authority + "/second HTTP/1.1\r\n\r\n");
  EXPECT_THAT(answer, EndsWith("\r\n\r\nfirst"));
  const std::string all = seen.get_future().get();
  EXPECT_THAT(all, EndsWith("body"));
  EXPECT_THAT(all, Not(HasSubstr("second")));
}

TEST_F(ProxyTest, RefusesAHostThatNoRuleNamesAndSaysHowToAllowIt) {
  allow({"good.test"});
  start();
  const std::string answer = ask("CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT_THAT(answer, HasSubstr("forge: evil.test:443 is not allowed in this sandbox; allow it with --allow-host evil.test\n"));
  EXPECT_THAT(ask("GET http://good.test:8080/ HTTP/1.1\r\n\r\n"), HasSubstr("allow it with --allow-host good.test:8080\n"));
  EXPECT_THAT(ask("CONNECT [2001:db8::1]:22 HTTP/1.1\r\n\r\n"), HasSubstr("--allow-host [2001:db8::1]:22\n"));
  const auto events = trace.of<trace::Network>();
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(events[0].host, "evil.test");
  EXPECT_EQ(events[0].port, 443);
  EXPECT_EQ(events[0].decision, "denied_host");
  EXPECT_EQ(events[0].hint, "allow it with --allow-host evil.test");
}

TEST_F(ProxyTest, LetsTheDenyListWin) {
  allow({"*.test"});
  options.deny = HostRules::parse({"evil.test"}, "deny");
  start();
  EXPECT_THAT(ask("CONNECT evil.test:443 HTTP/1.1\r\n\r\n"), HasSubstr("denied by this server's configuration (network.deny)"));
}

TEST_F(ProxyTest, RefusesNamesThatStandForPrivateAddresses) {
  allow({"server.test", "metadata.test"});
  start();  // without allow_private_for_tests
  EXPECT_THAT(ask("CONNECT server.test:443 HTTP/1.1\r\n\r\n"), HasSubstr("403 Forbidden"));
  EXPECT_THAT(ask("CONNECT metadata.test:80 HTTP/1.1\r\n\r\n"), HasSubstr("stands for 169.254.169.254, which is no public address"));
  EXPECT_THAT(decisions(), testing::ElementsAre("server.test:443 denied_address", "metadata.test:80 denied_address"));
}

TEST_F(ProxyTest, RefusesPrivateAddressesAlsoWhenTheyAreAllowedByNumber) {
  allow({"127.0.0.1", "169.254.169.254", "[::1]", "[::ffff:127.0.0.1]"});
  start();
  for (const char* host : {"127.0.0.1:80", "169.254.169.254:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "[::ffff:7f00:1]:80"})
    EXPECT_THAT(ask(std::string("CONNECT ") + host + " HTTP/1.1\r\n\r\n"), HasSubstr("no public address")) << host;
}

TEST_F(ProxyTest, TakesOtherSpellingsOfLoopbackForNames) {
  allow({"127.0.0.1"});
  options.allow_private_for_tests = true;
  start();
  for (const char* host : {"127.1:80", "0x7f000001:80", "2130706433:80", "0177.0.0.1:80"})
    EXPECT_THAT(ask(std::string("CONNECT ") + host + " HTTP/1.1\r\n\r\n"), HasSubstr("is not allowed")) << host;
}

TEST_F(ProxyTest, DialsTheAddressThatWasCheckedAndAsksOnce) {
  const TcpServer server(echo_request);
  allow_server(server);
  std::atomic<int> asked{0};
  options.resolve = [&](const std::string& host, const Stop& stop) {
    // A name server that answers differently the second time gains nothing.
    return ++asked == 1 ? fake_names(host, stop) : std::vector<Address>{*Address::parse("127.0.0.99")};
  };
  start();
  for (int i = 0; i < 3; ++i) EXPECT_THAT(ask("GET http://" + authority + "/ HTTP/1.1\r\n\r\n"), HasSubstr("200 OK"));
  EXPECT_EQ(asked, 1);
}

TEST_F(ProxyTest, TriesTheNextAddress) {
  const TcpServer server(echo_request);
  allow_server(server, "two.test");
  start();
  EXPECT_THAT(ask("GET http://" + authority + "/ HTTP/1.1\r\n\r\n"), HasSubstr("200 OK"));
}

TEST_F(ProxyTest, SaysThatANameHasNoAddressOrNobodyListens) {
  allow({"none.test", "server.test:1"});
  options.allow_private_for_tests = true;
  start();
  EXPECT_THAT(ask("CONNECT none.test:443 HTTP/1.1\r\n\r\n"), HasSubstr("502 Bad Gateway"));
  EXPECT_THAT(ask("CONNECT server.test:1 HTTP/1.1\r\n\r\n"), HasSubstr("server.test:1 did not take the connection"));
  EXPECT_THAT(decisions(), testing::ElementsAre("none.test:443 unresolved", "server.test:1 allowed", "server.test:1 unreachable"));
}

TEST_F(ProxyTest, LogsEachDecisionOnceAndTheBytesAtTheEnd) {
  const TcpServer server(echo_request);
  allow_server(server);
  start();
  for (int i = 0; i < 2; ++i) {
    ask("GET http://" + authority + "/ HTTP/1.1\r\n\r\n");
    ask("CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
  }
  proxy.reset();
  EXPECT_THAT(decisions(), testing::ElementsAre(authority + " allowed", "evil.test:443 denied_host", authority + " total"));
  const std::int64_t one_way = static_cast<std::int64_t>(("GET / HTTP/1.1\r\nHost: " + authority + "\r\nConnection: close\r\n\r\n").size());
  EXPECT_EQ(trace.of<trace::Network>().back().bytes, 2 * (2 * one_way + 38));  // up, and back behind a head of 38 bytes
}

TEST_F(ProxyTest, ListsNoMoreThanTwoHundredDecisions) {
  start();
  for (int i = 0; i < 203; ++i) ask("CONNECT h" + std::to_string(i) + ".test:443 HTTP/1.1\r\n\r\n");
  EXPECT_THAT(trace.of<trace::Network>(), SizeIs(200));
  EXPECT_THAT(trace.of<trace::LogLine>(), SizeIs(1));
}

TEST_F(ProxyTest, TakesAHeadAtTheLimitAndRefusesOneByteMore) {
  options.limits.max_head_bytes = 1000;
  start();
  std::string head = "CONNECT evil.test:443 HTTP/1.1\r\nX: ";
  head += std::string(1000 - head.size() - 4, 'x') + "\r\n\r\n";
  EXPECT_THAT(ask(head), HasSubstr("403 Forbidden"));
  head.insert(40, "x");
  EXPECT_THAT(ask(head), HasSubstr("431 Request Header Fields Too Large"));
  EXPECT_THAT(ask(std::string(5000, 'x')), HasSubstr("431"));  // an end is not waited for
}

TEST_F(ProxyTest, PassesBytesUpToTheLimitAndNoneAbove) {
  const std::string body(1000, 'x');
  const TcpServer server([&](int connection, const Stop& stop) {
    read_until(connection, "\r\n\r\n", stop);
    write_all(connection, body, stop);
  });
  allow_server(server);
  const std::string head = "GET / HTTP/1.1\r\nHost: " + authority + "\r\nConnection: close\r\n\r\n";
  const std::string request = "GET http://" + authority + "/ HTTP/1.1\r\n\r\n";
  options.limits.max_bytes = static_cast<std::int64_t>(head.size() + body.size());
  start();
  EXPECT_EQ(ask(request), body);
  EXPECT_THAT(ask(request), HasSubstr("this sandbox has used up its"));
  proxy.reset();
  options.limits.max_bytes -= 1;
  start();
  EXPECT_NE(ask(request), body);
  proxy.reset();
  EXPECT_THAT(decisions(), testing::Contains(authority + " denied_bytes"));
}

TEST_F(ProxyTest, ServesConnectionsUpToTheLimitAndLetsTheNextWait) {
  options.limits.max_connections = 2;
  start();
  UniqueFd first = connect_to_loopback(port);
  const UniqueFd second = connect_to_loopback(port);
  const UniqueFd third = connect_to_loopback(port);
  write_all(third.get(), "CONNECT evil.test:443 HTTP/1.1\r\n\r\n", soon());
  write_all(second.get(), "CONNECT ", soon());
  EXPECT_THROW(read_some(third.get(), 1, Stop::after(milliseconds(50))), Error);  // waits
  first.reset();
  EXPECT_THAT(read_until(third.get(), "\r\n", soon()), HasSubstr("403"));
}

TEST_F(ProxyTest, EndsAClientThatDoesNotFinishItsHead) {
  options.limits.head_time = milliseconds(50);
  start();
  EXPECT_THAT(ask("CONNECT evil"), HasSubstr("408 Request Timeout"));
}

TEST_F(ProxyTest, EndsAConnectionWithoutTraffic) {
  const TcpServer server([](int connection, const Stop& stop) { read_all(connection, 100, stop); });
  allow_server(server);
  options.limits.idle_time = milliseconds(50);
  start();
  EXPECT_THAT(ask(connect_line()), EndsWith("established\r\n\r\n"));  // and then the end
}

TEST_F(ProxyTest, DoesNotWaitForANameServerWhenItEnds) {
  allow({"slow.test"});
  std::promise<void> asked;
  options.resolve = [&](const std::string&, const Stop& stop) -> std::vector<Address> {
    asked.set_value();
    pause(seconds(60), stop);
    return {};
  };
  start();
  const UniqueFd client = connect_to_loopback(port);
  write_all(client.get(), "CONNECT slow.test:443 HTTP/1.1\r\n\r\n", soon());
  asked.get_future().wait();
  proxy.reset();
  EXPECT_THAT(read_all(client.get(), 100, soon()), IsEmpty());
}

TEST_F(ProxyTest, GivesUpOnANameServerThatDoesNotAnswer) {
  allow({"slow.test"});
  options.limits.connect_time = milliseconds(50);
  options.resolve = [](const std::string&, const Stop& stop) -> std::vector<Address> {
    pause(seconds(60), stop);
    return {};
  };
  start();
  EXPECT_THAT(ask("CONNECT slow.test:443 HTTP/1.1\r\n\r\n"), HasSubstr("did not answer in time"));
}

TEST_F(ProxyTest, StopsServingWhenItsTraceFails) {
  struct Broken final : TraceSink {
    void append(TraceData, std::optional<int>) override { throw Error(ErrorCode::unavailable, "disk full"); }
  } broken;
  auto listener = listen_on_loopback();
  port = listener.port;
  proxy = std::make_unique<Proxy>(std::move(listener.fd), options, &broken, *log);
  EXPECT_THAT(ask("CONNECT evil.test:443 HTTP/1.1\r\n\r\n"), IsEmpty());
  EXPECT_THROW(connect_to_loopback(port), Error);
  proxy.reset();  // before the trace that it uses
}

TEST_F(ProxyTest, RefusesGarbage) {
  start();
  EXPECT_THAT(ask("hello\r\n\r\n"), HasSubstr("400 Bad Request"));
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), HasSubstr("this is a proxy"));
}

TEST(SystemResolver, KnowsLoopbackAndSaysWhenThereIsNoAddress) {
  const Resolve resolve = system_resolver();
  const auto found = resolve("localhost", soon());
  ASSERT_FALSE(found.empty());
  EXPECT_FALSE(found.front().is_public());
  EXPECT_THROW(resolve(std::string(64, 'a') + ".test", soon()), Error);  // no name server is asked for such a label
}

TEST(ProxyEnvironment, NamesTheProxyInBothCases) {
  std::map<std::string, std::string> env;
  for (const auto& [name, value] : proxy_environment()) env[name] = value;
  for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "npm_config_proxy",
                           "npm_config_https_proxy", "PIP_PROXY", "GIT_CONFIG_VALUE_0"})
    EXPECT_EQ(env[name], "http://127.0.0.1:3128") << name;
  EXPECT_EQ(env["NO_PROXY"], env["no_proxy"]);
  EXPECT_EQ(env["GIT_CONFIG_KEY_0"], "http.proxy");
}

}  // namespace
}  // namespace forge::egress
