#include "orchestrator/sandbox/local/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "orchestrator/base/process.h"
#include "orchestrator/base/text.h"
#include "orchestrator/sandbox/local/cgroup_files.h"
#include "orchestrator/sandbox/local/cgroup_pool.h"
#include "tests/support/errors.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace forge::sandbox::local {
namespace {

namespace fs = std::filesystem;
using test::code_of;
using testing::HasSubstr;

constexpr GroupLimits kLimits{.memory_bytes = 64 << 20, .pids = 20, .cpu_millis = 500};

/// Ordinary files in place of control files: what is written can be read, whatever hierarchies this machine has.
class FakeGroups : public ::testing::Test {
 protected:
  std::string dir(const std::string& controller) const { return root_.str() + "/" + controller; }
  void control(const std::string& controller, const std::string& file, const std::string& text = "") {
    test::write_file(dir(controller) + "/one/" + file, text);
  }
  std::string held(const std::string& controller, const std::string& file) const {
    return std::string(trim(test::read_file(dir(controller) + "/one/" + file)));
  }
  CgroupLayout v1() {
    control("memory", "memory.limit_in_bytes");
    control("memory", "memory.memsw.limit_in_bytes");
    control("memory", "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    control("memory", "memory.usage_in_bytes", "4096\n");
    control("pids", "pids.max");
    control("cpu", "cpu.cfs_period_us");
    control("cpu", "cpu.cfs_quota_us");
    for (const char* controller : {"memory", "pids", "cpu"}) control(controller, "tasks");
    return {.kind = CgroupKind::v1, .memory = dir("memory"), .pids = dir("pids"), .cpu = dir("cpu")};
  }
  CgroupLayout v2() {
    for (const char* file : {"memory.max", "memory.swap.max", "pids.max", "cpu.max", "cgroup.kill", "memory.current"}) control("all", file);
    control("all", "memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\n");
    return {.kind = CgroupKind::v2, .memory = dir("all"), .pids = dir("all"), .cpu = dir("all"), .unified = dir("all")};
  }

 private:
  test::TempDir root_;
};

TEST_F(FakeGroups, OfV1HoldEachLimitInItsHierarchy) {
  const auto group = Cgroup::make(v1(), "one", kLimits);
  EXPECT_EQ(held("memory", "memory.limit_in_bytes"), "67108864");
  EXPECT_EQ(held("memory", "memory.memsw.limit_in_bytes"), "67108864");
  EXPECT_EQ(held("pids", "pids.max"), "20");
  EXPECT_EQ(held("cpu", "cpu.cfs_period_us"), "100000");
  EXPECT_EQ(held("cpu", "cpu.cfs_quota_us"), "50000");
  EXPECT_EQ(group->join_files().size(), 3U);
  EXPECT_EQ(group->birth_directory(), -1);
  EXPECT_EQ(group->out_of_memory_kills(), 3);
  EXPECT_EQ(group->memory_bytes(), 4096);
  EXPECT_FALSE(group->kill()) << "v1 has no atomic kill";
}

TEST_F(FakeGroups, OfAHybridHostAreBornIntoTheV2DirectoryToo) {
  CgroupLayout layout = v1();
  layout.kind = CgroupKind::hybrid;
  layout.unified = dir("unified");
  control("unified", "cgroup.kill");
  const auto group = Cgroup::make(layout, "one", kLimits);
  EXPECT_EQ(group->join_files().size(), 3U) << "the v2 directory is not joined but born into";
  EXPECT_GE(group->birth_directory(), 0);
  EXPECT_TRUE(group->kill());
  EXPECT_EQ(held("unified", "cgroup.kill"), "1");
  EXPECT_FALSE(group->reusable());
}

TEST_F(FakeGroups, OfV2HoldAllLimitsInOneDirectory) {
  const auto group = Cgroup::make(v2(), "one", kLimits);
  EXPECT_EQ(held("all", "memory.max"), "67108864");
  EXPECT_EQ(held("all", "memory.swap.max"), "0");
  EXPECT_EQ(held("all", "pids.max"), "20");
  EXPECT_EQ(held("all", "cpu.max"), "50000 100000");
  EXPECT_TRUE(group->join_files().empty());
  EXPECT_GE(group->birth_directory(), 0);
  EXPECT_EQ(group->out_of_memory_kills(), 2);
}

TEST_F(FakeGroups, JoinOneDirectoryOnceWhenTwoControllersShareIt) {
  CgroupLayout layout = v1();
  layout.cpu = layout.pids;
  for (const char* file : {"cpu.cfs_period_us", "cpu.cfs_quota_us"}) control("pids", file);
  EXPECT_EQ(Cgroup::make(layout, "one", kLimits)->join_files().size(), 2U);
}

TEST_F(FakeGroups, AreRefusedWhenALimitCannotBeWritten) {
  const CgroupLayout layout = v1();
  fs::remove(dir("pids") + "/one/pids.max");
  const auto error = test::error_of([&] { Cgroup::make(layout, "one", kLimits); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::sandbox_unavailable);
  EXPECT_THAT(error->client_text(), HasSubstr("process limit cannot be enforced"));
}

TEST_F(FakeGroups, AreRefusedWhenTheKernelHoldsAnotherValue) {
  const CgroupLayout layout = v1();
  fs::remove(dir("memory") + "/one/memory.limit_in_bytes");
  fs::create_symlink("/dev/null", dir("memory") + "/one/memory.limit_in_bytes");  // takes everything, holds nothing
  EXPECT_EQ(code_of([&] { Cgroup::make(layout, "one", kLimits); }), "sandbox_unavailable");
}

TEST(ControlFiles, AreReadAsNumbersAndKeys) {
  const test::TempDir directory;
  test::write_file(directory / "max", "max\n");
  test::write_file(directory / "n", "123\n");
  EXPECT_EQ(read_number(directory / "max"), INT64_MAX);
  EXPECT_EQ(read_number(directory / "n"), 123);
  EXPECT_FALSE(read_number(directory / "missing"));
  EXPECT_EQ(number_after("oom 1\noom_kill 5\n", "oom_kill "), 5);
  EXPECT_FALSE(number_after("oom 1\n", "oom_kill "));
  EXPECT_EQ(write_control(directory / "missing", "1"), ENOENT);
}

/// Groups of this machine, below an instance's directory of our own.
class RealGroups : public ::testing::Test {
 protected:
  void SetUp() override {
    const CgroupLayout found = find_layout(read_cgroup_facts());
    if (!found.complete()) GTEST_SKIP() << "this user has no cgroups here: " << found.why;
    const std::string name = "test" + std::to_string(::getpid());
    layout_ = instance_layout(found, name);
    make_instance_groups(found, name);
  }
  void TearDown() override { EXPECT_TRUE(remove_instance_groups(parents_of(layout_), test::soon())); }
  static int members(const std::string& directory) {
    const std::string text = read_control(directory + "/cgroup.procs");
    return static_cast<int>(split_lines(text).size());
  }
  CgroupLayout layout_;
};

TEST_F(RealGroups, TakeTheLimitsAndAreRemovedWhenEmpty) {
  const auto group = Cgroup::make(layout_, "one", kLimits);
  EXPECT_TRUE(group->empty());
  EXPECT_EQ(group->out_of_memory_kills(), 0);
  EXPECT_TRUE(group->remove());
  EXPECT_FALSE(fs::exists(layout_.memory + "/one"));
}

TEST_F(RealGroups, AreKilledAndRemovedWithWhoeverLivesInThem) {
  const auto group = Cgroup::make(layout_, "one", kLimits);
  Child child = Child::spawn({.argv = {"/bin/sleep", "1000"}, .env = {}});
  ASSERT_EQ(write_control(layout_.pids + "/one/cgroup.procs", std::to_string(child.pid())), 0);
  EXPECT_FALSE(group->empty());
  EXPECT_EQ(members(layout_.pids + "/one"), 1);
  // The sweep kills; the child is ours, and its zombie holds the group until we reap it.
  std::jthread sweep([&] { remove_instance_groups(parents_of(layout_), test::soon()); });
  EXPECT_EQ(child.wait(test::soon()).signal, SIGKILL);
  sweep.join();
  EXPECT_FALSE(fs::exists(layout_.pids));
}

TEST_F(RealGroups, OfAPoolAreMadeAheadAndUsedAgain) {
  const auto log = make_null_log();
  CgroupPool pool(layout_, *log);
  auto first = pool.take(kLimits);
  EXPECT_EQ(first->limits(), kLimits);
  const Stop stop = test::soon();
  while (!fs::exists(layout_.memory + "/4")) pause(std::chrono::milliseconds(5), stop);  // three more are made ahead
  pool.give_back(std::move(first));
  GroupLimits others = kLimits;
  others.pids = 30;
  const auto second = pool.take(others);
  EXPECT_EQ(second->limits(), others) << "never a group with other limits";
  EXPECT_TRUE(second->remove());
}

}  // namespace
}  // namespace forge::sandbox::local
