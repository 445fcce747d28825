#include "orchestrator/egress/host_rules.h"

#include <gtest/gtest.h>

#include "orchestrator/base/error.h"
#include "tests/support/errors.h"

namespace forge::egress {
namespace {

HostRules rules(const std::vector<std::string>& entries) { return HostRules::parse(entries, "network.allow_hosts"); }

TEST(HostRules, MatchesANameExactlyOnTheUsualPorts) {
  const HostRules allowed = rules({"Example.COM."});
  EXPECT_TRUE(allowed.match("example.com", 80));
  EXPECT_TRUE(allowed.match("example.com", 443));
  EXPECT_FALSE(allowed.match("example.com", 22));
  for (const char* other : {"www.example.com", "example.com.evil.org", "notexample.com", "example.co", "com", ""})
    EXPECT_FALSE(allowed.match(other, 443)) << other;
}

TEST(HostRules, MatchesAllNamesBelowOneButNotItself) {
  const HostRules allowed = rules({"*.example.com"});
  EXPECT_TRUE(allowed.match("a.example.com", 443));
  EXPECT_TRUE(allowed.match("a.b.example.com", 443));
  for (const char* other : {"example.com", "aexample.com", ".example.com", "a.example.com.org"})
    EXPECT_FALSE(allowed.match(other, 443)) << other;
}

TEST(HostRules, TakesAPortInsteadOfTheUsualOnes) {
  const HostRules allowed = rules({"example.com:8443", "*.local.test:65535"});
  EXPECT_TRUE(allowed.match("example.com", 8443));
  EXPECT_FALSE(allowed.match("example.com", 443));
  EXPECT_TRUE(allowed.match("x.local.test", 65535));
  EXPECT_TRUE(allowed.match_host("example.com"));
  EXPECT_FALSE(allowed.match_host("example.org"));
}

TEST(HostRules, TakesAddresses) {
  const HostRules allowed = rules({"192.0.2.1", "[2001:DB8::1]:8080", "2001:db8::2"});
  EXPECT_TRUE(allowed.match("192.0.2.1", 80));
  EXPECT_TRUE(allowed.match("2001:db8::1", 8080));
  EXPECT_TRUE(allowed.match("2001:db8::2", 443));
}

TEST(HostRules, MatchesNothingWhenEmpty) {
  EXPECT_TRUE(rules({}).empty());
  EXPECT_FALSE(rules({}).match("example.com", 443));
}

TEST(HostRules, RefusesWhatIsNoHostAndNamesIt) {
  for (const char* bad :
       {"", "*", "*.", "a b.com", "http://example.com", "example.com/path", "example.com:0", "example.com:65536", "example.com:x",
        "example.com:", "a..b", "-a.com", "*.*.com", "exa\nmple.com", "*.192.0.2.1", "user@example.com"}) {
    try {
      rules({"good.com", bad});
      ADD_FAILURE() << "accepted '" << bad << "'";
    } catch (const Error& e) {
      EXPECT_EQ(e.field(), "network.allow_hosts[1]") << bad;
    }
  }
}

TEST(HostRules, RefusesWhatTheProxyNeverDialsWhereHostsAreToBeReached) {
  for (const char* bad :
       {"localhost", "LocalHost.", "localhost:8080", "*.localhost", "app.localhost", "127.0.0.1", "127.8.9.1:80", "10.0.0.1", "172.16.0.1",
        "192.168.1.1:8443", "169.254.169.254", "[::1]", "::1", "[fd00::1]:80", "::ffff:10.0.0.1", "0.0.0.0"}) {
    EXPECT_NO_THROW(rules({bad})) << bad;
    const auto error = test::error_of([&] { HostRules::parse_allowed({"good.com", bad}, "network.allow_hosts"); });
    ASSERT_TRUE(error) << bad;
    EXPECT_EQ(error->field(), "network.allow_hosts[1]") << bad;
    EXPECT_EQ(error->code(), ErrorCode::invalid_argument) << bad;
  }
  for (const char* good : {"example.com", "localhost.example.com", "notlocalhost", "1.1.1.1", "[2606:4700::1111]:443", "127.example.com"})
    EXPECT_NO_THROW(HostRules::parse_allowed({good}, "network.allow_hosts")) << good;
}

TEST(HostRules, TakesNamesUpToTheLimitsOfTheNameSystem) {
  const std::string label(63, 'a');
  EXPECT_EQ(canonical_host(label + ".com"), label + ".com");
  EXPECT_EQ(canonical_host(label + "a.com"), "");
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'b');
  EXPECT_EQ(longest.size(), 253U);
  EXPECT_EQ(canonical_host(longest), longest);
  EXPECT_EQ(canonical_host(longest + "b"), "");
}

TEST(ParsePort, TakesDigitsInRangeOnly) {
  EXPECT_EQ(parse_port("1"), 1);
  EXPECT_EQ(parse_port("65535"), 65535);
  for (const char* bad : {"", "0", "65536", "-1", "+1", "1x", " 1", "99999999999999999999"}) EXPECT_EQ(parse_port(bad), 0) << bad;
}

}  // namespace
}  // namespace forge::egress
