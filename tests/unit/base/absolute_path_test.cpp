#include "orchestrator/base/absolute_path.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/errors.h"
#include "tests/support/temp_dir.h"

namespace forge {
namespace {

TEST(AbsolutePath, GoesFromTheRootWithoutDotsAndTrailingSlashes) {
  EXPECT_EQ(absolute_path("/"), "/");
  EXPECT_EQ(absolute_path("/a/./b/../c//"), "/a/c");
  EXPECT_EQ(absolute_path("x/"), current_directory() + "/x");
  EXPECT_EQ(absolute_path("."), current_directory());
  EXPECT_EQ(test::code_of([] { absolute_path(""); }), "invalid_argument");
}

TEST(AbsolutePath, NeedsTheCurrentDirectoryForRelativeOnesAlone) {
  const std::string before = current_directory();
  {
    const test::TempDir place;
    std::filesystem::current_path(place.str());
  }
  const std::string gone = current_directory();
  const std::string whole = absolute_path("/a/b");
  const auto error = test::error_of([] { absolute_path("a"); });
  std::filesystem::current_path(before);
  EXPECT_EQ(gone, "");
  EXPECT_EQ(whole, "/a/b");
  EXPECT_EQ(error->client_text(), "the current directory is gone");
}

}  // namespace
}  // namespace forge
