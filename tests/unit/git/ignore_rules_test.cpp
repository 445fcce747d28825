#include "orchestrator/git/ignore_rules.h"

#include "orchestrator/git/handles.h"
#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

namespace fs = std::filesystem;

class IgnoreRulesTest : public testing::Test {
 protected:
  void SetUp() override { use_libgit2(); }
  /// What the rules of HEAD say, path by path.
  std::vector<bool> rules(const std::vector<std::string>& paths) {
    const Repository repository = open_mirror(repo_.str() + "/.git");
    BaseTree base(repository.get(), oid_of(repo_.git({"rev-parse", "HEAD^{tree}"})));
    IgnoreRules ignore(repository.get(), base);
    std::vector<bool> all;
    for (const std::string& path : paths) all.push_back(ignore.ignores(path));
    return all;
  }
  /// The same question to git, in a work tree with these files.
  bool git_ignores(const std::string& path) {
    repo_.write(path, "");
    try {
      repo_.git({"check-ignore", "--no-index", "--quiet", "--", path});
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  test::TempRepo repo_;
  test::TempDir place_;
};

TEST_F(IgnoreRulesTest, AnswerAsGitDoes) {
  repo_.write(".gitignore",
              "# a comment\n*.o\n!important.o\n/top\nbuild/\ndocs/*.html\n**/cache\na/**/z\n\\#hash\ntrail \n[Tt]emp\n*.tmp\n\n!\\!bang\n");
  repo_.write("sub/.gitignore", "!*.o\nlocal\n/anchored\nsecret?\n");
  repo_.write("sub/deep/.gitignore", "*\n!keep\n!.gitignore\n");
  repo_.commit("rules");
  const std::vector<std::string> paths{
      "x.o",           "important.o",   "dir/x.o",     "top",         "dir/top",      "build/x",        "dir/build/y", "docs/a.html",
      "docs/x/a.html", "cache/f",       "p/q/cache/f", "a/z",         "a/b/c/z",      "#hash",          "temp",        "Temp/x",
      "tempo",         "sub/x.o",       "sub/local",   "sub/q/local", "sub/anchored", "sub/q/anchored", "sub/secret1", "sub/secret12",
      "sub/deep/any",  "sub/deep/keep", "plain",       "x.tmp/y"};
  const std::vector<bool> found = rules(paths);
  for (std::size_t i = 0; i < paths.size(); ++i) EXPECT_EQ(found[i], git_ignores(paths[i])) << paths[i];
}

TEST_F(IgnoreRulesTest, AreThoseOfTheCommitAndNotOfTheWorkTree) {
  repo_.write(".gitignore", "*.o\n");
  repo_.commit("rules");
  repo_.write(".gitignore", "*.c\n");
  repo_.write(".git/info/exclude", "*.x\n");
  EXPECT_EQ(rules({"a.o", "a.c", "a.x"}), (std::vector<bool>{true, false, false}));
}

TEST_F(IgnoreRulesTest, FollowNoLink) {
  test::write_file(place_ / "outside", "*\n");
  fs::create_symlink(place_ / "outside", repo_.path() / ".gitignore");
  repo_.write("d/.gitignore", "x\n");
  repo_.commit("a link");
  EXPECT_EQ(rules({"anything", "d/x", "d/y"}), (std::vector<bool>{false, true, false}));
}

// git and libgit2 try and go back: with patterns like these both are still at it after minutes. Rules come from repositories, which are not
// trusted, and nobody can interrupt a match.
TEST_F(IgnoreRulesTest, HoldNobodyUpWithManyStars) {
  std::string deep;
  for (int i = 0; i < 60; ++i) deep += std::string(40, 'a') + "/";
  for (const char* pattern : {"**/*a*a*a*a*a*a*a*a*ab", "**/*a*/**/*a*/**/*a*/**/*a*/**/*a*/**/b", "**/a*/**/a*/**/a*/**/a*/**/a*/b"}) {
    repo_.write(".gitignore", std::string(pattern) + "\n");
    repo_.commit("hostile");
    EXPECT_EQ(rules({deep + "c"}), std::vector<bool>{false}) << pattern;
  }
}

TEST_F(IgnoreRulesTest, SayNothingWhenTheCommitHasNone) {
  repo_.write("f", "");
  repo_.commit("no rules");
  EXPECT_EQ(rules({"a.o", "build/x"}), (std::vector<bool>{false, false}));
}

}  // namespace
}  // namespace forge::git
