#include "orchestrator/git/resolve.h"

#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class Resolving : public GitTest {
 protected:
  void SetUp() override {
    repo_.write("f", "1");
    first_ = repo_.commit("one");
    repo_.write("f", "2");
    second_ = repo_.commit("two");
    repo_.git({"branch", "topic", first_});
    repo_.git({"tag", "light", first_});
    repo_.git({"tag", "-a", "-m", "annotated", "v1.0", first_});
    repo_.git({"tag", "topic", second_});  // the name of a branch, too
  }
  Base fetch(const std::string& base) { return cache().fetch(repo_.str(), base, soon()); }
  Error failure(const std::string& base) {
    return *test::error_of([&] { fetch(base); });
  }

  test::TempRepo repo_;
  std::string first_;
  std::string second_;
};

TEST_F(Resolving, TakesHeadBranchesTagsReferencesAndIds) {
  for (const auto& [base, commit, ref] :
       std::vector<std::tuple<std::string, std::string, std::string>>{{"", second_, "refs/heads/main"},
                                                                      {"HEAD", second_, "refs/heads/main"},
                                                                      {"main", second_, "refs/heads/main"},
                                                                      {"topic", first_, "refs/heads/topic"},
                                                                      {"refs/heads/topic", first_, "refs/heads/topic"},
                                                                      {"refs/tags/topic", second_, "refs/tags/topic"},
                                                                      {"light", first_, "refs/tags/light"},
                                                                      {"v1.0", first_, "refs/tags/v1.0"},
                                                                      {first_, first_, ""},
                                                                      {first_.substr(0, 7), first_, ""}}) {
    const Base found = fetch(base);
    EXPECT_EQ(found.commit, commit) << base;
    EXPECT_EQ(found.ref, ref) << base;
    EXPECT_EQ(found.tree, repo_.git({"rev-parse", commit + "^{tree}"}));
    EXPECT_EQ(found.repository, repo_.str());
  }
}

TEST_F(Resolving, TakesADetachedHead) {
  repo_.git({"checkout", "--quiet", "--detach", first_});
  EXPECT_EQ(fetch("").commit, first_);
  EXPECT_EQ(fetch("").ref, "");
  repo_.git({"checkout", "--quiet", "topic", "--"});
  EXPECT_EQ(fetch("").ref, "refs/heads/topic");
}

TEST_F(Resolving, RefusesAHeadThatPointsAtNothing) {
  repo_.git({"symbolic-ref", "HEAD", "refs/heads/unborn"});
  const Error error = failure("");
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_THAT(error.client_text(), HasSubstr("points at no branch"));
  EXPECT_THAT(error.client_text(), HasSubstr("main"));
  EXPECT_EQ(fetch("main").commit, second_);
}

TEST_F(Resolving, RefusesAHeadWhoseBranchACrashTookAway) {
  const Base base = fetch("");
  in_mirror(base, {"update-ref", "-d", "refs/remotes/origin/main"});
  const Repository mirror = open_mirror(base.mirror);
  EXPECT_EQ(test::code_of([&] { resolve_base(mirror.get(), "", repo_.str()); }), "invalid_argument");
}

TEST_F(Resolving, RefusesWhatIsNoCommit) {
  const std::string tree = repo_.git({"rev-parse", "HEAD^{tree}"});
  repo_.git({"tag", "of-tree", tree});
  EXPECT_EQ(failure("of-tree").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(failure(tree).code(), ErrorCode::invalid_argument);
  for (const char* base : {"main~1", "main@{1}", ":/one", "..", "refs/heads/", "a..b", "-x", "main^{tree}"})
    EXPECT_EQ(failure(base).code(), ErrorCode::not_found) << base;
  EXPECT_EQ(failure(std::string(2000, 'a')).code(), ErrorCode::invalid_argument);
}

TEST_F(Resolving, NamesAtMostFiveBranches) {
  for (int i = 0; i < 10; ++i) repo_.git({"branch", "feature-" + std::to_string(i)});
  const Error error = failure("feature-x");
  EXPECT_THAT(error.client_text(), HasSubstr("did you mean feature-0, feature-1, feature-2, feature-3, feature-4, ..."));
  EXPECT_EQ(error.field(), "base");
}

TEST_F(Resolving, NamesBranchesOfForgeOnlyWhereThereAreNoOthers) {
  repo_.git({"branch", "-D", "topic"});
  for (int i = 0; i < 10; ++i) repo_.git({"branch", "forge/06f3m2k9qa-" + std::to_string(i)});
  EXPECT_THAT(failure("nope").client_text(), EndsWith("; branches are main"));
  EXPECT_THAT(failure("forge/06f3m2k9qa-11").client_text(), EndsWith("; branches are main"));
  repo_.git({"checkout", "--quiet", "--detach"});
  repo_.git({"branch", "-D", "main"});
  EXPECT_THAT(failure("nope").client_text(), HasSubstr("; branches are forge/06f3m2k9qa-0, "));
}

}  // namespace
}  // namespace forge::git
