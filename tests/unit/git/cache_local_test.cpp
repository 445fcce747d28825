#include <fstream>
#include <thread>

#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using CacheLocal = GitTest;
namespace fs = std::filesystem;

TEST_F(CacheLocal, FetchesHeadOfAPathAndLaysItOut) {
  const test::TempRepo repo;
  repo.write("README", "hello\n");
  repo.write("src/run.sh", "#!/bin/sh\n");
  fs::permissions(repo.path() / "src/run.sh", fs::perms(0755));
  fs::create_symlink("../README", repo.path() / "src/link");
  const std::string head = repo.commit("one");

  const Base base = cache().fetch(repo.str(), "", soon());
  EXPECT_EQ(base.ref, "refs/heads/main");
  EXPECT_EQ(base.commit, head);
  EXPECT_EQ(base.uncommitted_files, 0);
  EXPECT_EQ(in_mirror(base, {"rev-parse", "refs/remotes/origin/main"}), head);

  const auto checkout = cache().checkout(base, soon());
  const fs::path tree = checkout->directory();
  EXPECT_EQ(test::read_file(tree / "README"), "hello\n");
  EXPECT_EQ(fs::status(tree / "src/run.sh").permissions(), fs::perms(0755));
  EXPECT_EQ(fs::status(tree / "README").permissions(), fs::perms(0644));
  EXPECT_EQ(fs::read_symlink(tree / "src/link"), "../README");
  EXPECT_FALSE(fs::exists(tree / ".git"));
  EXPECT_THAT(checkout->notes(), IsEmpty());
}

TEST_F(CacheLocal, TakesFileUrlsAndBareRepositories) {
  const test::TempRepo repo;
  repo.write("a b", "1");
  const std::string head = repo.commit("one");
  const test::BareRepo bare;
  repo.git({"push", "--quiet", bare.str(), "main"});
  EXPECT_EQ(cache().fetch("file://" + bare.str(), "main", soon()).commit, head);
  EXPECT_EQ(cache().fetch(bare.str(), "main", soon()).mirror, cache().fetch("file://" + bare.str() + "/", "main", soon()).mirror);
}

TEST_F(CacheLocal, SeesNewCommitsRewrittenAndRemovedBranches) {
  const test::TempRepo repo;
  repo.write("f", "1");
  const std::string first = repo.commit("one");
  repo.git({"branch", "topic"});
  EXPECT_EQ(cache().fetch(repo.str(), "topic", soon()).commit, first);
  repo.write("f", "2");
  const std::string second = repo.commit("two");
  repo.git({"branch", "-D", "topic"});
  repo.git({"branch", "topic/deeper"});
  EXPECT_EQ(cache().fetch(repo.str(), "topic/deeper", soon()).commit, second);
  EXPECT_EQ(test::code_of([&] { cache().fetch(repo.str(), "topic", soon()); }), "not_found");
  repo.git({"reset", "--quiet", "--hard", first});
  repo.write("f", "3");
  const std::string rewritten = repo.commit("other two");
  EXPECT_EQ(cache().fetch(repo.str(), "", soon()).commit, rewritten);
}

TEST_F(CacheLocal, SeesNewCommitsOfADetachedHeadThatNoBranchHolds) {
  const test::TempRepo repo;
  repo.write("f", "1");
  const std::string first = repo.commit("one");
  repo.git({"checkout", "--quiet", "--detach"});
  EXPECT_EQ(cache().fetch(repo.str(), "", soon()).commit, first);
  repo.write("f", "2");
  const std::string second = repo.commit("in the middle of a rebase");
  const Base base = cache().fetch(repo.str(), "", soon());
  EXPECT_EQ(base.commit, second);
  EXPECT_EQ(base.ref, "");
  EXPECT_EQ(test::read_file(fs::path(cache().checkout(base, soon())->directory()) / "f"), "2");
}

TEST_F(CacheLocal, TakesADetachedHeadWithoutAnyBranch) {
  const test::TempRepo repo;
  repo.write("f", "1");
  const std::string head = repo.commit("one");
  repo.git({"checkout", "--quiet", "--detach"});
  repo.git({"branch", "--quiet", "-D", "main"});
  EXPECT_EQ(cache().fetch(repo.str(), "", soon()).commit, head);
}

TEST_F(CacheLocal, KeepsRunBranchesWhenTheMirrorIsRefreshed) {
  const test::TempRepo repo;
  repo.write("f", "1");
  repo.commit("one");
  const Base base = cache().fetch(repo.str(), "", soon());
  const auto builder = cache().build_commit(base);
  add(*builder, "g", "new");
  const auto made = commit(*builder);
  repo.write("f", "2");
  repo.commit("two");
  cache().fetch(repo.str(), "", soon());
  EXPECT_EQ(in_mirror(base, {"rev-parse", "refs/forge/runs/forge/test-1"}), made.commit);
}

TEST_F(CacheLocal, FetchesAReferenceNamedInWhole) {
  const test::TempRepo repo;
  repo.write("f", "1");
  repo.commit("one");
  repo.write("f", "2");
  const std::string second = repo.commit("two");
  repo.git({"update-ref", "refs/pull/7/head", second});
  repo.git({"reset", "--quiet", "--hard", "HEAD~1"});
  const Base base = cache().fetch(repo.str(), "refs/pull/7/head", soon());
  EXPECT_EQ(base.commit, second);
  EXPECT_EQ(base.ref, "refs/pull/7/head");
  // A second pull request of an existing mirror.
  repo.write("f", "3");
  const std::string third = repo.commit("three");
  repo.git({"update-ref", "refs/pull/8/head", third});
  EXPECT_EQ(cache().fetch(repo.str(), "refs/pull/8/head", soon()).commit, third);
  EXPECT_EQ(test::code_of([&] { cache().fetch(repo.str(), "refs/pull/9/head", soon()); }), "not_found");
}

TEST_F(CacheLocal, WorksOnAShallowCloneAndOnOneThatBorrowsObjects) {
  const test::TempRepo repo;
  for (const char* text : {"1", "2", "3"}) {
    repo.write("f", text);
    repo.commit(text);
  }
  const test::TempDir place;
  repo.git({"clone", "--quiet", "--depth=1", "file://" + repo.str(), (place / "shallow").string()});
  repo.git({"clone", "--quiet", "--shared", repo.str(), (place / "shared").string()});
  for (const char* name : {"shallow", "shared"}) {
    const fs::path clone = place / name;
    const Base base = cache().fetch(clone.string(), "", soon());
    EXPECT_EQ(base.commit, repo.head());
    test::write_file(clone / "f", "4");
    test::run_git(clone, {"commit", "--quiet", "-am", "four"});
    const Base next = cache().fetch(clone.string(), "", soon());
    EXPECT_EQ(next.commit, test::run_git(clone, {"rev-parse", "HEAD"})) << name;
    const auto builder = cache().build_commit(next);
    add(*builder, "new", name);
    const auto made = commit(*builder);
    cache().push(next, made.commit, "forge/test-1", soon());
    EXPECT_EQ(test::run_git(clone, {"rev-parse", "forge/test-1"}), made.commit) << name;
    EXPECT_EQ(test::run_git(clone, {"show", "forge/test-1:new"}), name);
  }
}

TEST_F(CacheLocal, OpensALinkedWorkTree) {
  const test::TempRepo repo;
  repo.write("f", "1");
  repo.commit("one");
  const test::TempDir place;
  repo.git({"worktree", "add", "--quiet", "-b", "side", (place / "side").string()});
  test::write_file(place / "side" / "f", "2");
  test::run_git(place / "side", {"commit", "--quiet", "-am", "two"});
  const Base base = cache().fetch((place / "side").string(), "", soon());
  EXPECT_EQ(base.ref, "refs/heads/side");
  EXPECT_EQ(base.commit, test::run_git(place / "side", {"rev-parse", "HEAD"}));
}

TEST_F(CacheLocal, SurvivesAGarbageCollectionOfTheSource) {
  const test::TempRepo repo;
  repo.write("f", "1");
  repo.commit("one");
  const Base base = cache().fetch(repo.str(), "", soon());
  repo.git({"gc", "--quiet", "--prune=now"});
  fs::remove_all(repo.path() / ".git");
  EXPECT_EQ(test::read_file(fs::path(cache().checkout(base, soon())->directory()) / "f"), "1");
  EXPECT_EQ(in_mirror(base, {"fsck", "--full", "--no-progress"}), "");
}

TEST_F(CacheLocal, LetsManyCallersFetchAtOnce) {
  const test::TempRepo repo;
  repo.write("f", "1");
  const std::string head = repo.commit("one");
  cache();
  std::vector<std::string> commits(8);
  {
    std::vector<std::jthread> threads;
    for (std::string& commit : commits)
      threads.emplace_back([&] {
        const Base base = cache().fetch(repo.str(), "", soon());
        commit = cache().checkout(base, soon())->directory().empty() ? "" : base.commit;
      });
  }
  EXPECT_THAT(commits, testing::Each(head));
}

TEST_F(CacheLocal, StopsWhenAsked) {
  const test::TempRepo repo;
  repo.write("f", "1");
  repo.commit("one");
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(test::code_of([&] { cache().fetch(repo.str(), "", Stop(stopped.get_token())); }), "cancelled");
  const Base base = cache().fetch(repo.str(), "", soon());
  EXPECT_EQ(test::code_of([&] { cache().checkout(base, Stop(stopped.get_token())); }), "cancelled");
  EXPECT_EQ(fs::exists(cache().checkout(base, soon())->directory()), true);
}

struct Refusal {
  std::string code;
  std::string text;
};

class CacheLocalErrors : public GitTest {
 protected:
  Refusal refusal(const std::string& repository, const std::string& base = "") {
    const auto error = test::error_of([&] { cache().fetch(repository, base, soon()); });
    return {std::string(name_of(error->code())), error->client_text() + " | " + error->hint()};
  }
};

TEST_F(CacheLocalErrors, SayWhatIsWrongWithAPath) {
  const test::TempDir place;
  const Refusal missing = refusal((place / "nowhere").string());
  EXPECT_EQ(missing.code, "not_found");
  EXPECT_THAT(missing.text, HasSubstr("there is no directory '"));
  const Refusal plain = refusal(place.str());
  EXPECT_EQ(plain.code, "invalid_argument");
  EXPECT_THAT(plain.text, HasSubstr("is not a git repository | run `git init`"));
  test::write_file(place / "file", "");
  EXPECT_THAT(refusal((place / "file").string()).text, HasSubstr("is not a directory"));
  EXPECT_TRUE(fs::is_empty(data_ / "mirrors"));
}

TEST_F(CacheLocalErrors, RefuseWithoutLookingAboveThePath) {
  const test::TempRepo repo;
  repo.write("sub/f", "1");
  repo.commit("one");
  EXPECT_EQ(refusal(repo.str() + "/sub").code, "invalid_argument");
}

TEST_F(CacheLocalErrors, RefuseAnEmptyRepository) {
  const test::TempRepo repo;
  const Refusal empty = refusal(repo.str());
  EXPECT_EQ(empty.code, "invalid_argument");
  EXPECT_THAT(empty.text, HasSubstr("is empty: it has no branch with a commit | make a first commit in it"));
}

TEST_F(CacheLocalErrors, RefuseSha256) {
  const test::TempDir place;
  test::run_git(place.path(), {"init", "--quiet", "--object-format=sha256"});
  const Refusal sha256 = refusal(place.str());
  EXPECT_EQ(sha256.code, "unsupported");
  EXPECT_THAT(sha256.text, HasSubstr("SHA-256"));
}

TEST_F(CacheLocalErrors, TellThatAPartialCloneLacksContent) {
  const test::TempRepo repo;
  repo.write("f", "old");
  repo.commit("one");
  repo.write("f", "new");
  repo.commit("two");
  repo.git({"config", "uploadpack.allowFilter", "true"});
  const test::TempDir place;
  const std::string clone = (place / "partial").string();
  repo.git({"clone", "--quiet", "--filter=blob:none", "file://" + repo.str(), clone});
  EXPECT_NO_THROW(cache().checkout(cache().fetch(clone, "", soon()), soon()));
  const Base old = cache().fetch(clone, test::run_git(clone, {"rev-parse", "HEAD~1"}), soon());
  const auto error = test::error_of([&] { cache().checkout(old, soon()); });
  EXPECT_EQ(error->code(), ErrorCode::corrupt);
  EXPECT_THAT(error->client_text(), HasSubstr("lacks the content of 'f'"));
}

TEST_F(CacheLocalErrors, NameTheNearestBranches) {
  const test::TempRepo repo;
  repo.write("f", "1");
  repo.commit("one");
  repo.git({"branch", "release-1"});
  repo.git({"branch", "release-2"});
  const Refusal wrong = refusal(repo.str(), "relese-1");
  EXPECT_EQ(wrong.code, "not_found");
  EXPECT_THAT(wrong.text, HasSubstr("has no branch, tag or commit 'relese-1'; did you mean release-1, release-2, main"));
  EXPECT_THAT(refusal(repo.str(), "0123456789abcdef0123456789abcdef01234567").text, HasSubstr("no branch or tag of '"));
}

}  // namespace
}  // namespace forge::git
