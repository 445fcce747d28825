#include "orchestrator/base/loopback.h"

#include <gtest/gtest.h>

namespace forge {
namespace {

TEST(Loopback, IsThisMachineAndNoNameThatLooksLikeIt) {
  for (const char* own : {"localhost", "127.0.0.1", "127.8.9.10", "::1"}) EXPECT_TRUE(is_loopback_host(own)) << own;
  for (const char* other : {"", "localhost.example.com", "127.example.com", "128.0.0.1", "1127.0.0.1", "::2", "[::1]", "0.0.0.0"})
    EXPECT_FALSE(is_loopback_host(other)) << other;
}

TEST(Loopback, OfAnAuthorityIsThatOfItsHost) {
  for (const char* own : {"localhost:8700", "127.0.0.1", "127.0.0.1:80", "[::1]:80", "[::1]", "user@localhost"})
    EXPECT_TRUE(is_loopback_authority(own)) << own;
  for (const char* other : {"", "127.0.0.1@example.com", "127.example.com:80", "localhost.example.com", "[::2]:80", "[", "example.com:127"})
    EXPECT_FALSE(is_loopback_authority(other)) << other;
}

}  // namespace
}  // namespace forge
