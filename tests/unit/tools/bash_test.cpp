#include "tools/bash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tools/tool_call.h"
#include "tools/excerpt.h"

namespace forge::tools {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Bash, RunsInTheWorkspaceAndMergesBothStreams) {
  Bench bench;
  const ToolOutcome outcome = bench.call("bash", {{"command", "pwd; echo oops >&2; echo done"}});
  EXPECT_TRUE(outcome.ok);
  EXPECT_EQ(outcome.text, "/workspace\noops\ndone\n");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.bytes, 21);
  EXPECT_FALSE(outcome.truncated);
}

TEST(Bash, SaysWhenThereIsNoOutput) {
  Bench bench;
  EXPECT_EQ(bench.call("bash", {{"command", "true"}}).text, "(no output)\n");
}

TEST(Bash, ReportsTheExitCodeAsAFailure) {
  Bench bench;
  const ToolOutcome outcome = bench.call("bash", {{"command", "echo no; exit 3"}});
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.text, "no\n[exited with code 3]\n");
}

TEST(Bash, ReportsTheSignalThatKilledTheShell) {
  Bench bench;
  const ToolOutcome outcome = bench.call("bash", {{"command", "kill -9 $$"}});
  EXPECT_EQ(outcome.exit_code, 137);
  EXPECT_THAT(outcome.text, HasSubstr("[killed by signal 9]"));
}

TEST(Bash, KillsAfterTheGivenTimeAndSaysSo) {
  Bench bench;
  const ToolOutcome outcome = bench.call("bash", {{"command", "echo begun; cat /dev/zero > /dev/null"}, {"timeout_s", 1}});
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.text, StartsWith("begun\n[killed after 1 s"));
}

TEST(Bash, HasADefaultTimeOutAndNeverOutlivesTheRun) {
  Bench bench;
  bench.call("bash", {{"command", "true"}});
  EXPECT_EQ(bench.sandbox.commands().back().timeout, kDefaultBashTimeout);
  bench.call("bash", {{"command", "true"}, {"timeout_s", 600}}, Stop::after(std::chrono::seconds(30)));
  EXPECT_LE(bench.sandbox.commands().back().timeout, std::chrono::seconds(30));
}

TEST(Bash, ShowsAllOfAnOutputAtTheLimitOfLines) {
  Bench bench;
  const ToolOutcome outcome = bench.call("bash", {{"command", "seq 2000"}});
  EXPECT_FALSE(outcome.truncated);
  EXPECT_EQ(outcome.text, numbered_lines(2000));
}

TEST(Bash, CutsOneLineAboveTheLimitAndKeepsTheWhole) {
  Bench bench;
  const ToolOutcome outcome = bench.call("bash", {{"command", "seq 2001"}});
  EXPECT_TRUE(outcome.truncated);
  EXPECT_TRUE(outcome.ok);
  EXPECT_THAT(outcome.text, StartsWith("1\n2\n"));
  EXPECT_THAT(outcome.text, HasSubstr("\n400\n[... 4 B left out; the whole output is in /tmp/"));
  EXPECT_THAT(outcome.text, HasSubstr("...]\n402\n"));
  EXPECT_THAT(outcome.text, EndsWith("\n2001\n"));
  const std::size_t at = outcome.text.find("/tmp/");
  EXPECT_EQ(bench.get(outcome.text.substr(at, outcome.text.find(':', at) - at)), numbered_lines(2001));
}

TEST(Bash, ShowsAllOfAnOutputAtTheLimitOfBytesAndCutsOneAbove) {
  Bench bench;
  bench.put("/tmp/at", std::string(kMaxShownBytes - 1, 'x') + "\n");
  EXPECT_FALSE(bench.call("bash", {{"command", "cat /tmp/at"}}).truncated);
  bench.put("/tmp/above", std::string(kMaxShownBytes, 'x') + "\n");
  const ToolOutcome outcome = bench.call("bash", {{"command", "cat /tmp/above"}});
  EXPECT_TRUE(outcome.truncated);
  EXPECT_EQ(outcome.bytes, static_cast<std::int64_t>(kMaxShownBytes) + 1);
  EXPECT_LT(outcome.text.size(), kMaxShownBytes + 300);
}

TEST(Bash, ShowsTheFirstFifthAndTheLastFourFifthsOfALongOutput) {
  Bench bench;
  const ToolOutcome outcome = bench.call("bash", {{"command", "seq -f 'a line of some forty bytes, number %08g' 50000"}});
  EXPECT_TRUE(outcome.truncated);
  EXPECT_EQ(outcome.bytes, 2'200'000);
  const std::size_t cut = outcome.text.find("[... ");
  ASSERT_NE(cut, std::string::npos);
  EXPECT_LE(cut, kMaxShownBytes / 5);
  EXPECT_GT(cut, kMaxShownBytes / 5 - 100);
  EXPECT_THAT(outcome.text.substr(0, cut), EndsWith("\n"));  // whole lines
  EXPECT_THAT(outcome.text, HasSubstr("...]\na line "));
  EXPECT_THAT(outcome.text, EndsWith("number 00050000\n"));
  const std::size_t at = outcome.text.find("/tmp/");
  EXPECT_EQ(bench.get(outcome.text.substr(at, outcome.text.find(':', at) - at)).size(), 2'200'000U);
}

TEST(Bash, TellsWhenTheWholeOutputCouldNotBeKept) {
  Bench bench;
  bench.sandbox.failures.write_file = ErrorCode::limit_exceeded;
  const ToolOutcome outcome = bench.call("bash", {{"command", "seq 2001"}});
  EXPECT_THAT(outcome.text, HasSubstr("left out and not kept"));
}

TEST(Bash, ShowsBytesThatAreNoTextAsReplacements) {
  Bench bench;
  EXPECT_EQ(bench.call("bash", {{"command", R"(printf 'a\377\000b')"}}).text,
            "a\xEF\xBF\xBD\xEF\xBF\xBD"
            "b\n");
}

TEST(Bash, ShowsNoMoreOfBinaryOutputThanOfText) {
  Bench bench;
  for (const char* command : {"head -c 40000 /dev/zero", "head -c 400000 /dev/zero"}) {
    const ToolOutcome outcome = bench.call("bash", {{"command", command}});
    EXPECT_TRUE(outcome.truncated);
    EXPECT_LT(outcome.text.size(), kMaxShownBytes + 300) << command;
    EXPECT_THAT(outcome.text, HasSubstr("the whole output is in /tmp/"));
  }
}

TEST(Bash, NamesOutOfMemory) {
  Bench bench;
  bench.sandbox.failures.ended = sandbox::Ended::out_of_memory;
  EXPECT_THAT(bench.call("bash", {{"command", "true"}}).text, HasSubstr("ran out of memory"));
}

TEST(Bash, EndsTheRunWhenTheSandboxIsGone) {
  for (const sandbox::Ended gone : {sandbox::Ended::lifetime, sandbox::Ended::evicted, sandbox::Ended::driver_lost}) {
    Bench bench;
    bench.sandbox.failures.ended = gone;
    try {
      bench.call("bash", {{"command", "true"}});
      ADD_FAILURE() << name_of(gone);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::unavailable);
    }
  }
}

TEST(Bash, RefusesACommandThatNoProgramCouldTake) {
  Bench bench;
  const std::string longest = ": " + std::string(kMaxCommandBytes - 3, 'x');
  EXPECT_TRUE(bench.call("bash", {{"command", longest}}).ok);
  EXPECT_THAT(bench.call("bash", {{"command", longest + "x"}}).text, HasSubstr("write a script"));
  EXPECT_THAT(bench.call("bash", {{"command", std::string("a\0b", 3)}}).text, HasSubstr("NUL"));
}

TEST(Bash, SaysThatSomethingMoved) {
  Bench bench;
  int moved = 0;
  const Stop stop;
  bench.registry.call(Caller::agent, "bash", R"({"command": "echo x"})", {&bench.sandbox, stop, [&] { ++moved; }});
  EXPECT_GE(moved, 1);
}

TEST(Bash, StopsWithItsRun) {
  Bench bench;
  std::stop_source source;
  const Stop stop(source.get_token());
  const ToolContext context{&bench.sandbox, stop, [&] { source.request_stop(); }};
  try {
    bench.registry.call(Caller::agent, "bash", R"({"command": "echo x; cat /dev/zero > /dev/null"})", context);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::cancelled);
  }
}

}  // namespace
}  // namespace forge::tools
