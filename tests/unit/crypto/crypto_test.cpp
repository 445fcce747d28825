#include "orchestrator/crypto/crypto.h"

#include <gtest/gtest.h>

#include <set>

#include "orchestrator/base/error.h"

namespace forge::crypto {
namespace {

// Vectors of FIPS 180-2, appendix B, and of the empty message.
constexpr std::string_view kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::string_view kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr std::string_view kMillionA = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, MatchesThePublishedVectors) {
  EXPECT_EQ(sha256_hex(""), kEmpty);
  EXPECT_EQ(sha256_hex("abc"), kAbc);
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')), kMillionA);
}

TEST(Sha256, OfPiecesEqualsThatOfTheWhole) {
  Sha256 hash;
  hash.update("a");
  hash.update("");
  Sha256 moved = std::move(hash);
  moved.update("bc");
  EXPECT_EQ(moved.finish_hex(), kAbc);
}

TEST(Sha256, OfBytesWithNulCountsThemAll) { EXPECT_NE(sha256_hex(std::string_view("a\0b", 3)), sha256_hex("a")); }

TEST(Sha256, RefusesUseAfterTheEnd) {
  Sha256 hash;
  hash.finish_hex();
  EXPECT_THROW(hash.update("x"), Error);
  EXPECT_THROW(hash.finish_hex(), Error);
}

TEST(RandomToken, IsUnpaddedUrlSafeBase64OfTheAskedSize) {
  const std::string token = random_token(32);
  EXPECT_EQ(token.size(), 43u);
  EXPECT_EQ(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), std::string::npos);
  EXPECT_THROW(random_token(0), Error);
  EXPECT_EQ(random_token(1).size(), 2u);
}

TEST(RandomToken, NeverRepeats) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random_token(16));
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(EqualSecret, ComparesContentAndLength) {
  EXPECT_TRUE(equal_secret("secret", "secret"));
  EXPECT_TRUE(equal_secret("", ""));
  EXPECT_FALSE(equal_secret("secret", "secreT"));
  EXPECT_FALSE(equal_secret("secret", "secret1"));
  EXPECT_FALSE(equal_secret("secret", ""));
}

}  // namespace
}  // namespace forge::crypto
