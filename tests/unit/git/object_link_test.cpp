#include "orchestrator/git/object_link.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

namespace fs = std::filesystem;

class ObjectLinks : public testing::Test {
 protected:
  void SetUp() override {
    repo_.write("f", "1");
    repo_.commit("packed");
    repo_.git({"gc", "--quiet"});
    repo_.write("f", "2");
    repo_.commit("loose");
    target_.git({"remote", "add", "origin", repo_.str()});
  }
  std::string from() const { return repo_.str() + "/.git/objects"; }
  std::string to() const { return target_.str() + "/objects"; }
  std::string fsck(const std::string& id) { return target_.git({"fsck", "--full", "--no-dangling", "--no-progress", id}); }

  test::TempRepo repo_;
  test::BareRepo target_;
};

TEST_F(ObjectLinks, BringAllObjectsOnce) {
  link_objects(from(), to(), soon());
  EXPECT_EQ(fsck(repo_.head()), "");
  EXPECT_NO_THROW(link_objects(from(), to(), soon()));
  std::size_t links = 0;
  for (const auto& entry : fs::recursive_directory_iterator(to())) links += entry.is_regular_file() && entry.hard_link_count() > 1 ? 1 : 0;
  EXPECT_GE(links, 5u);
}

TEST_F(ObjectLinks, TakeNeitherLinksNorPipesNorOtherFiles) {
  const test::TempDir outside;
  test::write_file(outside / "secret", "secret");
  fs::create_symlink(outside / "secret", from() + "/pack/pack-" + std::string(40, 'a') + ".pack");
  fs::create_directory_symlink(outside.path(), from() + "/ff");
  test::write_file(outside / std::string(38, 'b'), "x");
  ASSERT_EQ(::mkfifo((from() + "/pack/pack-" + std::string(40, 'c') + ".idx").c_str(), 0644), 0);
  test::write_file(from() + "/info/alternates", "/elsewhere\n");
  test::write_file(from() + "/pack/tmp_pack_x", "half");
  link_objects(from(), to(), soon());
  EXPECT_FALSE(fs::exists(fs::symlink_status(to() + "/pack/pack-" + std::string(40, 'a') + ".pack")));
  EXPECT_FALSE(fs::exists(to() + "/pack/pack-" + std::string(40, 'c') + ".idx"));
  EXPECT_FALSE(fs::exists(to() + "/ff"));
  EXPECT_FALSE(fs::exists(to() + "/info/alternates"));
  EXPECT_FALSE(fs::exists(to() + "/pack/tmp_pack_x"));
}

TEST_F(ObjectLinks, AreCopiesOnAnotherFileSystem) {
  struct stat here {};
  struct stat there {};
  if (::stat("/dev/shm", &there) != 0 || ::access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "there is no /dev/shm to copy to";
  ASSERT_EQ(::stat(from().c_str(), &here), 0);
  if (here.st_dev == there.st_dev) GTEST_SKIP() << "/dev/shm and the temporary directory are one file system";
  const fs::path target = "/dev/shm/forge-test-objects-" + std::to_string(::getpid());
  fs::create_directories(target);
  link_objects(from(), target.string(), soon());
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(target)) files += entry.is_regular_file() ? 1 : 0;
  EXPECT_GE(files, 5u);
  fs::remove_all(target);
}

TEST_F(ObjectLinks, StopWhenAsked) {
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(test::code_of([&] { link_objects(from(), to(), Stop(stopped.get_token())); }), "cancelled");
}

}  // namespace
}  // namespace forge::git
