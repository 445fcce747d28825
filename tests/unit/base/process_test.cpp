#include "orchestrator/base/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "tests/support/errors.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace forge {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::code_of;
using test::soon;
using testing::HasSubstr;

SpawnOptions shell(const std::string& script) { return {.argv = {"/bin/sh", "-c", script}, .env = {"PATH=/usr/bin:/bin"}}; }

/// A child whose standard output we read.
struct Talking {
  explicit Talking(SpawnOptions options) : child(start(options)) { pipe.write.reset(); }
  Child start(SpawnOptions& options) {
    options.fds.emplace_back(pipe.write.get(), 1);
    return Child::spawn(options);
  }
  std::string line() {
    std::string text;
    while (!text.ends_with('\n')) {
      const std::string piece = read_some(pipe.read.get(), 1, soon());
      if (piece.empty()) return text;
      text += piece;
    }
    text.pop_back();
    return text;
  }
  std::string all() { return read_all(pipe.read.get(), 1 << 20, soon()); }

  Pipe pipe = make_pipe();
  Child child;
};

/// Waits until `pid` has ended; the descriptor was taken while it lived, so that the number cannot mean another process.
struct Watched {
  explicit Watched(const std::string& pid) : fd(open_process(std::stoi(pid))) {}
  void expect_gone() const { wait_ready(fd.get(), POLLIN, soon()); }
  UniqueFd fd;
};

TEST(Spawning, TellsHowTheChildEnded) {
  EXPECT_EQ(Child::spawn(shell("exit 3")).wait(soon()).code, 3);
  const Exit killed = Child::spawn(shell("kill -9 $$")).wait(soon());
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.code, std::nullopt);
  EXPECT_FALSE(killed.ok());
}

TEST(Spawning, TellsTheEndAgain) {
  Child child = Child::spawn(shell("exit 3"));
  child.wait(soon());
  EXPECT_EQ(child.wait(soon()).code, 3);
  EXPECT_EQ(child.terminate(seconds(1)).code, 3);
  child.signal(SIGKILL);  // nobody is there to get it
}

TEST(Spawning, SaysWhyAProgramCannotBeExecuted) {
  const test::TempDir dir;
  test::write_file(dir / "text", "no program");
  EXPECT_EQ(code_of([] { Child::spawn({.argv = {"/nonexistent/program"}}); }), "not_found");
  EXPECT_EQ(code_of([&] { Child::spawn({.argv = {(dir / "text").string()}}); }), "permission_denied");
  EXPECT_EQ(code_of([] { Child::spawn({.argv = {"true"}}); }), "internal") << "nothing is searched";
  const auto error = test::error_of([] { Child::spawn({.argv = {"/bin/true"}, .cwd = "/nonexistent"}); });
  EXPECT_STREQ(error->what(), "entering the directory '/nonexistent': No such file or directory");
}

TEST(Spawning, RefusesNulBytes) {
  EXPECT_EQ(code_of([] { Child::spawn({.argv = {"/bin/true", std::string("a\0b", 3)}}); }), "invalid_argument");
}

TEST(Spawning, InheritsNothingOfTheEnvironment) {
  Talking env({.argv = {"/usr/bin/env"}, .env = {"ONLY=this"}});
  EXPECT_EQ(env.all(), "ONLY=this\n");
}

TEST(Spawning, EntersTheDirectory) {
  const test::TempDir dir;
  Talking pwd({.argv = {"/bin/pwd"}, .cwd = dir.str()});
  EXPECT_EQ(pwd.line(), dir.str());
}

TEST(Spawning, ClosesEveryOtherDescriptor) {
  const UniqueFd low = checked_fd(::open("/dev/null", O_RDONLY), "opening");  // NOLINT(android-cloexec-open): inheritable on purpose
  const UniqueFd high = checked_fd(::fcntl(low.get(), F_DUPFD, 500), "duplicating");
  Talking list({.argv = {"/bin/ls", "/proc/self/fd"}, .fds = {{low.get(), 7}}});
  EXPECT_EQ(list.all(), "0\n1\n2\n3\n7\n") << "3 is the listing itself";
}

TEST(Spawning, GivesDevNullForTheStandardDescriptors) {
  Talking links(shell("readlink /proc/self/fd/0 /proc/self/fd/2"));
  EXPECT_EQ(links.all(), "/dev/null\n/dev/null\n");
}

TEST(Spawning, PlacesDescriptorsWhoseNumbersCross) {
  Pipe first = make_pipe();
  Pipe second = make_pipe();
  const int a = first.write.get();
  const int b = second.write.get();
  ASSERT_LT(std::max(a, b), 100);
  SpawnOptions options = shell("echo to-a >&" + std::to_string(a) + "; echo to-b >&" + std::to_string(b));
  if (a > 9 || b > 9) options.argv = {"/bin/bash", "-c", options.argv[2]};  // dash knows one digit only
  options.fds = {{a, b}, {b, a}};
  EXPECT_TRUE(Child::spawn(options).wait(soon()).ok());
  EXPECT_EQ(read_some(first.read.get(), 100, soon()), "to-b\n");
  EXPECT_EQ(read_some(second.read.get(), 100, soon()), "to-a\n");
}

TEST(Spawning, RefusesOneNumberForTwoDescriptors) {
  EXPECT_EQ(code_of([] { Child::spawn({.argv = {"/bin/true"}, .fds = {{0, 5}, {1, 5}}}); }), "internal");
}

TEST(Spawning, MakesASessionUnlessToldOtherwise) {
  Child own = Child::spawn(shell("sleep 100"));
  EXPECT_EQ(::getsid(own.pid()), own.pid());
  SpawnOptions options = shell("sleep 100");
  options.new_session = false;
  Child shared = Child::spawn(options);
  EXPECT_EQ(::getsid(shared.pid()), ::getsid(0));
  EXPECT_EQ(shared.terminate(seconds(5)).signal, SIGTERM);
}

TEST(Spawning, StartsWithFreshSignals) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto old_handler = std::signal(SIGPIPE, SIG_IGN);
  Talking status({.argv = {"/bin/cat", "/proc/self/status"}});
  const std::string none = "0000000000000000\n";
  EXPECT_THAT(status.all(), HasSubstr("SigBlk:\t" + none + "SigIgn:\t" + none + "SigCgt:\t" + none));
  static_cast<void>(std::signal(SIGPIPE, old_handler));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Spawning, LimitsTheMemory) {
  SpawnOptions options = shell("ulimit -v");
  options.memory_limit_bytes = std::size_t{512} << 20;
  EXPECT_EQ(Talking(options).line(), std::to_string(512 << 10));
}

TEST(Waiting, LeavesTheChildAliveWhenItsTimeIsOver) {
  Child child = Child::spawn(shell("sleep 100"));
  EXPECT_EQ(code_of([&] { child.wait(Stop::after(milliseconds(2))); }), "timed_out");
  EXPECT_EQ(::kill(child.pid(), 0), 0);
}

TEST(Children, TakeTheirGroupWithThem) {
  std::optional<Talking> talking(std::in_place, shell("sleep 100 & echo $!; wait"));
  const Watched grandchild(talking->line());
  talking.reset();
  grandchild.expect_gone();
}

TEST(Children, AreEndedWhenAnotherTakesTheirPlace) {
  Child child = Child::spawn(shell("sleep 100"));
  const Watched first(std::to_string(child.pid()));
  child = Child::spawn(shell("exit 4"));
  first.expect_gone();
  EXPECT_EQ(child.wait(soon()).code, 4);
}

TEST(Terminating, LetsTheChildCleanUp) {
  Talking talking(shell("trap 'exit 7' TERM; echo ready; sleep 100 & wait"));
  ASSERT_EQ(talking.line(), "ready");
  EXPECT_EQ(talking.child.terminate(seconds(50)).code, 7);
}

TEST(Terminating, KillsWhatIgnoresIt) {
  Talking talking(shell("trap '' TERM; echo ready; while :; do sleep 100; done"));
  ASSERT_EQ(talking.line(), "ready");
  EXPECT_EQ(talking.child.terminate(milliseconds(5)).signal, SIGKILL);
}

TEST(Terminating, KillsTheRestOfTheGroupToo) {
  Talking talking(shell("(trap '' TERM; sleep 100 & echo $!; wait; sleep 100) & trap 'exit 0' TERM; wait"));
  const Watched grandchild(talking.line());
  talking.child.terminate(seconds(50));
  grandchild.expect_gone();
}

TEST(StartTimes, NameOneProcess) {
  const auto ours = process_start_ticks(::getpid());
  ASSERT_TRUE(ours);
  EXPECT_GT(*ours, 0u);
  Child child = Child::spawn(shell("sleep 100"));
  EXPECT_GE(process_start_ticks(child.pid()).value_or(0), *ours);
  child.terminate(seconds(5));
  EXPECT_FALSE(process_start_ticks(child.pid()));
  EXPECT_EQ(code_of([&] { open_process(child.pid()); }), "not_found");
}

}  // namespace
}  // namespace forge
