#include "orchestrator/httpd/trusted_proxies.h"

#include <gtest/gtest.h>

#include "orchestrator/base/error.h"

namespace forge::httpd {
namespace {

std::string client(const std::vector<std::string>& trusted, const std::string& peer, const std::vector<std::string>& forwarded) {
  Request request;
  request.peer = peer;
  for (const std::string& value : forwarded) request.headers.push_back({"x-forwarded-for", value});
  return TrustedProxies(trusted).client_of(request);
}

TEST(TrustedProxies, AStrangersHeaderIsNotBelieved) {
  EXPECT_EQ(client({}, "203.0.113.9", {"1.1.1.1"}), "203.0.113.9");
  EXPECT_EQ(client({"10.0.0.0/8"}, "203.0.113.9", {"1.1.1.1"}), "203.0.113.9");
}

TEST(TrustedProxies, AProxyTellsItsClient) {
  EXPECT_EQ(client({"127.0.0.1"}, "127.0.0.1", {"203.0.113.9"}), "203.0.113.9");
  EXPECT_EQ(client({"127.0.0.1"}, "127.0.0.1", {}), "127.0.0.1");
  EXPECT_EQ(client({"fd00::/8"}, "fd00::1", {"2001:db8::7"}), "2001:db8::7");
}

TEST(TrustedProxies, WhatTheClientItselfWroteIsNotBelieved) {
  EXPECT_EQ(client({"127.0.0.1"}, "127.0.0.1", {"9.9.9.9, 203.0.113.9"}), "203.0.113.9");
  EXPECT_EQ(client({"127.0.0.1"}, "127.0.0.1", {"9.9.9.9", "203.0.113.9"}), "203.0.113.9");
  EXPECT_EQ(client({"127.0.0.1"}, "127.0.0.1", {"9.9.9.9, rubbish"}), "127.0.0.1");
}

TEST(TrustedProxies, ChainsAreFollowedThroughTrustedOnes) {
  EXPECT_EQ(client({"10.0.0.0/8", "127.0.0.1"}, "127.0.0.1", {"9.9.9.9, 203.0.113.9, 10.1.2.3"}), "203.0.113.9");
  EXPECT_EQ(client({"10.0.0.0/8"}, "10.0.0.1", {"10.0.0.2"}), "10.0.0.2");
}

TEST(TrustedProxies, NetworksEndAtTheirBit) {
  EXPECT_EQ(client({"10.0.0.0/9"}, "10.127.0.1", {"1.1.1.1"}), "1.1.1.1");
  EXPECT_EQ(client({"10.0.0.0/9"}, "10.128.0.1", {"1.1.1.1"}), "10.128.0.1");
  EXPECT_EQ(client({"0.0.0.0/0"}, "203.0.113.9", {"1.1.1.1"}), "1.1.1.1");
}

TEST(TrustedProxies, RefusesWhatIsNoNetwork) {
  for (const char* network : {"", "proxy", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "10.0.0/8", "fd00::/129", "10.0.0.0/-1"})
    EXPECT_THROW(TrustedProxies({network}), Error) << network;
}

}  // namespace
}  // namespace forge::httpd
