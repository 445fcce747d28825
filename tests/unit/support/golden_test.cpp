#include "tests/support/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "tests/support/temp_dir.h"

namespace forge::test {
namespace {

using testing::HasSubstr;

/// FORGE_ACCEPT is `value` while this lives.
class Accepting {
 public:
  explicit Accepting(const char* value) {
    if (const char* now = std::getenv("FORGE_ACCEPT")) before_ = now;
    ::setenv("FORGE_ACCEPT", value, 1);
  }
  ~Accepting() { ::setenv("FORGE_ACCEPT", before_.c_str(), 1); }
  Accepting(const Accepting&) = delete;
  Accepting& operator=(const Accepting&) = delete;

 private:
  std::string before_;
};

/// What a comparison reports: nothing when it passes.
std::vector<testing::TestPartResult> reports_of(const std::string& file, std::string_view text) {
  testing::TestPartResultArray reports;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(&reports);
    expect_golden(file, text);
  }
  std::vector<testing::TestPartResult> all;
  for (int i = 0; i < reports.size(); ++i) all.push_back(reports.GetTestPartResult(i));
  return all;
}

TEST(GoldenFiles, PassWhenTheyAreEqual) {
  const Accepting no("");
  const TempDir dir;
  write_file(dir / "file", "text\n");
  EXPECT_EQ(reports_of((dir / "file").string(), "text\n").size(), 0u);
}

TEST(GoldenFiles, FailWhenTheyDifferOrAreMissing) {
  const Accepting no("");
  const TempDir dir;
  write_file(dir / "file", "text\n");
  for (const char* name : {"file", "none"}) {
    const auto reports = reports_of((dir / name).string(), "other\n");
    ASSERT_EQ(reports.size(), 1u) << name;
    EXPECT_TRUE(reports[0].failed());
    EXPECT_THAT(reports[0].message(), HasSubstr("FORGE_ACCEPT=1"));
  }
  EXPECT_EQ(read_file(dir / "file"), "text\n");
  EXPECT_FALSE(std::filesystem::exists(dir / "none"));
}

TEST(GoldenFiles, AreWrittenAndSkippedNotPassedWhenAccepted) {
  const Accepting yes("1");
  const TempDir dir;
  const auto reports = reports_of((dir / "new/file").string(), "text\n");
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_TRUE(reports[0].skipped());
  EXPECT_EQ(read_file(dir / "new/file"), "text\n");
}

}  // namespace
}  // namespace forge::test
