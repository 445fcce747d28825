#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Instructions : public GitTest {
 protected:
  std::string read() {
    repo_.commit("one");
    return cache().instructions(cache().fetch(repo_.str(), "", soon()));
  }
  test::TempRepo repo_;
};

TEST_F(Instructions, AreTheFilesOfTheCommitsRoot) {
  repo_.write("AGENTS.md", "Run make.");
  repo_.write("CLAUDE.md", "Be kind.\n");
  repo_.write("docs/AGENTS.md", "Not this.\n");
  EXPECT_EQ(read(), "# AGENTS.md\n\nRun make.\n\n# CLAUDE.md\n\nBe kind.\n");
}

TEST_F(Instructions, AreNothingWithoutFilesAndThroughLinks) {
  repo_.write("f", "");
  std::filesystem::create_symlink("/etc/passwd", repo_.path() / "AGENTS.md");
  EXPECT_EQ(read(), "");
  repo_.write("CLAUDE.md/file", "a directory");
  EXPECT_EQ(read(), "");
}

TEST_F(Instructions, AreReadOnceWhenOneTextHasTwoNames) {
  repo_.write("AGENTS.md", "Same.\n");
  repo_.write("CLAUDE.md", "Same.\n");
  EXPECT_EQ(read(), "# AGENTS.md\n\nSame.\n");
}

TEST_F(Instructions, AreCutAtTheirLimitAndCleaned) {
  repo_.write("AGENTS.md", std::string((64 << 10) + 1, 'x'));
  EXPECT_THAT(read(), AllOf(HasSubstr("[the rest of AGENTS.md is left out]"), testing::SizeIs(testing::Lt((64u << 10) + 100u))));
  repo_.write("AGENTS.md", std::string(64 << 10, 'x'));
  EXPECT_THAT(read(), Not(HasSubstr("left out")));
  repo_.write("AGENTS.md", "bad \xff byte");
  EXPECT_THAT(read(), HasSubstr("bad \xef\xbf\xbd byte"));
}

}  // namespace
}  // namespace forge::git
