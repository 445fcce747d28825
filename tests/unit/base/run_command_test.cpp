#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "orchestrator/base/process.h"
#include "tests/support/errors.h"
#include "tests/support/soon.h"

namespace forge {
namespace {

using std::chrono::milliseconds;
using test::code_of;
using test::soon;

constexpr std::size_t kPlenty = 1 << 20;

Output run_shell(const std::string& script, std::string_view input = "", std::size_t most = kPlenty, const Stop& stop = soon()) {
  return run_command({.argv = {"/bin/sh", "-c", script}, .env = {"PATH=/usr/bin:/bin"}}, input, most, stop);
}

TEST(RunningACommand, GivesOutputErrorsAndCode) {
  const Output output = run_shell("cat; echo problem >&2; exit 3", "hello");
  EXPECT_EQ(output.out, "hello");
  EXPECT_EQ(output.err, "problem\n");
  EXPECT_EQ(output.exit.code, 3);
}

TEST(RunningACommand, PumpsBothWaysAtOnce) {
  const std::string input(5 << 20, 'x');
  const Output output = run_shell("tee /dev/stderr", input, 6 << 20);
  EXPECT_EQ(output.out, input);
  EXPECT_EQ(output.err.size(), input.size());
}

TEST(RunningACommand, GivesAnEmptyInput) { EXPECT_EQ(run_shell("cat; echo end").out, "end\n"); }

TEST(RunningACommand, TakesTheLimitAndNotOneByteMore) {
  EXPECT_EQ(run_shell("printf 12345", "", 5).out, "12345");
  EXPECT_EQ(code_of([] { run_shell("printf 123456", "", 5); }), "limit_exceeded");
  EXPECT_EQ(code_of([] { run_shell("printf 123456 >&2", "", 5); }), "limit_exceeded");
}

TEST(RunningACommand, EndsEndlessOutput) {
  EXPECT_EQ(code_of([] { run_shell("yes", "", 100); }), "limit_exceeded");
}

TEST(RunningACommand, DoesNotMindAnInputThatNobodyReads) { EXPECT_TRUE(run_shell("exit 0", std::string(1 << 20, 'x')).exit.ok()); }

TEST(RunningACommand, EndsAtTheDeadline) {
  EXPECT_EQ(code_of([] { run_shell("sleep 100", "", kPlenty, Stop::after(milliseconds(5))); }), "timed_out");
}

TEST(RunningACommand, DoesNotWaitForWhatItLeftBehind) {
  EXPECT_EQ(run_shell("setsid sleep 5 & sleep 100 & echo done").out, "done\n") << "both hold the output open";
}

TEST(RunningACommand, EndsWithItsWholeGroupWhenCancelled) {
  Pipe started = make_pipe();
  std::stop_source source;
  UniqueFd grandchild;
  {
    const std::jthread canceller([&] {
      const std::string pid = read_some(started.read.get(), 20, soon());
      grandchild = open_process(std::stoi(pid));
      source.request_stop();
    });
    const std::string script = "sleep 100 & echo $! >&5; wait";
    const SpawnOptions options{.argv = {"/bin/sh", "-c", script}, .env = {"PATH=/usr/bin:/bin"}, .fds = {{started.write.get(), 5}}};
    EXPECT_EQ(code_of([&] { run_command(options, "", kPlenty, Stop(source.get_token())); }), "cancelled");
  }
  ASSERT_TRUE(grandchild);
  wait_ready(grandchild.get(), POLLIN, soon());
}

}  // namespace
}  // namespace forge
