#include "orchestrator/cli/console.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <sstream>
#include <thread>

#include "orchestrator/cli/exit_code.h"
#include "orchestrator/cli/live_line.h"
#include "orchestrator/cli/summary.h"
#include "tests/support/errors.h"

namespace forge::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(OneLine, CutsByCharactersAndSaysSo) {
  EXPECT_EQ(one_line("  two\nlines\t", 20), "two lines");
  EXPECT_EQ(one_line("0123456789", 10), "0123456789");
  EXPECT_EQ(one_line("0123456789x", 10), "0123456...");
  EXPECT_EQ(one_line("üüüüüüüüüü", 10), "üüüüüüüüüü");
  EXPECT_EQ(one_line("üüüüüüüüüüü", 10), "üüüüüüü...");
  EXPECT_EQ(one_line(std::string(1 << 20, 'a'), 10), "aaaaaaa...");
  EXPECT_EQ(one_line("", 10), "");
}

TEST(Fitted, KeepsTheIndentationOfALine) {
  EXPECT_EQ(fitted("    return x;  \n", 40), "    return x;");
  EXPECT_EQ(fitted("\tx", 40), " x");
  EXPECT_EQ(fitted("    0123456789", 10), "    012...");
}

TEST(Padded, CountsCharactersNotBytes) {
  EXPECT_EQ(padded("ü", 3), "ü  ");
  EXPECT_EQ(padded("long", 2), "long");
  EXPECT_EQ(columns_of("üb"), 2u);
}

TEST(Paint, LeavesTextAloneUnlessOn) {
  EXPECT_EQ(Paint{}.red("x"), "x");
  EXPECT_EQ(Paint{.on = true}.red("x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(Paint{.on = true}.bold(""), "");
}

TEST(Console, HasNoColourWithoutATerminal) {
  const Console console = standard_console();  // ctest gives pipes
  if (console.out_is_terminal || console.err_is_terminal) GTEST_SKIP() << "this run has a terminal";
  EXPECT_FALSE(console.out_paint.on);
  EXPECT_FALSE(console.err_paint.on);
  EXPECT_EQ(console.width, 100u);
}

TEST(Console, SaysThatStandardOutputCannotBeWritten) {
  std::ostringstream broken;
  broken.setstate(std::ios::badbit);
  std::ostringstream err;
  const Console console{.out = broken, .err = err};
  EXPECT_EQ(test::code_of([&] { console.print("x"); }), "unavailable");
}

TEST(LiveLine, PrintsPlainLinesWithoutATerminal) {
  std::ostringstream out;
  std::ostringstream err;
  const Console console{.out = out, .err = err};
  {
    LiveLine live(console);
    live.status("working");
    for (int i = 0; i < 100; ++i) live.note("line " + std::to_string(i));
  }
  std::string expected;
  for (int i = 0; i < 100; ++i) expected += "line " + std::to_string(i) + "\n";
  EXPECT_EQ(err.str(), expected);
}

TEST(LiveLine, TakesLinesFromSeveralThreads) {
  std::ostringstream out;
  std::ostringstream err;
  const Console console{.out = out, .err = err};
  {
    LiveLine live(console);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&live] {
        for (int j = 0; j < 50; ++j) live.note("x");
      });
  }
  EXPECT_EQ(err.str().size(), 4u * 50u * 2u);
}

TEST(LiveLine, LeavesNoStatusLineBehindOnATerminal) {
  std::ostringstream out;
  std::ostringstream err;
  const Console console{.out = out, .err = err, .err_is_terminal = true};
  {
    LiveLine live(console);
    live.status("turn 3");
    live.note("a line");
  }
  EXPECT_THAT(err.str(), HasSubstr("\r\x1b[Ka line\n"));
  const std::string last = err.str().substr(err.str().rfind("\x1b[K") + 3);
  EXPECT_TRUE(last.empty() || last.ends_with('\n')) << last;
}

TEST(Summary, WritesAgesForPeople) {
  EXPECT_EQ(age(0, 59'999), "just now");
  EXPECT_EQ(age(0, 60'000), "1 min");
  EXPECT_EQ(age(0, 3L * 3'600'000), "3 h");
  EXPECT_EQ(age(0, 48LL * 3'600'000), "2 d");
  EXPECT_EQ(age(10, 0), "just now") << "clocks differ";
}

TEST(Summary, QuotesWhatGoesIntoAShell) {
  Job job;
  job.id = JobId("06f3m2k9qaw5x7y8z9t0v1b2c3");
  job.spec.repository = "/srv/it's here; rm -rf ~";
  forge::Run run;
  run.state = JobState::succeeded;
  run.reason = Reason::completed;
  run.head_commit = std::string(40, '2');
  run.branch = "forge/06f3m2k9qa-1";
  run.pushed = true;
  EXPECT_THAT(run_summary(job, run, {}), HasSubstr("git -C '/srv/it'\\''s here; rm -rf ~' switch forge/06f3m2k9qa-1\n"));
  job.spec.repository = "https://h/r.git";
  EXPECT_THAT(run_summary(job, run, {}), HasSubstr("git fetch https://h/r.git forge/06f3m2k9qa-1 && git checkout FETCH_HEAD\n"));
}

TEST(Summary, SaysHowToFollowALiveRun) {
  Job job;
  job.id = JobId("06f3m2k9qaw5x7y8z9t0v1b2c3");
  forge::Run run;
  run.state = JobState::running;
  const std::string text = run_summary(job, run, {});
  EXPECT_THAT(text, StartsWith("run 1 running\n"));
  EXPECT_THAT(text, HasSubstr("forge show 06f3m2k9qa --follow\n"));
  EXPECT_THAT(text, Not(HasSubstr("retry")));
}

TEST(ExitCode, TellsHowARunEnded) {
  const auto code = [](JobState state, std::optional<Reason> reason) {
    forge::Run run;
    run.state = state;
    run.reason = reason;
    return number(exit_code_of(run));
  };
  EXPECT_EQ(code(JobState::succeeded, Reason::completed), 0);
  EXPECT_EQ(code(JobState::no_changes, Reason::no_changes), 3);
  EXPECT_EQ(code(JobState::cancelled, Reason::cancelled), 4);
  EXPECT_EQ(code(JobState::running, {}), 1);
  for (int i = 0; i <= static_cast<int>(Reason::interrupted); ++i) {
    const auto reason = static_cast<Reason>(i);
    if (state_of(reason) != JobState::failed) continue;
    const int expected = reason == Reason::budget_exhausted ? 5 : reason == Reason::timeout ? 6 : 1;
    EXPECT_EQ(code(JobState::failed, reason), expected) << name_of(reason);
  }
}

TEST(ExitCode, TellsWhatWentWrong) {
  const std::map<ErrorCode, int> table{{ErrorCode::invalid_argument, 2},
                                       {ErrorCode::unauthenticated, 2},
                                       {ErrorCode::permission_denied, 2},
                                       {ErrorCode::not_found, 1},
                                       {ErrorCode::conflict, 1},
                                       {ErrorCode::precondition_failed, 1},
                                       {ErrorCode::limit_exceeded, 1},
                                       {ErrorCode::unsupported, 2},
                                       {ErrorCode::busy, 7},
                                       {ErrorCode::unavailable, 7},
                                       {ErrorCode::timed_out, 6},
                                       {ErrorCode::cancelled, 4},
                                       {ErrorCode::corrupt, 1},
                                       {ErrorCode::budget_exhausted, 5},
                                       {ErrorCode::context_overflow, 1},
                                       {ErrorCode::sandbox_unavailable, 7},
                                       {ErrorCode::sandbox_policy, 1},
                                       {ErrorCode::sandbox_config, 2},
                                       {ErrorCode::internal, 1}};
  EXPECT_EQ(table.size(), static_cast<std::size_t>(ErrorCode::internal) + 1);
  for (const auto& [error, code] : table) EXPECT_EQ(number(exit_code_of(error)), code) << name_of(error);
}

}  // namespace
}  // namespace forge::cli
