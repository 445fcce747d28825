#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <ostream>

#include "orchestrator/base/process.h"
#include "orchestrator/sandbox/local/cgroup.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/sandbox/local_fixture.h"

namespace forge::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kUid = 12345;

/// Directories in every cgroup hierarchy that belong to a plain user, as an administrator would delegate them.
class Delegated {
 public:
  explicit Delegated(const std::string& name) {
    for (const std::string& parent : local::parents_of(local::find_layout(local::read_cgroup_facts()))) {
      const std::string directory = parent + "/" + name;
      fs::create_directory(directory);
      directories_.push_back(directory);
      for (const fs::directory_entry& file : fs::directory_iterator(directory)) give(file.path());
      give(directory);
    }
  }
  ~Delegated() { local::remove_instance_groups(directories_, Stop::after(std::chrono::seconds(50))); }
  Delegated(const Delegated&) = delete;
  Delegated& operator=(const Delegated&) = delete;
  const std::vector<std::string>& directories() const { return directories_; }

 private:
  static void give(const fs::path& path) {
    if (::chown(path.c_str(), kUid, kUid) < 0) throw Error(ErrorCode::internal, "cannot delegate " + path.string());
  }
  std::vector<std::string> directories_;
};

/// A part of a suite that fits into the time of one test.
struct Shard {
  std::string suite;
  int index = 0;
  int count = 1;
};

/// Becomes part of the test's name in ctest; the bytes that it would be else differ from build to build.
void PrintTo(const Shard& shard, std::ostream* out) { *out << "shard " << shard.index << " of " << shard.count; }

/// Runs tests of this program again, as a plain user in groups of its own.
class PlainUser : public ::testing::TestWithParam<Shard> {
 protected:
  void SetUp() override {
    const std::string self = fs::read_symlink("/proc/self/exe").string();
    const bool possible = ::geteuid() == 0 && run("exec " + as_user() + " test -x " + self) == 0;
    if (!possible)
      GTEST_SKIP() << "this is a plain user already, or setpriv (util-linux) is missing, or a plain user cannot reach " << self;
  }
  static std::string as_user() { return "setpriv --reuid 12345 --regid 12345 --clear-groups"; }
  /// Exit code of `sh -c script`; what it printed is kept.
  int run(const std::string& script) {
    const Output output =
        run_command({.argv = {"/bin/sh", "-c", script}, .env = {"PATH=/usr/bin:/bin"}}, "", 4 << 20, Stop::after(std::chrono::seconds(60)));
    printed_ = output.out + output.err;
    return output.exit.code.value_or(-1);
  }
  int run_tests(const std::vector<std::string>& groups, const std::string& filter, const Shard& shard = {}) {
    std::string script;
    for (const std::string& directory : groups) script += "echo $$ > " + directory + "/cgroup.procs && ";
    const std::string home = scratch_.str() + "/tmp";
    fs::create_directory(home);
    if (::chown(home.c_str(), kUid, kUid) < 0 || ::chmod(scratch_.str().c_str(), 0755) < 0) return -1;
    script += "GTEST_TOTAL_SHARDS=" + std::to_string(shard.count) + " GTEST_SHARD_INDEX=" + std::to_string(shard.index) + " ";
    return run(script + "TMPDIR=" + home + " exec " + as_user() + " " + fs::read_symlink("/proc/self/exe").string() + " --gtest_filter='" +
               filter + "'");
  }
  const std::string& printed() const { return printed_; }

 private:
  test::TempDir scratch_;
  std::string printed_;
};

TEST_P(PlainUser, KeepsTheSamePromises) {
  const Delegated groups("forge-test-" + std::to_string(::getpid()));
  EXPECT_EQ(run_tests(groups.directories(), GetParam().suite + ".*-*OutOfACopy*", GetParam()), 0) << printed();
  EXPECT_THAT(printed(), testing::ContainsRegex("PASSED  . [1-9]"));
  EXPECT_THAT(printed(), testing::Not(testing::HasSubstr("SKIPPED"))) << printed();
}

std::vector<Shard> shards() {
  std::vector<Shard> all;
  for (const auto& [suite, count] :
       {std::pair{"LocalRun", 5}, {"LocalChanges", 3}, {"LocalEscape", 2}, {"LocalFiles", 1}, {"LocalLimits", 3}, {"LocalCrash", 1}}) {
    for (int index = 0; index < count; ++index) all.push_back({suite, index, count});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Of, PlainUser, testing::ValuesIn(shards()),
                         [](const auto& param) { return param.param.suite + std::to_string(param.param.index); });

using PlainUserAlone = PlainUser;

TEST_F(PlainUserAlone, WithoutGroupsIsRefusedStrictlyWithTheRemedy) {
  // Groups that nobody gave to the user: the driver finds no directory that it may write.
  EXPECT_EQ(run_tests({}, "LocalFiles.AreWritten*"), 0) << printed();
  EXPECT_THAT(printed(), testing::HasSubstr("SKIPPED"));
  EXPECT_THAT(printed(), testing::HasSubstr("Delegate=yes"));
}

}  // namespace
}  // namespace forge::sandbox
