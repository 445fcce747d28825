#include "orchestrator/sandbox/local/instance.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "orchestrator/sandbox/local/etc.h"
#include "orchestrator/sandbox/local/identity_pool.h"
#include "tests/support/errors.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace forge::sandbox::local {
namespace {

namespace fs = std::filesystem;
using test::code_of;
using testing::HasSubstr;
using testing::Not;

TEST(Instance, HasALockedDirectoryThatGoesWithIt) {
  const test::TempDir data;
  const auto log = make_null_log();
  std::string directory;
  {
    const Instance instance(data.str() + "/run");
    directory = instance.directory();
    EXPECT_TRUE(fs::exists(directory + "/lock"));
    EXPECT_EQ(sweep_dead_instances(data.str() + "/run", *log, test::soon()), 0) << "it lives";
    EXPECT_TRUE(fs::exists(directory));
  }
  EXPECT_FALSE(fs::exists(directory));
}

TEST(Instance, ThatDiedIsSwept) {
  const test::TempDir data;
  const auto log = make_null_log();
  const std::string dead = data.str() + "/01kc0000000000000000000000";
  test::write_file(dead + "/lock", "");
  test::write_file(dead + "/trees/a/b", "left over");
  test::write_file(data.str() + "/not-an-instance/lock", "");
  EXPECT_EQ(sweep_dead_instances(data.str(), *log, test::soon()), 1);
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(data.str() + "/not-an-instance"));
}

TEST(Instance, BelievesOnlyGroupsThatBearItsOwnName) {
  const test::TempDir data;
  const auto log = make_null_log();
  const std::string dead = data.str() + "/run/01kc0000000000000000000000";
  const std::string victim = data.str() + "/victim";
  fs::create_directories(victim + "/below");
  test::write_file(dead + "/lock", "");
  test::write_file(dead + "/cgroups", victim + "\n" + victim + "/below\n");
  sweep_dead_instances(data.str() + "/run", *log, test::soon());
  EXPECT_TRUE(fs::exists(victim + "/below"));
}

TEST(Instance, SweepsNothingWhereThereIsNoRunDirectory) {
  const auto log = make_null_log();
  EXPECT_EQ(sweep_dead_instances("/no/such/directory", *log, test::soon()), 0);
}

class IdentityPoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!may_give_identities()) GTEST_SKIP() << "only root over ids from 2,000,000 gives identities";
  }
  std::string locks() const { return directory_.str(); }

 private:
  test::TempDir directory_;
};

TEST_F(IdentityPoolTest, GivesEachSandboxAnIdOfItsOwnAndTakesItBack) {
  IdentityPool pool(locks());
  const Identity one = pool.take();
  const Identity two = pool.take();
  EXPECT_TRUE(one.pooled);
  EXPECT_EQ(one.uid, one.gid);
  EXPECT_NE(one.uid, two.uid);
  EXPECT_GE(one.uid, IdentityPool::kFirst);
  pool.give_back(one);
  EXPECT_EQ(pool.take().uid, one.uid);
}

TEST_F(IdentityPoolTest, OfTwoInstancesNeverShareAnId) {
  IdentityPool one(locks());
  IdentityPool two(locks());
  EXPECT_NE(one.take().uid / IdentityPool::kBlock, two.take().uid / IdentityPool::kBlock);
}

TEST_F(IdentityPoolTest, SaysWhenAllIdsAreInUse) {
  IdentityPool pool(locks());
  std::set<std::uint32_t> given;
  for (std::uint32_t i = 0; i < IdentityPool::kBlock; ++i) given.insert(pool.take().uid);
  EXPECT_EQ(given.size(), IdentityPool::kBlock);
  EXPECT_EQ(code_of([&] { pool.take(); }), "sandbox_unavailable");
}

class Etc : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"shadow", "passwd", "machine-id", "ssh/ssh_host_key", "ssl/private/key", "gitconfig", "secret.conf"})
      test::write_file(host() + "/" + name, "secret");
    test::write_file(host() + "/ld.so.cache", "cache 1");
    test::write_file(host() + "/ssl/certs/ca.pem", "certificate");
    test::write_file(host() + "/alternatives/README", "x");
    test::write_file(host() + "/python3.11/sitecustomize.py", "pass");
    test::write_file(host() + "/services", "secret");
    fs::permissions(host() + "/services", fs::perms::owner_read);
    fs::create_symlink("/usr/share/zoneinfo/Etc/UTC", host() + "/localtime");
    fs::create_directories(base());
  }
  std::string host() const { return directory_.str() + "/host"; }
  std::string base() const { return directory_.str() + "/base"; }

 private:
  test::TempDir directory_;
};

TEST_F(Etc, HoldsWhatIsAllowedAndNothingElse) {
  EtcDirectory etc(base(), host());
  const EtcDirectory::Current now = etc.current();
  EXPECT_EQ(test::read_file(now.path + "/ld.so.cache"), "cache 1");
  EXPECT_EQ(test::read_file(now.path + "/python3.11/sitecustomize.py"), "pass");
  EXPECT_EQ(fs::read_symlink(now.path + "/localtime"), "/usr/share/zoneinfo/Etc/UTC");
  EXPECT_THAT(test::read_file(now.path + "/passwd"), HasSubstr("agent:x:1000:1000:"));
  EXPECT_THAT(now.bound, testing::ElementsAre("alternatives", "ssl/certs"));
  EXPECT_TRUE(fs::is_directory(now.path + "/ssl/certs"));
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(now.path)) {
    const std::string text = entry.is_regular_file() ? test::read_file(entry.path()) : "";
    EXPECT_THAT(text, Not(HasSubstr("secret"))) << entry.path();
  }
}

TEST_F(Etc, IsReadableToEveryJobWhateverOurUmask) {
  const mode_t before = ::umask(077);
  EtcDirectory etc(base(), host());
  const std::string path = etc.current().path;
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat((path + "/passwd").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0444U);
  ASSERT_EQ(::stat((path + "/ssl/certs").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0755U);
}

TEST_F(Etc, IsMadeAnewOnlyWhenTheHostsLibrariesChanged) {
  EtcDirectory etc(base(), host());
  const std::string first = etc.current().path;
  EXPECT_EQ(etc.current().path, first);
  fs::remove(host() + "/ld.so.cache");
  test::write_file(host() + "/ld.so.cache", "cache 2");
  const std::string second = etc.current().path;
  EXPECT_NE(second, first);
  EXPECT_EQ(test::read_file(second + "/ld.so.cache"), "cache 2");
  EXPECT_TRUE(fs::exists(first)) << "sandboxes that live use it still";
}

}  // namespace
}  // namespace forge::sandbox::local
