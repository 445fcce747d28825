#include "orchestrator/config/formats.h"

#include <gtest/gtest.h>

namespace forge::config {
namespace {

struct Sample {
  const Format* format;
  std::vector<std::string> good;
  std::vector<std::string> bad;
};

TEST(Formats, TellGoodFromBad) {
  const std::string long_label(64, 'a');
  const std::vector<Sample> samples{
      {&kAddress,
       {"127.0.0.1:8700", "[::1]:0", "localhost:1", "forge.example.com:65535"},
       {"", ":80", "127.0.0.1", "[::1:80", "[::1]x80", "h:65536", "h:", "h:-1", "h:1a"}},
      {&kUrl,
       {"http://h", "https://forge.example.com/x", "http://[::1]:80/", "http://127.0.0.1:8080/v1"},
       {"", "h", "ftp://h", "http://", "http://u:p@h", "http://u@h/", "http://h?x=1", "http://h#x", "http://h/a b", "http://h:99999",
        "http://h:0/"}},
      {&kHost,
       {"example.com", "*.example.com", "a_b.internal", "10.0.0.1", "h:8080", "[::1]:80"},
       {"", "*", "*.", "a..b", "-a", "a-", "a b", "http://h", "*.*.com", "h:0", long_label}},
      {&kNetwork,
       {"10.0.0.0/8", "10.0.0.1", "::1", "fe80::/10"},
       {"", "10.0.0.0/33", "fe80::/129", "10.0.0/8", "host", "10.0.0.0/", "10.0.0.0/x"}},
      {&kAbsolutePath, {"/", "/srv/git"}, {"", "srv", "./x"}},
      {&kVariable, {"A", "_A1", "a_b"}, {"", "1A", "A-B", "A B", "A=B"}},
      {&kPersonName, {"Forge", "Jane Q. Doe"}, {"", "a<b", "a>b", "two\nlines"}},
      {&kEmail, {"forge@localhost", "a.b@c.d"}, {"", "forge", "a b@c", "<a@b>"}},
      {&kWord, {"pi", "acp:codex"}, {"", "two words", "tab\t"}},
      {&kModelName, {"anthropic/claude", "gpt", "scripted:/a file.json"}, {"", "two words", "scripted:\n"}},
  };
  for (const Sample& sample : samples) {
    for (const auto& text : sample.good) EXPECT_TRUE(sample.format->fits(text)) << sample.format->expected << ": " << text;
    for (const auto& text : sample.bad) EXPECT_FALSE(sample.format->fits(text)) << sample.format->expected << ": " << text;
  }
}

TEST(Formats, NameEntries) {
  for (const char* good : {"a", "code-interpreter-v1", "A_b.c"}) EXPECT_TRUE(fits_entry_name(good)) << good;
  for (const char* bad : {"", "a b", "a/b", "ü"}) EXPECT_FALSE(fits_entry_name(bad)) << bad;
  EXPECT_FALSE(fits_entry_name(std::string(65, 'a')));
  EXPECT_TRUE(fits_credential_host("git.example.com:8443"));
  EXPECT_FALSE(fits_credential_host("*.example.com"));
}

}  // namespace
}  // namespace forge::config
