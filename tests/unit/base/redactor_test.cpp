#include "orchestrator/base/redactor.h"

#include <gtest/gtest.h>

namespace forge {
namespace {

// Made at run time, so that no scanner takes this file for a leak.
std::string repeated(std::string_view prefix, char c, std::size_t count) { return std::string(prefix) + std::string(count, c); }

TEST(Redaction, TakesTheValuesItWasTold) {
  Redactor redactor;
  redactor.add("correct horse");
  EXPECT_EQ(redactor.apply("a correct horse, correct horse"), "a [redacted], [redacted]");
  EXPECT_EQ(redactor.apply("nothing here"), "nothing here");
  EXPECT_EQ(redactor.apply(""), "");
}

TEST(Redaction, TakesACredentialAlsoWithoutTheSchemeOfItsHeader) {
  Redactor redactor;
  redactor.add("Bearer canary-7d1f0c9a5e");
  redactor.add("basic dXNlcjpwYXNzd29yZA==");
  redactor.add("several ordinary words");
  EXPECT_EQ(redactor.apply("bad key canary-7d1f0c9a5e, dXNlcjpwYXNzd29yZA=="), "bad key [redacted], [redacted]");
  EXPECT_EQ(redactor.apply("ordinary words"), "ordinary words");
}

TEST(Redaction, IgnoresValuesThatAreTooShort) {
  Redactor redactor;
  redactor.add("1234567");
  redactor.add("");
  EXPECT_EQ(redactor.apply("1234567"), "1234567");
  redactor.add("12345678");
  EXPECT_EQ(redactor.apply("12345678"), "[redacted]");
}

TEST(Redaction, TakesTheLongerOfTwoThatOverlap) {
  Redactor redactor;
  redactor.add("password");
  redactor.add("password-extended");
  redactor.add("password");
  EXPECT_EQ(redactor.apply("password-extended password"), "[redacted] [redacted]");
}

TEST(Redaction, KnowsTokensByTheirShape) {
  const Redactor redactor;
  const std::string secrets[] = {repeated("ghs_", 'a', 36),   repeated("ghp_", 'B', 40),    repeated("github_pat_", 'c', 30),
                                 repeated("glpat-", 'd', 20), repeated("sk-ant-", 'e', 20), repeated("sk-proj-", 'f', 30),
                                 repeated("AKIA", 'G', 16),   repeated("AIza", 'h', 35),    repeated("forge_", 'i', 43)};
  for (const std::string& secret : secrets) EXPECT_EQ(redactor.apply("<" + secret + ">"), "<[redacted]>") << secret;
}

TEST(Redaction, LeavesOrdinaryTextAlone) {
  const Redactor redactor;
  const std::string texts[] = {"ghs_short",
                               "task-" + std::string(40, 'a'),
                               "sk-short",
                               "the bearer of news",
                               "Bearer authentication",
                               "AKIA is a prefix",
                               "forge_create_job",
                               "https://example.com:8080/a@b",
                               "ssh://git@example.com/x",
                               "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----"};
  for (const std::string& text : texts) EXPECT_EQ(redactor.apply(text), text);
}

TEST(Redaction, KeepsTheWordBearer) {
  EXPECT_EQ(Redactor().apply("Authorization: Bearer " + std::string(24, 'x') + "\r\n"), "Authorization: Bearer [redacted]\r\n");
}

TEST(Redaction, TakesThePasswordOutOfAnAddress) {
  EXPECT_EQ(Redactor().apply("cloning https://user:hunter2@example.com/r.git and https://:tok@h/"),
            "cloning https://user:[redacted]@example.com/r.git and https://:[redacted]@h/");
}

TEST(Redaction, TakesWholePrivateKeys) {
  const Redactor redactor;
  const std::string begin = std::string("-----BEGIN RSA ") + "PRIVATE KEY-----\n";
  const std::string end = std::string("-----END RSA ") + "PRIVATE KEY-----";
  EXPECT_EQ(redactor.apply("key:\n" + begin + "abc\ndef\n" + end + "\nrest"), "key:\n[redacted]\nrest");
  EXPECT_EQ(redactor.apply("key:\n" + begin + "abc\nde"), "key:\n[redacted]") << "cut off before its end";
}

TEST(Redaction, FindsAKeyBehindAnotherBlock) {
  const std::string certificate = "-----BEGIN CERTIFICATE-----\n" + std::string(100, 'x') + "\n-----END CERTIFICATE-----\n";
  const std::string key = std::string("-----BEGIN ") + "PRIVATE KEY-----\nabc\n-----END " + "PRIVATE KEY-----";
  EXPECT_EQ(Redactor().apply(certificate + key), certificate + "[redacted]");
}

TEST(Redaction, DoesNotMindItsOwnMark) {
  Redactor redactor;
  redactor.add("redacted]");
  const std::string once = redactor.apply("a redacted] b");
  EXPECT_EQ(once, "a [redacted] b");
}

}  // namespace
}  // namespace forge
