#include "orchestrator/egress/address.h"

#include <gtest/gtest.h>

namespace forge::egress {
namespace {

bool is_public(const char* text) {
  const auto address = Address::parse(text);
  EXPECT_TRUE(address.has_value()) << text;
  return address && address->is_public();
}

TEST(Address, TakesOnlyPlainForms) {
  for (const char* good : {"1.2.3.4", "::1", "2606:4700::1111"}) EXPECT_TRUE(Address::parse(good)) << good;
  for (const char* bad :
       {"", "127.1", "0x7f000001", "2130706433", "1.2.3", "1.2.3.4.5", "fe80::1%eth0", "[::1]", "1.2.3.4 ", "example.com"})
    EXPECT_FALSE(Address::parse(bad)) << bad;
  EXPECT_FALSE(Address::parse(std::string_view("1.2.3.4\0x", 9)));
}

TEST(Address, PrintsTheShortForm) { EXPECT_EQ(Address::parse("2606:4700:0:0:0:0:0:1111")->text(), "2606:4700::1111"); }

TEST(Address, KnowsPublicOnes) {
  for (const char* address : {"1.1.1.1", "8.8.8.8", "93.184.215.14", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0",
                              "192.167.255.255", "169.253.255.255", "223.255.255.255", "198.17.255.255", "198.20.0.0", "168.63.129.15",
                              "2606:4700::1111", "2a00:1450:4001::1", "2001:4860:4860::8888"})
    EXPECT_TRUE(is_public(address)) << address;
}

TEST(Address, RefusesEveryPrivateBlockAtBothEnds) {
  for (const char* address :
       {"0.0.0.0",         "0.255.255.255",   "10.0.0.0",        "10.255.255.255",  "100.64.0.0",     "100.127.255.255", "127.0.0.1",
        "127.255.255.255", "169.254.0.0",     "169.254.169.254", "172.16.0.0",      "172.31.255.255", "192.0.0.1",       "192.0.2.1",
        "192.88.99.1",     "192.168.0.0",     "192.168.255.255", "198.18.0.0",      "198.19.255.255", "198.51.100.1",    "203.0.113.1",
        "224.0.0.1",       "239.255.255.255", "240.0.0.1",       "255.255.255.255", "168.63.129.16",  "100.100.100.200"})
    EXPECT_FALSE(is_public(address)) << address;
}

TEST(Address, RefusesIpv6ThatIsNotPublicOrHidesIpv4) {
  for (const char* address :
       {"::",      "::1",     "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1",   "64:ff9b::7f00:1", "64:ff9b:1::1",
        "100::1",  "2001::1", "2001:db8::1",      "2001:20::1",     "2002:7f00:1::", "2002:808:808::",  "3fff::1",
        "4000::1", "fc00::1", "fd00:ec2::254",    "fe80::1",        "fec0::1",       "ff02::1"})
    EXPECT_FALSE(is_public(address)) << address;
}

}  // namespace
}  // namespace forge::egress
