#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "orchestrator/base/confined_dir.h"
#include "tests/support/errors.h"
#include "tests/support/plain_user.h"
#include "tests/support/temp_dir.h"

namespace forge {
namespace {

namespace fs = std::filesystem;
using test::code_of;

TEST(RemovingATree, TakesAllKindsOfEntries) {
  const test::TempDir dir;
  test::write_file(dir / "tree/a/b/file", "x");
  fs::create_symlink("/nonexistent", dir / "tree/dangling");
  ASSERT_EQ(::mkfifo((dir / "tree/fifo").c_str(), 0600), 0);
  fs::create_directories(dir / "tree/empty");
  remove_tree((dir / "tree").string());
  EXPECT_FALSE(fs::exists(dir / "tree"));
}

TEST(RemovingATree, TakesAFileOrNothing) {
  const test::TempDir dir;
  test::write_file(dir / "file", "x");
  remove_tree((dir / "file").string());
  EXPECT_FALSE(fs::exists(dir / "file"));
  remove_tree((dir / "file").string());
  remove_tree((dir / "no/such/parent").string());
}

TEST(RemovingATree, TakesATrailingSlash) {
  const test::TempDir dir;
  test::write_file(dir / "tree/file", "x");
  remove_tree((dir / "tree").string() + "//");
  EXPECT_FALSE(fs::exists(dir / "tree"));
}

TEST(RemovingATree, RefusesNamesThatMeanSomethingElse) {
  for (const char* path : {"", "/", ".", "..", "/tmp/..", "some/."}) EXPECT_EQ(code_of([&] { remove_tree(path); }), "internal") << path;
}

TEST(RemovingATree, DoesNotFollowLinks) {
  const test::TempDir dir;
  test::write_file(dir / "kept/file", "x");
  fs::create_directories(dir / "tree");
  fs::create_directory_symlink(dir / "kept", dir / "tree/link");
  fs::create_directory_symlink(dir / "kept", dir / "itself");
  remove_tree((dir / "tree").string());
  remove_tree((dir / "itself").string());
  EXPECT_TRUE(fs::exists(dir / "kept/file"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(dir / "itself")));
}

TEST(RemovingATree, LeavesTheTargetsOfHardLinks) {
  const test::TempDir dir;
  test::write_file(dir / "kept", "x");
  fs::create_directories(dir / "tree");
  fs::create_hard_link(dir / "kept", dir / "tree/link");
  fs::permissions(dir / "tree", fs::perms::none);
  remove_tree((dir / "tree").string());
  EXPECT_EQ(test::read_file(dir / "kept"), "x");
}

TEST(RemovingATree, TakesAnyDepth) {
  const test::TempDir dir;
  test::make_deep_tree(dir / "tree", 200, std::string(250, 'd'));  // twelve times PATH_MAX, and more levels than are open at once
  remove_tree((dir / "tree").string());
  EXPECT_FALSE(fs::exists(dir / "tree"));
}

TEST(RemovingATree, TakesAnyDepthPastTheNamesItMovesTo) {
  const test::TempDir dir;
  test::make_deep_tree(dir / "tree", 140, "deep");
  test::write_file(dir / "tree/.forge-removal-0", "in the way");
  test::write_file(dir / "tree/.forge-removal-1/file", "in the way");
  remove_tree((dir / "tree").string());
  EXPECT_FALSE(fs::exists(dir / "tree"));
}

TEST(RemovingATree, OpensClosedFoldersOfItsOwner) {
  const test::TempDir dir;
  fs::permissions(dir.path(), fs::perms::all);
  const int result = test::as_plain_user([&] {
    test::write_file(dir / "tree/closed/deeper/file", "x");
    test::write_file(dir / "tree/read-only/file", "x");
    fs::permissions(dir / "tree/closed/deeper", fs::perms::none);
    fs::permissions(dir / "tree/closed", fs::perms::none);
    fs::permissions(dir / "tree/read-only", fs::perms::owner_read | fs::perms::owner_exec);
    remove_tree((dir / "tree").string());
    return fs::exists(dir / "tree") ? 1 : 0;
  });
  EXPECT_EQ(result, 0);
}

TEST(RemovingATree, RemovesTheRestAndNamesWhatItCannot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a folder that another user may not change";
  const test::TempDir dir;
  fs::permissions(dir.path(), fs::perms::all);
  test::write_file(dir / "tree/foreign/file", "x");
  test::write_file(dir / "tree/other/file", "x");
  for (const char* name : {"tree", "tree/other", "tree/other/file"}) ASSERT_EQ(::chown((dir / name).c_str(), 65534, 65534), 0);
  const int result =
      test::as_plain_user([&] { return code_of([&] { remove_tree((dir / "tree").string()); }) == "permission_denied" ? 0 : 1; });
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(fs::exists(dir / "tree/foreign/file"));
  EXPECT_FALSE(fs::exists(dir / "tree/other"));
}

}  // namespace
}  // namespace forge
