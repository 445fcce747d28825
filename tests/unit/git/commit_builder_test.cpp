#include "orchestrator/git/commit_builder.h"

#include <sys/stat.h>

#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;
using namespace std::string_literals;

/// Builds on a base with README, src/a.c, run.sh (executable), link -> README, and .gitignore.
class Commits : public GitTest {
 protected:
  void SetUp() override {
    repo_.write("README", "hello\n");
    repo_.write("src/a.c", "int a;\n");
    repo_.write("src/deep/b.c", "int b;\n");
    repo_.write("run.sh", "#!/bin/sh\n");
    repo_.write(".gitignore", "*.o\n/build/\n!keep.o\n");
    repo_.write("src/.gitignore", "generated.*\n");
    repo_.write("tracked.o", "tracked although ignored\n");
    std::filesystem::permissions(repo_.path() / "run.sh", std::filesystem::perms(0755));
    std::filesystem::create_symlink("README", repo_.path() / "link");
    repo_.git({"add", "--force", "tracked.o"});
    repo_.commit("base");
    base_ = cache().fetch(repo_.str(), "", soon());
    builder_ = cache().build_commit(base_);
  }

  CommitBuilder& builder() { return *builder_; }
  CommitBuilder::Result done() {
    auto result = commit(*builder_);
    if (!result.commit.empty()) {
      EXPECT_EQ(in_mirror(base_, {"fsck", "--strict", "--no-dangling", "--no-progress", result.commit}), "");
    }
    return result;
  }
  /// Paths of the new commit, one per line, as git quotes them.
  std::string paths(const CommitBuilder::Result& result) { return in_mirror(base_, {"ls-tree", "-r", "--name-only", result.commit}); }
  /// "100644 path" of what differs from the base.
  std::string changed(const CommitBuilder::Result& result) {
    return in_mirror(base_, {"diff-tree", "-r", "--no-renames", "--name-status", base_.commit, result.commit});
  }

  test::TempRepo repo_;
  Base base_;
  std::unique_ptr<CommitBuilder> builder_;
};

TEST_F(Commits, AddModifyDeleteModesAndLinks) {
  add(builder(), "new/dir/file", "text");
  add(builder(), "README", "changed\n");
  add(builder(), "src/a.c", "int a;\n", true);
  add(builder(), "empty", "");
  builder().remove("run.sh");
  builder().remove("src/deep/b.c");
  builder().add_symlink("other", "../outside");
  const auto result = done();
  EXPECT_EQ(changed(result), "M\tREADME\nA\tempty\nA\tnew/dir/file\nA\tother\nD\trun.sh\nM\tsrc/a.c\nD\tsrc/deep/b.c");
  EXPECT_THAT(in_mirror(base_, {"ls-tree", result.commit, "src/a.c", "other"}), AllOf(HasSubstr("100755 blob"), HasSubstr("120000 blob")));
  EXPECT_THAT(in_mirror(base_, {"ls-tree", "-d", "-r", result.commit}), Not(HasSubstr("src/deep")));
  EXPECT_THAT(result.findings, IsEmpty());
  EXPECT_EQ(in_mirror(base_, {"rev-parse", "refs/forge/runs/forge/test-1", result.commit + "^", result.commit + "^{tree}"}),
            result.commit + "\n" + base_.commit + "\n" + result.tree);
}

TEST_F(Commits, HoldTheConfiguredAuthorAndTheTrailers) {
  auto all = options();
  all.author_name = "For <ge>\n";
  all.author_email = "forge@example.com";
  cache_ = open_repository_cache(std::move(all));
  const auto builder = cache().build_commit(base_);
  add(*builder, "f", "1");
  const auto result =
      builder->commit({.subject = "Fix\nit", .body = "Because.\r\n\n", .trailers = {{"Forge-Job", "abc"}, {"Co-authored-by", "pi <p@x>"}}},
                      "forge/a-1", soon());
  EXPECT_EQ(in_mirror(base_, {"log", "-1", "--format=%an|%ae|%cn|%B", result.commit}),
            "For ge|forge@example.com|For ge|Fix it\n\nBecause.\n\nForge-Job: abc\nCo-authored-by: pi <p@x>\n");
  EXPECT_EQ(in_mirror(base_, {"log", "-1", "--format=%(trailers:key=Forge-Job,valueonly)", result.commit}), "abc\n");
}

TEST_F(Commits, HoldNothingThatATerminalObeysInTheirMessage) {
  add(builder(), "f", "1");
  const std::string hostile = "a\x1b]8;;http://x\x07 \u009b31m \x7f \u202eb";
  const auto result =
      builder().commit({.subject = hostile, .body = "tab\t\r\n" + hostile, .trailers = {{"Model", hostile}}}, "forge/a-1", soon());
  const std::string shown = "a^[]8;;http://x^G ?31m ^? ?b";
  EXPECT_EQ(in_mirror(base_, {"log", "-1", "--format=%B", result.commit}), shown + "\n\ntab\t\n" + shown + "\n\nModel: " + shown + "\n");
}

TEST_F(Commits, AreEmptyWhenNothingChanged) {
  add(builder(), "README", "hello\n");
  add(builder(), "run.sh", "#!/bin/sh\n", true);
  builder().remove("not/there");
  const auto result = done();
  EXPECT_EQ(result.commit, "");
  EXPECT_EQ(result.tree, base_.tree);
}

TEST_F(Commits, NeverTakeOverABranch) {
  add(builder(), "f", "1");
  commit(builder(), "forge/same");
  const auto second = cache().build_commit(base_);
  add(*second, "f", "2");
  EXPECT_EQ(test::code_of([&] { commit(*second, "forge/same"); }), "conflict");
}

// The first table of the page on git: what a tree update does with names.

TEST_F(Commits, LeaveOutNamesThatGitRefusesAndKeepTheRest) {
  for (const std::string& path :
       std::vector<std::string>{".GIT/config", "a/git~1", "../up", "a//b", "/abs", ".git\u200c/x", ".git /x", "a\0b"s})
    add(builder(), path, "bad");
  add(builder(), "good", "good");
  const auto result = done();
  EXPECT_EQ(changed(result), "A\tgood");
  EXPECT_EQ(result.findings.size(), 8u);
  EXPECT_THAT(kinds(result.findings), testing::Each("refused_name"));
}

TEST_F(Commits, CarryLineBreaksOtherEncodingsAndBackslashes) {
  add(builder(), "line\nbreak", "1");
  add(builder(), "caf\xe9", "2");
  add(builder(), "back\\slash", "3");
  const auto result = done();
  EXPECT_EQ(changed(result), "A\t\"back\\\\slash\"\nA\t\"caf\\351\"\nA\t\"line\\nbreak\"");
  EXPECT_THAT(kinds(result.findings), ElementsAre("unusual_name", "unusual_name", "unusual_name"));
}

TEST_F(Commits, WarnOfNamesThatWindowsCannotHaveAndOfCasePairs) {
  add(builder(), "CON", "1");
  add(builder(), "trailing.", "2");
  add(builder(), "readme", "3");
  add(builder(), "x/Same", "4");
  add(builder(), "x/sAME", "5");
  const auto result = done();
  EXPECT_EQ(changed(result), "A\tCON\nA\treadme\nA\ttrailing.\nA\tx/Same\nA\tx/sAME");
  EXPECT_THAT(kinds(result.findings), UnorderedElementsAre("windows_name", "windows_name", "case_pair", "case_pair"));
}

TEST_F(Commits, KeepABareRepositoryAndTellOfIt) {
  for (const char* file : {"HEAD", "config", "hooks/post-checkout", "objects/info/x", "refs/x"})
    add(builder(), std::string("a/b.git/") + file, "1");
  add(builder(), "shared/head", "1");
  add(builder(), "shared/commondir", "1");
  add(builder(), "linked/HEAD", "1");
  builder().add_symlink("linked/objects", "../a/b.git/objects");
  builder().add_symlink("linked/refs", "../a/b.git/refs");
  add(builder(), "none/HEAD", "1");
  add(builder(), "none/refs/x", "1");
  const auto result = done();
  EXPECT_THAT(paths(result), AllOf(HasSubstr("a/b.git/HEAD"), HasSubstr("a/b.git/config"), HasSubstr("linked/refs")));
  std::vector<std::string> told;
  for (const auto& one : result.findings) told.push_back(one.kind + " " + one.path);
  EXPECT_THAT(told, UnorderedElementsAre("bare_repository a/b.git", "bare_repository shared", "bare_repository linked"));
}

TEST_F(Commits, TellOfARepositoryThatIsMadeOrChangedOnTopOfTheBase) {
  for (const char* file : {"objects/x", "refs/x", "old/HEAD", "old/objects/x", "old/refs/x"}) repo_.write(file, "1");
  repo_.commit("parts of one");
  base_ = cache().fetch(repo_.str(), "", soon());
  const auto untouched = cache().build_commit(base_);
  add(*untouched, "other", "1");
  untouched->remove("old/refs/x");
  EXPECT_THAT(commit(*untouched, "forge/test-1").findings, IsEmpty());
  const auto touched = cache().build_commit(base_);
  add(*touched, "HEAD", "1");
  add(*touched, "old/config", "1");
  std::vector<std::string> told;
  for (const auto& one : commit(*touched, "forge/test-2").findings) told.push_back(one.kind + " " + one.path);
  EXPECT_THAT(told, UnorderedElementsAre("bare_repository .", "bare_repository old"));
}

TEST_F(Commits, RefuseALinkNamedGitmodulesAndShowAChangedOne) {
  builder().add_symlink(".gitmodules", "/etc/passwd");
  builder().add_symlink("sub/.gitmodules ", "x");
  add(builder(), "good", "1");
  const auto result = done();
  EXPECT_EQ(changed(result), "A\tgood");
  EXPECT_THAT(kinds(result.findings), Contains("refused_name").Times(2));

  const auto second = cache().build_commit(base_);
  add(*second, ".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ../x\n");
  const auto made = commit(*second, "forge/test-2");
  EXPECT_THAT(kinds(made.findings), ElementsAre("gitmodules_changed"));
  EXPECT_EQ(changed(made), "A\t.gitmodules");
}

TEST_F(Commits, LetAFileBecomeADirectoryAndTheReverseInAnyOrder) {
  add(builder(), "README/now/a/directory", "1");
  builder().remove("README");
  add(builder(), "src", "a file now");
  builder().remove("src/a.c");
  builder().remove("src/deep/b.c");
  builder().remove("src/.gitignore");
  add(builder(), "link/x", "2");
  builder().remove("link");
  const auto result = done();
  EXPECT_EQ(changed(result),
            "D\tREADME\nA\tREADME/now/a/directory\nD\tlink\nA\tlink/x\nA\tsrc\nD\tsrc/.gitignore\nD\tsrc/a.c\nD\tsrc/deep/b.c");
  EXPECT_THAT(result.findings, IsEmpty());
}

TEST_F(Commits, KeepTheLastWordAboutAPath) {
  add(builder(), "twice", "first");
  add(builder(), "twice", "second");
  add(builder(), "gone", "x");
  builder().remove("gone");
  const auto result = done();
  EXPECT_EQ(changed(result), "A\ttwice");
  EXPECT_EQ(in_mirror(base_, {"show", result.commit + ":twice"}), "second");
}

TEST_F(Commits, RemoveDirectoriesWithTheirLastFile) {
  for (const char* path : {"src/a.c", "src/deep/b.c", "src/.gitignore"}) builder().remove(path);
  const auto result = done();
  EXPECT_THAT(in_mirror(base_, {"ls-tree", result.commit, "--name-only"}), Not(HasSubstr("src")));
}

TEST_F(Commits, CanBeOfAnEmptyTree) {
  for (const char* path : {"README", "src/a.c", "src/deep/b.c", "run.sh", ".gitignore", "src/.gitignore", "tracked.o", "link"})
    builder().remove(path);
  const auto result = done();
  EXPECT_EQ(paths(result), "");
  EXPECT_FALSE(result.commit.empty());
}

// The second table: what an agent can leave in a work tree.

TEST_F(Commits, KeepTheFilesOfANestedRepositoryAndLeaveOutItsGit) {
  add(builder(), "vendor/lib/code.c", "1");
  add(builder(), "vendor/lib/.git/HEAD", "ref: refs/heads/main\n");
  add(builder(), "vendor/lib/.git/config", "[core]\n\tfsmonitor = evil\n");
  add(builder(), "only/.git/junk", "");
  add(builder(), "src/.git/config", "made in a tracked directory");
  add(builder(), ".git/config", "[core]\n\tworktree = /\n");
  add(builder(), "linked/.git", "gitdir: /elsewhere\n");
  add(builder(), "linked/f", "2");
  const auto result = done();
  EXPECT_EQ(changed(result), "A\tlinked/f\nA\tvendor/lib/code.c");
  EXPECT_THAT(kinds(result.findings),
              ElementsAre("nested_repository", "nested_repository", "nested_repository", "git_directory", "nested_repository"));
  EXPECT_EQ(result.findings[0].path, "vendor/lib");
}

TEST_F(Commits, StoreLinksToSystemFilesAsLinks) {
  builder().add_symlink("passwd", "/etc/passwd");
  builder().add_symlink("up", "../../../etc");
  const auto result = done();
  EXPECT_EQ(in_mirror(base_, {"show", result.commit + ":passwd"}), "/etc/passwd");
  EXPECT_EQ(in_mirror(base_, {"ls-tree", result.commit, "up"}).substr(0, 6), "120000");
}

TEST_F(Commits, LeaveOutWhatTheBaseIgnoresAndKeepWhatItTracks) {
  add(builder(), "a.o", "1");
  add(builder(), "deep/er/b.o", "2");
  add(builder(), "build/out.txt", "3");
  add(builder(), "src/generated.c", "4");
  add(builder(), "keep.o", "5");
  add(builder(), "other/build/x", "6");
  add(builder(), "tracked.o", "changed");
  // Written by the agent: it must not hide or show anything.
  add(builder(), ".gitignore", "*\n");
  add(builder(), "new/.gitignore", "*\n");
  add(builder(), "new/seen", "7");
  const auto result = done();
  EXPECT_EQ(changed(result), "M\t.gitignore\nA\tkeep.o\nA\tnew/.gitignore\nA\tnew/seen\nA\tother/build/x\nM\ttracked.o");
  ASSERT_EQ(kinds(result.findings), std::vector<std::string>{"ignored"});
  EXPECT_EQ(result.findings[0].message, "4 new files left out: the base's .gitignore matches");
  EXPECT_EQ(result.findings[0].path, "a.o");
}

TEST_F(Commits, ReportFilesThatAreTooLargeOrEndEarly) {
  bool asked = false;
  builder().add_file("sparse", false, 8LL << 30, [&](char*, std::size_t) {
    asked = true;
    return std::size_t{0};
  });
  EXPECT_FALSE(asked);
  builder().add_file("short", false, 100, reading("only this"));
  add(builder(), "good", "1");
  const auto result = done();
  EXPECT_EQ(changed(result), "A\tgood");
  EXPECT_THAT(kinds(result.findings), ElementsAre("too_large", "unreadable"));
}

TEST_F(Commits, ListOnlyTheFirstOfManyFindings) {
  for (int i = 0; i < 200; ++i) add(builder(), ".GIT/" + std::to_string(i), "x");
  const auto result = done();
  EXPECT_EQ(result.findings.size(), 51u);
  EXPECT_EQ(result.findings.back().message, "150 more of this kind are not listed");
}

TEST_F(Commits, HideNothingInASubmodule) {
  const test::TempRepo outer;
  outer.write("f", "1");
  outer.git({"update-index", "--add", "--cacheinfo", "160000," + repo_.head() + ",sub"});
  outer.git({"add", "f"});
  outer.git({"commit", "--quiet", "-m", "one"});
  const Base base = cache().fetch(outer.str(), "", soon());
  const auto builder = cache().build_commit(base);
  add(*builder, "sub/x/y", "content");
  add(*builder, "f", "2");
  const auto result = commit(*builder);
  EXPECT_EQ(in_mirror(base, {"diff-tree", "-r", "--name-status", base.commit, result.commit}), "M\tf");
  EXPECT_THAT(kinds(result.findings), ElementsAre("submodule_content"));
  EXPECT_THAT(in_mirror(base, {"ls-tree", result.commit, "sub"}), HasSubstr("160000 commit " + repo_.head()));
}

TEST_F(Commits, WorkForThousandsOfNewFiles) {
  for (int i = 0; i < 5000; ++i) add(builder(), "many/" + std::to_string(i % 50) + "/" + std::to_string(i), std::to_string(i));
  const auto result = done();
  EXPECT_EQ(in_mirror(base_, {"diff-tree", "-r", "--shortstat", base_.commit, result.commit}), " 5000 files changed, 5000 insertions(+)");
}

}  // namespace
}  // namespace forge::git
