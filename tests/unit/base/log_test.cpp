#include "orchestrator/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/redactor.h"
#include "orchestrator/base/text.h"

namespace forge {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

template <typename Body>
std::string stderr_of(Body&& body) {
  testing::internal::CaptureStderr();
  body();
  return testing::internal::GetCapturedStderr();
}

TEST(Logs, AreJsonLinesInAFixedOrder) {
  const std::string text = stderr_of([] { make_stderr_log(LogLevel::info, nullptr)->info("started", {{"job", "j-1"}, {"attempt", 2}}); });
  EXPECT_TRUE(text.starts_with("{\"ts\":\"20")) << text;
  EXPECT_TRUE(text.ends_with("Z\",\"level\":\"info\",\"msg\":\"started\",\"job\":\"j-1\",\"attempt\":\"2\"}\n")) << text;
}

TEST(Logs, CarryTheTimeInUtc) {
  const std::string text = stderr_of([] { make_stderr_log(LogLevel::info, nullptr)->info("x"); });
  const std::string time = parse_json(text, "log").at("ts").get<std::string>();
  EXPECT_EQ(time.size(), std::string("2026-01-01T00:00:00.000Z").size());
  EXPECT_EQ(time.at(10), 'T');
  EXPECT_EQ(time.at(19), '.');
}

TEST(Logs, LeaveOutWhatIsBelowTheLevel) {
  const std::string text = stderr_of([] {
    const auto log = make_stderr_log(LogLevel::warn, nullptr);
    log->debug("one");
    log->info("two");
    log->warn("three");
    log->error("four");
  });
  EXPECT_THAT(text, Not(HasSubstr("two")));
  EXPECT_EQ(split_lines(text).size(), 2u);
}

TEST(Logs, HoldNoControlCharacterAndStayOneLine) {
  const std::string hostile =
      "line\nbreak \x1b[31m \x07 \x7f \xc2\x9b"
      "31m \xff \xc3\xa4";
  const std::string text = stderr_of([&] { make_stderr_log(LogLevel::info, nullptr)->info(hostile, {{"k", hostile}}); });
  EXPECT_EQ(split_lines(text).size(), 1u);
  for (const char c : text.substr(0, text.size() - 1)) {
    EXPECT_GE(static_cast<unsigned char>(c), 0x20);
    EXPECT_NE(c, '\x7f');
  }
  EXPECT_THAT(text, Not(HasSubstr("\xc2\x9b")));
  EXPECT_EQ(parse_json(text, "log").at("k").get<std::string>(), to_utf8(hostile).text) << "still the same text for a reader of JSON";
}

TEST(Logs, RedactMessagesAndFields) {
  Redactor redactor;
  redactor.add("pass\"word\nsecret");
  const std::string text = stderr_of([&] {
    make_stderr_log(LogLevel::info, &redactor)->info("using pass\"word\nsecret", {{"key", "sk-ant-" + std::string(20, 'e')}});
  });
  EXPECT_THAT(text, HasSubstr("\"msg\":\"using [redacted]\",\"key\":\"[redacted]\""));
}

TEST(Logs, KeepLinesOfSeveralThreadsApart) {
  const std::string text = stderr_of([] {
    const auto log = make_stderr_log(LogLevel::info, nullptr);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 50; ++j) log->info("message", {{"number", j}});
      });
  });
  const auto lines = split_lines(text);
  EXPECT_EQ(lines.size(), 200u);
  for (const auto line : lines) EXPECT_EQ(parse_json(line, "log").at("msg").get<std::string>(), "message");
}

TEST(Logs, MayBeSilent) {
  EXPECT_EQ(stderr_of([] { make_null_log()->error("nobody hears this"); }), "");
}

}  // namespace
}  // namespace forge
