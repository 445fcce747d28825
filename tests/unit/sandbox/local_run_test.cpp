#include <algorithm>
#include <thread>

#include "tests/support/errors.h"
#include "tests/unit/sandbox/local_fixture.h"

namespace forge::sandbox {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::code_of;
using testing::HasSubstr;
using testing::StartsWith;

using LocalRun = LocalSandboxTest;

TEST_F(LocalRun, ReportsExitCodeAndBothStreams) {
  const auto sandbox = acquire();
  const CommandResult result = shell(*sandbox, "echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.ended, Ended::exited);
  EXPECT_EQ(result.exit.code, 3);
  EXPECT_EQ(result.out.text(), "out\n");
  EXPECT_EQ(result.err.text(), "err\n");
  EXPECT_EQ(result.full_output_path, "");
}

TEST_F(LocalRun, ReportsTheSignalThatEndedACommand) {
  const auto sandbox = acquire();
  const CommandResult result = shell(*sandbox, "kill -SEGV $$");
  EXPECT_EQ(result.ended, Ended::exited);
  EXPECT_EQ(result.exit.signal, 11);
}

TEST_F(LocalRun, MergesOutputInArrivalOrder) {
  const auto sandbox = acquire();
  const CommandResult result = sandbox->run({.argv = {"sh", "-c", "echo 1; echo 2 >&2; echo 3; echo 4 >&2"}, .merge_output = true}, soon());
  EXPECT_EQ(result.out.text(), "1\n2\n3\n4\n");
  EXPECT_EQ(result.err.bytes, 0);
}

TEST_F(LocalRun, LetsACommandOpenItsStreamsByName) {
  const auto sandbox = acquire();
  const CommandResult result =
      sandbox->run({.argv = {"sh", "-c", "echo a > /dev/stdout; echo b > /dev/stderr; cat /dev/stdin"}, .input = "c"}, soon());
  EXPECT_EQ(result.out.text(), "a\nc");
  EXPECT_EQ(result.err.text(), "b\n");
}

TEST_F(LocalRun, StreamsOutputWhileTheCommandRuns) {
  const auto sandbox = acquire();
  std::string seen;
  CommandSpec command{.argv = {"sh", "-c", "echo ready; read line < /tmp/go; echo $line"}};
  command.on_output = [&](std::string_view piece, bool is_stderr) {
    EXPECT_FALSE(is_stderr);
    seen += piece;
  };
  // The command goes on only after its first line was seen outside: a second one writes the FIFO then.
  ASSERT_EQ(output(*sandbox, "mkfifo /tmp/go; (echo went > /tmp/go) >/dev/null 2>&1 & echo"), "\n");
  EXPECT_TRUE(sandbox->run(command, soon()).exit.ok());
  EXPECT_EQ(seen, "ready\nwent\n");
}

TEST_F(LocalRun, KeepsHeadAndTailOfALongOutputAndTheWholeInAFile) {
  const auto sandbox = acquire();
  CommandSpec command{.argv = {"sh", "-c", "seq 1 100000; echo late >&2"}, .max_output_bytes = 1000, .keep_full_output = true};
  const CommandResult result = sandbox->run(command, soon());
  EXPECT_EQ(result.out.bytes, 588'895);
  EXPECT_EQ(result.out.cut_bytes, 587'895);
  EXPECT_THAT(result.out.head, StartsWith("1\n2\n"));
  EXPECT_EQ(result.out.head.size(), 200U);
  EXPECT_TRUE(result.out.tail.ends_with("\n100000\n"));
  ASSERT_THAT(result.full_output_path, StartsWith("/tmp/"));
  const std::string whole = sandbox->read_file(result.full_output_path, 1 << 20, soon());
  EXPECT_EQ(whole.size(), 588'900U);  // both streams
  EXPECT_THAT(whole, StartsWith("1\n2\n"));
  EXPECT_THAT(whole, HasSubstr("late\n"));
}

TEST_F(LocalRun, WritesNoFileForAnOutputThatWasKeptWhole) {
  const auto sandbox = acquire();
  const CommandResult result = sandbox->run({.argv = {"echo", "short"}, .keep_full_output = true}, soon());
  EXPECT_EQ(result.full_output_path, "");
  EXPECT_EQ(output(*sandbox, "ls /tmp"), "");
}

TEST_F(LocalRun, GivesInputAndThenItsEnd) {
  const auto sandbox = acquire();
  const std::string input(300'000, 'x');
  EXPECT_EQ(sandbox->run({.argv = {"wc", "-c"}, .input = input}, soon()).out.text(), "300000\n");
  EXPECT_EQ(sandbox->run({.argv = {"wc", "-c"}}, soon()).out.text(), "0\n");
}

TEST_F(LocalRun, StartsInTheWorkTreeWithExactlyTheDocumentedEnvironment) {
  SandboxSpec wanted = spec();
  wanted.env = {{"FROM_SPEC", "1"}, {"TZ", "Asia/Tokyo"}};
  const auto sandbox = acquire(wanted);
  CommandSpec command{.argv = {"/usr/bin/env"}, .env = {{"FROM_COMMAND", "2"}}};
  std::string text = sandbox->run(command, soon()).out.text();
  EXPECT_EQ(text,
            "PATH=/usr/local/bin:/usr/bin:/bin\nHOME=/home/agent\nUSER=agent\nLOGNAME=agent\nSHELL=/bin/bash\nLANG=C.UTF-8\n"
            "TZ=Asia/Tokyo\nFROM_SPEC=1\nFROM_COMMAND=2\n");
  EXPECT_EQ(output(*sandbox, "pwd; id -un; id -u; id -g; hostname"), "/workspace\nagent\n1000\n1000\nsandbox\n");
}

TEST_F(LocalRun, TakesAnyBytesInArguments) {
  const auto sandbox = acquire();
  const std::string odd = "a\nb\xff\xfe'\"$x";
  EXPECT_EQ(sandbox->run({.argv = {"printf", "%s", odd}}, soon()).out.text(), odd);
  const std::string large(100'000, 'y');
  EXPECT_EQ(sandbox->run({.argv = {"printf", "%s", large}, .env = {{"LARGE", large}}}, soon()).out.bytes, 100'000);
}

TEST_F(LocalRun, SaysWhatDidNotStart) {
  const auto sandbox = acquire();
  EXPECT_EQ(code_of([&] { sandbox->run({.argv = {"no-such-program"}}, soon()); }), "not_found");
  EXPECT_EQ(code_of([&] { sandbox->run({.argv = {"/etc/passwd"}}, soon()); }), "permission_denied");
  EXPECT_EQ(code_of([&] { sandbox->run({.argv = {"true"}, .cwd = "/no/such"}, soon()); }), "not_found");
  EXPECT_EQ(code_of([&] { sandbox->run({.argv = {}}, soon()); }), "invalid_argument");
  EXPECT_EQ(code_of([&] { sandbox->run({.argv = {"true"}, .env = {{"A=B", "c"}}}, soon()); }), "invalid_argument");
  EXPECT_EQ(code_of([&] { sandbox->run({.argv = {"printf", std::string("a\0b", 3)}}, soon()); }), "invalid_argument");
  EXPECT_EQ(output(*sandbox, "echo alive"), "alive\n");
}

TEST_F(LocalRun, GivesACommandExactlyThreeDescriptors) {
  const auto sandbox = acquire();
  // ls opens the directory itself: one number more, which is gone when it has been listed.
  EXPECT_EQ(output(*sandbox, "for fd in /proc/self/fd/*; do [ -e $fd ] && basename $fd; done; true"), "0\n1\n2\n");
  EXPECT_EQ(sandbox->run({.argv = {"ls", "/proc/self/fd"}, .input = "x", .merge_output = true}, soon()).out.text(), "0\n1\n2\n3\n");
}

TEST_F(LocalRun, EndsACommandThatTakesTooLongAndKeepsTheSandbox) {
  const auto sandbox = acquire();
  const CommandResult result = shell(*sandbox, "echo begun; sleep infinity & sleep infinity", seconds(1));
  EXPECT_EQ(result.ended, Ended::timed_out);
  EXPECT_EQ(result.out.text(), "begun\n");
  EXPECT_EQ(result.exit.signal, 15);
  // Through a pipe the shell's other children would be seen, too, under their own name or still under the shell's.
  EXPECT_EQ(output(*sandbox, "ps -e -o comm= > /tmp/seen; sort -u /tmp/seen"), "ps\nsh\n");
}

TEST_F(LocalRun, KillsWhatIgnoresSigterm) {
  const auto sandbox = acquire(spec_with());
  const CommandResult result = attack(*sandbox, {"deaf"}, seconds(1));
  EXPECT_EQ(result.ended, Ended::timed_out);
  EXPECT_EQ(result.exit.signal, 9);
  EXPECT_GE(result.duration_ms, 2000);
  EXPECT_EQ(output(*sandbox, "ps -e -o comm= | grep -c attacker || true"), "0\n");
}

TEST_F(LocalRun, KillsADaemonOfATimedOutCommand) {
  const auto sandbox = acquire(spec_with());
  const CommandResult result = attack(*sandbox, {"daemon-and-wait"}, seconds(1));
  EXPECT_EQ(result.ended, Ended::timed_out);
  EXPECT_EQ(output(*sandbox, "ps -e -o comm= | grep -c attacker || true"), "0\n");
}

TEST_F(LocalRun, LeavesBackgroundProcessesOfEarlierCommandsAloneWhenALaterOneIsKilled) {
  const auto sandbox = acquire();
  ASSERT_THAT(output(*sandbox, "yes & echo $! > /tmp/pid; echo left"), HasSubstr("left\n"));
  EXPECT_EQ(shell(*sandbox, "sleep infinity", milliseconds(100)).ended, Ended::timed_out);
  // It also outlived the reader of its output: somebody goes on emptying the pipe.
  EXPECT_EQ(output(*sandbox, "kill -0 $(cat /tmp/pid) && echo alive"), "alive\n");
}

TEST_F(LocalRun, CatchesAProcessThatForksAwayFromEverySignal) {
  const auto sandbox = acquire(spec_with());
  const CommandResult result = attack(*sandbox, {"comet"}, milliseconds(500));
  EXPECT_EQ(result.ended, Ended::timed_out);
  EXPECT_EQ(output(*sandbox, "ps -e -o comm= | grep -c attacker || true"), "0\n");
}

TEST_F(LocalRun, EndsTheCommandBeforeItSaysCancelled) {
  const auto sandbox = acquire();
  std::stop_source source;
  CommandSpec command{.argv = {"sh", "-c", "echo up; sleep infinity"}};
  command.on_output = [&](std::string_view, bool) { source.request_stop(); };
  const Stop stop(source.get_token());
  EXPECT_EQ(code_of([&] { sandbox->run(command, stop); }), "cancelled");
  EXPECT_EQ(output(*sandbox, "ps -e -o comm= | grep -c sleep || true"), "0\n");
}

TEST_F(LocalRun, EndsTheCommandWhenTheCallersDeadlinePasses) {
  const auto sandbox = acquire();
  EXPECT_EQ(code_of([&] { sandbox->run({.argv = {"sleep", "1000"}}, Stop::after(milliseconds(50))); }), "timed_out");
  EXPECT_EQ(output(*sandbox, "ps -e -o comm= | grep -c sleep || true"), "0\n");
}

TEST_F(LocalRun, EndsTheCommandWhenTheReaderOfItsOutputThrows) {
  const auto sandbox = acquire();
  CommandSpec command{.argv = {"sh", "-c", "echo up; sleep infinity"}};
  command.on_output = [](std::string_view, bool) { throw Error(ErrorCode::corrupt, "no"); };
  EXPECT_EQ(code_of([&] { sandbox->run(command, soon()); }), "corrupt");
  EXPECT_EQ(output(*sandbox, "ps -e -o comm= | grep -c sleep || true"), "0\n");
}

TEST_F(LocalRun, DrainsEndlessOutputWithoutKeepingIt) {
  const auto sandbox = acquire();
  CommandSpec command{.argv = {"yes"}, .timeout = milliseconds(300), .max_output_bytes = 1000};
  const CommandResult result = sandbox->run(command, soon());
  EXPECT_EQ(result.ended, Ended::timed_out);
  EXPECT_EQ(result.out.head.size() + result.out.tail.size(), 1000U);
  EXPECT_GT(result.out.cut_bytes, 1'000'000);
}

TEST_F(LocalRun, SaysKilledWhenACommandKillsItsOwnWatcher) {
  const auto sandbox = acquire(spec_with());
  ASSERT_TRUE(attack(*sandbox, {"daemon"}).exit.ok());
  const CommandResult result = attack(*sandbox, {"kill-everybody"});
  // It shot the keeper, and is killed with all that runs; pid 1 does not hear signals from inside.
  EXPECT_EQ(result.ended, Ended::killed);
  EXPECT_EQ(output(*sandbox, "ps -e -o comm= | grep -c attacker || true"), "0\n");
}

TEST_F(LocalRun, EndsWithItsLifetimeAndSaysSo) {
  SandboxSpec wanted = spec();
  wanted.lifetime = milliseconds(1500);
  const auto sandbox = acquire(wanted);
  const CommandResult result = shell(*sandbox, "echo begun; sleep infinity");
  EXPECT_EQ(result.ended, Ended::lifetime);
  EXPECT_EQ(result.out.text(), "begun\n");
  try {
    shell(*sandbox, "true");
    FAIL() << "a dead sandbox ran a command";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::unavailable);
    EXPECT_THAT(e.what(), HasSubstr("lifetime"));
  }
}

TEST_F(LocalRun, SaysThatItWasHaltedOrReleased) {
  const auto sandbox = acquire();
  sandbox->halt(soon());
  sandbox->halt(soon());
  EXPECT_EQ(code_of([&] { shell(*sandbox, "true"); }), "unavailable");
  sandbox->release();
  sandbox->release();
  EXPECT_EQ(code_of([&] { sandbox->read_file("/etc/passwd", 1000, soon()); }), "unavailable");
}

TEST_F(LocalRun, HandsOutEachListenerOnceAndItWorks) {
  SandboxSpec wanted = spec_with();
  wanted.listener_ports = {kProxyPort, kModelPort};
  const auto sandbox = acquire(wanted);
  const UniqueFd listener = sandbox->take_listener(kModelPort);
  EXPECT_EQ(code_of([&] { sandbox->take_listener(kModelPort); }), "conflict");
  EXPECT_EQ(code_of([&] { sandbox->take_listener(9); }), "not_found");
  EXPECT_EQ(attack(*sandbox, {"tcp", "127.0.0.1", std::to_string(kModelPort)}).out.text(), "0\n");
  wait_ready(listener.get(), 1, soon());
}

}  // namespace
}  // namespace forge::sandbox
