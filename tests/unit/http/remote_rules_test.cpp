#include "orchestrator/http/remote_rules.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

namespace forge::http {
namespace {

TEST(IsBelow, ComparesWholeNamesAndNotLetters) {
  EXPECT_TRUE(is_below("/srv/git/x", {"/srv/git"}));
  EXPECT_TRUE(is_below("/srv/git", {"/srv/git/"}));
  EXPECT_TRUE(is_below("/srv/git/x", {"/home", "/srv"}));
  EXPECT_FALSE(is_below("/srv/gitx", {"/srv/git"}));
  EXPECT_FALSE(is_below("/srv", {"/srv/git"}));
  EXPECT_FALSE(is_below("/srv/git/x", {}));
  EXPECT_FALSE(is_below("/srv/git/x", {"relative"}));
  EXPECT_TRUE(is_below("/anything", {"/"}));
}

TEST(IsBelow, DotsDoNotLeadOut) {
  EXPECT_FALSE(is_below("/srv/git/../../etc", {"/srv/git"}));
  EXPECT_TRUE(is_below("/srv/git/a/../b", {"/srv/git"}));
  EXPECT_FALSE(is_below("srv/git", {"/srv/git"}));
}

TEST(IsBelow, LinksDoNotLeadOut) {
  const test::TempDir directory;
  std::filesystem::create_directory(directory / "allowed");
  std::filesystem::create_directory(directory / "secret");
  std::filesystem::create_directory_symlink(directory / "secret", directory / "allowed" / "link");
  const std::vector<std::string> prefixes{(directory / "allowed").string()};
  EXPECT_TRUE(is_below((directory / "allowed" / "new").string(), prefixes));
  EXPECT_FALSE(is_below((directory / "allowed" / "link").string(), prefixes));
  EXPECT_FALSE(is_below((directory / "allowed" / "link" / "x").string(), prefixes));
}

}  // namespace
}  // namespace forge::http
