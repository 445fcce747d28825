#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

class LocalPush : public GitTest {
 protected:
  void SetUp() override {
    repo_.write("f", "1");
    repo_.write("dir/g", "2");
    repo_.commit("one");
    base_ = cache().fetch(repo_.str(), "", soon());
  }
  std::string make_commit(const Base& base, const std::string& branch, const std::string& text) {
    const auto builder = cache().build_commit(base);
    add(*builder, "dir/new", text);
    return commit(*builder, branch).commit;
  }
  void push(const std::string& id, const std::string& branch) { cache().push(base_, id, branch, soon()); }

  test::TempRepo repo_;
  Base base_;
};

TEST_F(LocalPush, LeavesIndexHeadAndWorkTreeOfTheOriginAlone) {
  repo_.write("f", "dirty");
  repo_.write("untracked", "x");
  repo_.git({"add", "untracked"});
  const std::string status = repo_.git({"status", "--porcelain", "--branch"});
  const std::string index = test::read_file(repo_.path() / ".git/index");
  const std::string head = test::read_file(repo_.path() / ".git/HEAD");
  const std::string id = make_commit(base_, "forge/a-1", "content");
  push(id, "forge/a-1");
  EXPECT_EQ(test::read_file(repo_.path() / ".git/index"), index);
  EXPECT_EQ(test::read_file(repo_.path() / ".git/HEAD"), head);
  EXPECT_EQ(repo_.git({"status", "--porcelain", "--branch"}), status);
  EXPECT_EQ(repo_.git({"rev-parse", "forge/a-1"}), id);
  EXPECT_EQ(repo_.git({"show", "forge/a-1:dir/new"}), "content");
  EXPECT_EQ(repo_.git({"fsck", "--full", "--no-dangling", "--no-progress"}), "");
}

TEST_F(LocalPush, RefusesABranchThatExistsOrStandsInTheWay) {
  const std::string id = make_commit(base_, "forge/a-1", "content");
  push(id, "forge/a-1");
  const auto twice = test::error_of([&] { push(id, "forge/a-1"); });
  EXPECT_EQ(twice->code(), ErrorCode::conflict);
  EXPECT_THAT(twice->client_text(), HasSubstr("the branch 'forge/a-1' exists already"));
  repo_.git({"branch", "-D", "forge/a-1"});
  repo_.git({"branch", "forge"});
  EXPECT_EQ(test::code_of([&] { push(id, "forge/a-1"); }), "conflict");
}

TEST_F(LocalPush, BringsEveryCommitThatTheOriginLacks) {
  const std::string first = make_commit(base_, "forge/a-1", "first");
  Base next = base_;
  next.commit = first;
  next.tree = in_mirror(base_, {"rev-parse", first + "^{tree}"});
  const std::string second = make_commit(next, "forge/a-2", "second");
  push(second, "forge/a-2");
  EXPECT_EQ(repo_.git({"rev-parse", "forge/a-2~1"}), first);
  EXPECT_EQ(repo_.git({"fsck", "--full", "--no-dangling", "--no-progress"}), "");
}

TEST_F(LocalPush, GoesIntoABareRepositoryWithoutRunningItsHooks) {
  const test::BareRepo bare;
  repo_.git({"push", "--quiet", bare.str(), "main"});
  test::write_file(bare.path() / "hooks/pre-receive", "#!/bin/sh\ntouch ran\nexit 1\n");
  fs::permissions(bare.path() / "hooks/pre-receive", fs::perms(0755));
  const Base base = cache().fetch(bare.str(), "", soon());
  const std::string id = make_commit(base, "forge/b-1", "content");
  cache().push(base, id, "forge/b-1", soon());
  EXPECT_EQ(bare.git({"rev-parse", "forge/b-1"}), id);
  EXPECT_FALSE(fs::exists(bare.path() / "ran"));
}

TEST_F(LocalPush, IsStoppedBeforeTheBranchIsMade) {
  const std::string id = make_commit(base_, "forge/a-1", "content");
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(test::code_of([&] { cache().push(base_, id, "forge/a-1", Stop(stopped.get_token())); }), "cancelled");
  EXPECT_THAT(repo_.git({"branch", "--list", "forge/*"}), IsEmpty());
}

TEST_F(LocalPush, NeedsACommitOfTheMirror) {
  EXPECT_EQ(test::code_of([&] { push(std::string(40, '1'), "forge/a-1"); }), "not_found");
  EXPECT_EQ(test::code_of([&] { push("main", "forge/a-1"); }), "invalid_argument");
}

}  // namespace
}  // namespace forge::git
