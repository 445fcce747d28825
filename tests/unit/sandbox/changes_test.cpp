#include "orchestrator/sandbox/local/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/errors.h"
#include "tests/support/soon.h"
#include "tests/unit/sandbox/local_fixture.h"

namespace forge::sandbox::local {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

/// Layers made by hand, so that states can be tried that no job can make through the mounted tree.
class Changes : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(upper());
    fs::create_directories(lower());
    if (::setxattr(upper().c_str(), "user.test", "y", 1, 0) < 0) GTEST_SKIP() << "no user attributes on the file system of temporary files";
  }
  std::string upper(const std::string& name = "") const { return directory_.str() + "/upper/" + name; }
  std::string lower(const std::string& name = "") const { return directory_.str() + "/lower/" + name; }
  void whiteout(const std::string& name) {
    fs::create_directories(fs::path(upper(name)).parent_path());
    ASSERT_EQ(::mknod(upper(name).c_str(), S_IFCHR, 0), 0);
  }
  void opaque(const std::string& name) {
    fs::create_directories(upper(name));
    ASSERT_EQ(::setxattr(upper(name).c_str(), "user.overlay.opaque", "y", 1, 0), 0);
  }
  Lines lines(const ChangeLimits& limits = {}) {
    Collected collected;
    read_changes(ConfinedDir::open(upper()), ConfinedDir::open(lower()), limits, collected, test::soon());
    return collected.lines();
  }
  /// That the limit refuses the layers one below `entries`, before anything is told, and not at it.
  void expect_entries(std::int64_t entries) {
    EXPECT_NO_THROW(lines({.max_entries = entries}));
    Collected collected;
    const auto error = test::error_of([&] {
      read_changes(ConfinedDir::open(upper()), ConfinedDir::open(lower()), {.max_entries = entries - 1}, collected, test::soon());
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::limit_exceeded);
    EXPECT_EQ(collected.lines(), Lines{});
  }

 private:
  test::TempDir directory_;
};

TEST_F(Changes, OfAnOpaqueDirectoryNameEachLowerFileOnce) {
  for (const char* name : {"d/a", "d/b", "d/sub/c", "d/sub/e"}) test::write_file(lower(name), "x");
  opaque("d");
  opaque("d/sub");
  test::write_file(upper("d/b"), "y");
  test::write_file(upper("d/sub/e"), "x");
  EXPECT_EQ(lines(), (Lines{"deleted file d/a", "modified file d/b", "deleted file d/sub/c"}));
}

TEST_F(Changes, OfAFileOverADirectoryInAnOpaqueOneAreToldOnce) {
  test::write_file(lower("d/x/y"), "x");
  opaque("d");
  test::write_file(upper("d/x"), "now a file");
  EXPECT_EQ(lines(), (Lines{"added file d/x", "deleted file d/x/y"}));
}

TEST_F(Changes, CountEveryFileThatOneWhiteoutDeletes) {
  for (const char* name : {"d/a", "d/b", "d/sub/c", "kept"}) test::write_file(lower(name), "x");
  test::write_file(upper("added"), "x");
  whiteout("d");
  expect_entries(1 + 1 + 3);
}

TEST_F(Changes, CountEveryFileThatAnOpaqueDirectoryDeletesOnce) {
  for (const char* name : {"d/a", "d/b", "d/sub/c", "d/sub/e"}) test::write_file(lower(name), "x");
  opaque("d");
  opaque("d/sub");
  whiteout("d/sub/e");
  expect_entries(3 + 3);
}

TEST_F(Changes, CountEveryFileThatAFileInThePlaceOfItsDirectoryDeletes) {
  for (const char* name : {"d/a", "d/b"}) test::write_file(lower(name), "x");
  test::write_file(upper("d"), "now a file");
  expect_entries(1 + 2);
}

TEST_F(Changes, OfAWhiteoutOverNothingAreNone) {
  whiteout("never");
  whiteout("dir/never");
  EXPECT_EQ(lines(), Lines{});
}

TEST_F(Changes, OfAWhiteoutOfALinkNameALink) {
  fs::create_symlink("t", lower("l"));
  whiteout("l");
  EXPECT_EQ(lines(), (Lines{"deleted link l"}));
}

TEST_F(Changes, BelowALinkOfTheLowerTreeAreNotLookedUpThroughIt) {
  fs::create_directories(lower("real"));
  test::write_file(lower("real/f"), "x");
  fs::create_symlink("real", lower("d"));
  fs::create_directories(upper("d"));
  test::write_file(upper("d/f"), "x");
  EXPECT_EQ(lines(), (Lines{"deleted link d", "added file d/f"}));
}

TEST_F(Changes, IgnoreMarksThatAreNotExactlyTheOverlaysOwn) {
  test::write_file(lower("d/a"), "x");
  fs::create_directories(upper("d"));
  for (const auto& [name, value] :
       {std::pair{"user.overlay.overlay.opaque", "y"}, {"user.overlay.opaque", "x"}, {"user.overlay.impure", "y"}}) {
    ASSERT_EQ(::setxattr(upper("d").c_str(), name, value, 1, 0), 0);
  }
  EXPECT_EQ(lines(), Lines{});
}

TEST_F(Changes, CompareTheWholeContent) {
  const std::string large(300'000, 'x');
  test::write_file(lower("same"), large);
  test::write_file(upper("same"), large);
  test::write_file(lower("last"), large);
  test::write_file(upper("last"), large.substr(1) + "y");
  EXPECT_EQ(lines(), (Lines{"modified file last"}));
}

TEST_F(Changes, GiveTheContentFromItsBeginningAfterTheComparison) {
  test::write_file(lower("f"), "old text");
  test::write_file(upper("f"), "new text");
  Collected collected;
  read_changes(ConfinedDir::open(upper()), ConfinedDir::open(lower()), {}, collected, test::soon());
  EXPECT_EQ(collected.contents.at("f"), "new text");
}

}  // namespace
}  // namespace forge::sandbox::local
