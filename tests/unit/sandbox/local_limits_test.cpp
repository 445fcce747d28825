#include <sys/resource.h>

#include <filesystem>

#include "orchestrator/base/process.h"
#include "orchestrator/base/text.h"
#include "tests/unit/sandbox/local_fixture.h"

namespace forge::sandbox {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

using LocalLimits = LocalSandboxTest;

TEST_F(LocalLimits, AreListedAsEnforcedAndNothingIsLeftOut) {
  const auto sandbox = acquire();
  EXPECT_THAT(sandbox->unenforced(), testing::IsEmpty());
  const auto& lines = sandbox->enforced();
  for (const char* part : {"memory 256.0 MiB", "processes 64", "cpu 2000", "disk 64.0 MiB", "network none", "seccomp", "lifetime"})
    EXPECT_THAT(lines, testing::Contains(HasSubstr(part))) << part;
}

TEST_F(LocalLimits, AForkBombMeetsTheProcessLimitAndLeavesTheSandboxUsable) {
  const auto sandbox = acquire(spec_with());
  const CommandResult result = attack(*sandbox, {"bomb"});
  ASSERT_TRUE(result.exit.ok());
  const int born = std::stoi(result.out.text());
  EXPECT_GT(born, 40);
  EXPECT_LE(born, 64);
  // The bomb's children are background processes now and hold every place of the job; there is still one to clean up from.
  EXPECT_EQ(output(*sandbox, "echo alive"), "alive\n");
  EXPECT_EQ(shell(*sandbox, "kill -9 -1").ended, Ended::killed);
  EXPECT_EQ(output(*sandbox, "ps -e -o comm= | grep -c attacker || true"), "0\n");
}

TEST_F(LocalLimits, ABombThatRunsOutOfTimeIsGoneAfterwards) {
  const auto sandbox = acquire(spec_with());
  EXPECT_EQ(
      sandbox->run({.argv = {"bash", "-c", "bomb() { bomb | bomb & }; bomb; sleep infinity"}, .timeout = milliseconds(300)}, soon()).ended,
      Ended::timed_out);
  EXPECT_EQ(output(*sandbox, "ps -e -o comm= | grep -c sleep || true"), "0\n");
}

TEST_F(LocalLimits, AMemoryHogIsKilledAndTheResultSaysWhy) {
  const auto sandbox = acquire(spec_with());
  const CommandResult result = attack(*sandbox, {"hog"});
  EXPECT_EQ(result.ended, Ended::out_of_memory);
  EXPECT_EQ(result.exit.signal, 9);
  EXPECT_EQ(output(*sandbox, "echo alive"), "alive\n");
  const CommandResult next = shell(*sandbox, "exit 1");
  EXPECT_EQ(next.ended, Ended::exited) << "an old kill is not told twice";
}

TEST_F(LocalLimits, AChildThatWasKilledForMemoryIsToldWhenItsParentFails) {
  const auto sandbox = acquire(spec_with());
  EXPECT_EQ(shell(*sandbox, "/workspace/attacker hog; exit 3").ended, Ended::out_of_memory);
  EXPECT_EQ(shell(*sandbox, "/workspace/attacker hog; exit 0").ended, Ended::exited);
}

TEST_F(LocalLimits, AFullDiskSaysSoBeforeMemoryEnds) {
  SandboxSpec wanted = spec_with();
  wanted.contents.limits.memory_bytes = 64 << 20;
  wanted.contents.limits.upper_bytes = 1 << 30;
  const auto sandbox = acquire(wanted);
  for (const char* place : {"/tmp", "/dev/shm", "/workspace", "/home/agent"}) {
    const CommandResult result = shell(*sandbox, std::string("for i in 1 2 3 4; do head -c 40M /dev/zero > ") + place +
                                                     "/fill$i || break; done; rm -f " + place + "/fill*");
    EXPECT_THAT(result.err.text(), HasSubstr("No space left on device")) << place;
    EXPECT_EQ(result.ended, Ended::exited) << place;
  }
  EXPECT_EQ(output(*sandbox, "echo alive > /tmp/a; cat /tmp/a"), "alive\n");
}

TEST_F(LocalLimits, OneCapCountsForAllWritablePlaces) {
  const auto sandbox = acquire();
  EXPECT_TRUE(shell(*sandbox, "head -c 40M /dev/zero > /tmp/a").exit.ok());
  EXPECT_FALSE(shell(*sandbox, "head -c 40M /dev/zero > /workspace/b").exit.ok());
}

TEST_F(LocalLimits, ManySmallFilesMeetTheirLimitToo) {
  SandboxSpec wanted = spec();
  wanted.contents.limits.upper_inodes = 500;
  const auto sandbox = acquire(wanted);
  const CommandResult result = sandbox->run({.argv = {"bash", "-c", "for i in {1..600}; do : > /tmp/$i || break; done; echo $i"}}, soon());
  EXPECT_THAT(result.err.text(), HasSubstr("No space left on device"));
  EXPECT_LT(std::stoi(result.out.text()), 500);
}

TEST_F(LocalLimits, OpenFilesAndCoreFilesAreLimited) {
  SandboxSpec wanted = spec();
  wanted.contents.limits.open_files = 64;
  const auto sandbox = acquire(wanted);
  EXPECT_EQ(output(*sandbox, "ulimit -n; ulimit -Hn; ulimit -c; ulimit -Hc"), "64\n64\n0\n0\n");
  EXPECT_FALSE(shell(*sandbox, "ulimit -n 65").exit.ok());
  // 1: a core_pattern of the host that names a program is not followed either, and no job can bring that back by lowering the limit.
  rlimit ours{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &ours), 0);
  const std::string most = ours.rlim_max == 0 ? "0" : "1";
  const std::string held = "Max core file size " + most + " " + most + " bytes \n";
  const std::string show = "; grep core /proc/self/limits | tr -s ' '";
  EXPECT_EQ(output(*sandbox, "ulimit -c 0" + show), held);
  EXPECT_EQ(output(*sandbox, "prlimit --core=0 2>/dev/null" + show), held);
  EXPECT_EQ(output(*sandbox, "python3 -c 'import resource as r; r.setrlimit(r.RLIMIT_CORE, (0, 0))'" + show), held);
}

// What no cgroup divides: the kernel counts it per user and for the maker of the user namespace too, which is root, or the user of Forge.
TEST_F(LocalLimits, OneJobCannotUseUpWhatTheWholeMachineShares) {
  const auto sandbox = acquire(spec_with());
  const std::vector<std::string> got = split(attack(*sandbox, {"grab"}).out.text(), '\n');
  ASSERT_GE(got.size(), 4u);
  const auto expect_some = [&](std::size_t line, int most, const char* what) {
    EXPECT_GE(std::stoi(got[line]), 1) << what;
    EXPECT_LE(std::stoi(got[line]), most) << what;
  };
  expect_some(0, 32, "watchers of files");
  expect_some(1, 128, "terminals");
  expect_some(2, 2, "message queues of the usual size");
  expect_some(3, 4096, "queued signals");
}

TEST_F(LocalLimits, TheCpuQuotaHolds) {
  SandboxSpec wanted = spec();
  wanted.contents.limits.cpu_millis = 100;
  const auto sandbox = acquire(wanted);
  // A tenth of one processor: half a second of wall time is not enough for half a second of work.
  const CommandResult result = shell(*sandbox, "timeout 0.6 sh -c 'while :; do :; done'; cat /proc/$$/stat | cut -d' ' -f16,17");
  const std::string text = result.out.text();
  const int ticks = std::stoi(text) + std::stoi(text.substr(text.find(' ')));
  EXPECT_LT(ticks, 30) << "hundredths of a second of 60";
}

TEST_F(LocalLimits, AMappedFileOfTheHostIsNotChargedAsWritable) {
  const auto sandbox = acquire();
  EXPECT_EQ(output(*sandbox, "cat /usr/bin/* > /dev/null 2>&1; echo read"), "read\n") << "page cache is given back, not killed for";
}

}  // namespace
}  // namespace forge::sandbox
