#include "orchestrator/sandbox/local/cgroup_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace forge::sandbox::local {
namespace {

using testing::HasSubstr;

constexpr const char* kV1Mounts =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n";
constexpr const char* kUnifiedMount = "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
constexpr const char* kV2Mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

/// A host where exactly `writable` can be written.
CgroupFacts facts(const std::string& mounts, const std::string& own, std::set<std::string> writable, bool root = false,
                  const std::string& controllers = "cpuset cpu io memory hugetlb pids") {
  return {.mounts = mounts,
          .own = own,
          .root = root,
          .writable = [writable = std::move(writable)](const std::string& directory) { return writable.count(directory) != 0; },
          .read = [controllers](const std::string& file) { return file.ends_with("cgroup.controllers") ? controllers + "\n" : ""; },
          .delegated = [](const std::string& directory) { return directory.find("delegated") != std::string::npos; }};
}

TEST(CgroupLayout, TakesTheOwnGroupInEachV1Hierarchy) {
  const CgroupLayout layout =
      find_layout(facts(kV1Mounts, "4:memory:/jobs/7\n3:cpu,cpuacct:/\n2:pids:/jobs/7\n",
                        {"/sys/fs/cgroup/memory/jobs/7", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/pids/jobs/7"}));
  EXPECT_EQ(layout.kind, CgroupKind::v1);
  EXPECT_TRUE(layout.complete());
  EXPECT_EQ(layout.memory, "/sys/fs/cgroup/memory/jobs/7");
  EXPECT_EQ(layout.cpu, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(layout.pids, "/sys/fs/cgroup/pids/jobs/7");
  EXPECT_EQ(layout.unified, "");
}

TEST(CgroupLayout, AddsTheBareV2HierarchyOfAHybridHost) {
  const CgroupLayout layout = find_layout(
      facts(std::string(kV1Mounts) + kUnifiedMount, "4:memory:/\n0::/\n",
            {"/sys/fs/cgroup/memory", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/unified"}, true, "hugetlb"));
  EXPECT_EQ(layout.kind, CgroupKind::hybrid);
  EXPECT_TRUE(layout.complete());
  EXPECT_EQ(layout.unified, "/sys/fs/cgroup/unified");
}

TEST(CgroupLayout, UsesOneDirectoryUnderV2) {
  const std::string own = "/sys/fs/cgroup/user.slice/forge.scope";
  const CgroupLayout layout = find_layout(facts(kV2Mount, "0::/user.slice/forge.scope\n", {own}));
  EXPECT_EQ(layout.kind, CgroupKind::v2);
  EXPECT_EQ(layout.memory, own);
  EXPECT_EQ(layout.pids, own);
  EXPECT_EQ(layout.cpu, own);
}

TEST(CgroupLayout, AsRootDividesASessionsGroupOnlyWhenItWasDelegated) {
  const std::string top = "/sys/fs/cgroup";
  EXPECT_EQ(find_layout(facts(kV2Mount, "0::/session-1.scope\n", {top, top + "/session-1.scope"}, true)).unified, top);
  EXPECT_EQ(find_layout(facts(kV2Mount, "0::/delegated.service\n", {top, top + "/delegated.service"}, true)).unified,
            top + "/delegated.service");
  EXPECT_EQ(find_layout(facts(kV2Mount, "0::/x\n", {top + "/x"}, true)).unified, top + "/x") << "a container whose top is read-only";
}

TEST(CgroupLayout, HasNoLimitsWhereAV2DirectoryLacksAController) {
  const CgroupLayout layout = find_layout(facts(kV2Mount, "0::/a\n", {"/sys/fs/cgroup/a"}, false, "cpu pids"));
  EXPECT_EQ(layout.kind, CgroupKind::none);
  EXPECT_FALSE(layout.complete());
  EXPECT_THAT(layout.why, HasSubstr("memory"));
}

TEST(CgroupLayout, SaysWhatAPlainUserMayNotWrite) {
  const CgroupLayout layout = find_layout(facts(kV1Mounts, "4:memory:/\n3:cpu,cpuacct:/\n2:pids:/mine\n", {"/sys/fs/cgroup/pids/mine"}));
  EXPECT_EQ(layout.kind, CgroupKind::v1);
  EXPECT_FALSE(layout.complete());
  EXPECT_THAT(layout.why, HasSubstr("memory, cpu"));
}

TEST(CgroupLayout, GoesToTheTopOnlyAsRoot) {
  const std::set<std::string> tops{"/sys/fs/cgroup/memory", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/pids"};
  const char* own = "4:memory:/other\n3:cpu,cpuacct:/other\n2:pids:/other\n";
  EXPECT_EQ(find_layout(facts(kV1Mounts, own, tops, true)).memory, "/sys/fs/cgroup/memory");
  EXPECT_EQ(find_layout(facts(kV1Mounts, own, tops, false)).memory, "");
}

TEST(CgroupLayout, TakesANamedParentInEveryHierarchy) {
  const CgroupLayout layout = find_layout(
      facts(kV1Mounts, "4:memory:/\n", {"/sys/fs/cgroup/memory/forge", "/sys/fs/cgroup/cpu,cpuacct/forge", "/sys/fs/cgroup/pids/forge"}),
      "/forge");
  EXPECT_EQ(layout.memory, "/sys/fs/cgroup/memory/forge");
  EXPECT_TRUE(layout.complete());
  EXPECT_FALSE(find_layout(facts(kV1Mounts, "4:memory:/\n", {"/sys/fs/cgroup/memory"}, true), "/forge").complete());
}

TEST(CgroupLayout, KnowsTheOwnDirectoryWhenOnlyAPartOfTheHierarchyIsMounted) {
  const char* mounts = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
  EXPECT_EQ(find_layout(facts(mounts, "4:memory:/docker/abc/x\n", {"/sys/fs/cgroup/memory/x"})).memory, "/sys/fs/cgroup/memory/x");
}

TEST(CgroupLayout, ReadsMountPointsWithBlanks) {
  const char* mounts = "35 31 0:32 / /sys/fs\\040x/memory rw - cgroup cgroup rw,memory\n";
  EXPECT_EQ(find_layout(facts(mounts, "4:memory:/\n", {"/sys/fs x/memory"})).memory, "/sys/fs x/memory");
}

TEST(CgroupLayout, IsNoneWhereNothingIsMounted) {
  const CgroupLayout layout = find_layout(facts("", "", {}));
  EXPECT_EQ(layout.kind, CgroupKind::none);
  EXPECT_THAT(layout.why, HasSubstr("no cgroup hierarchy"));
}

}  // namespace
}  // namespace forge::sandbox::local
