#include "tests/support/temp_repo.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/errors.h"

namespace forge::test {
namespace {

TEST(TempRepos, CommitTheirWorkTree) {
  const TempRepo repo;
  repo.write("src/a.txt", "one\n");
  const std::string first = repo.commit("first");
  EXPECT_EQ(first.size(), 40u);
  EXPECT_EQ(repo.head(), first);
  EXPECT_EQ(repo.git({"show", "HEAD:src/a.txt"}), "one");
  repo.remove("src");
  repo.write("b.txt", "two\n");
  repo.commit("second");
  EXPECT_EQ(repo.git({"ls-tree", "-r", "--name-only", "HEAD"}), "b.txt");
  EXPECT_EQ(repo.git({"symbolic-ref", "HEAD"}), "refs/heads/main");
}

TEST(TempRepos, GiveTheSameCommitsEveryTime) {
  const TempRepo a;
  const TempRepo b;
  for (const TempRepo* repo : {&a, &b}) repo->write("file", "text\n");
  EXPECT_EQ(a.commit("message"), b.commit("message"));
}

TEST(TempRepos, ReadNoConfigurationOfTheUser) {
  const TempDir home;
  write_file(home / ".gitconfig", "[user]\nname = Somebody Else\n");
  ::setenv("HOME", home.str().c_str(), 1);
  const TempRepo repo;
  repo.commit("empty");
  EXPECT_EQ(repo.git({"log", "--format=%an <%ae> %at"}), "Test Author <author@test.invalid> 1767225600");
}

TEST(TempRepos, SayWhatGitSaid) {
  const TempRepo repo;
  const auto error = error_of([&] { repo.git({"rev-parse", "--verify", "none"}); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "git rev-parse failed: fatal: Needed a single revision\n");
}

TEST(BareRepos, TakePushes) {
  const BareRepo remote;
  const TempRepo repo;
  repo.write("file", "text\n");
  const std::string commit = repo.commit("first");
  repo.git({"push", "--quiet", remote.str(), "main"});
  EXPECT_EQ(remote.git({"rev-parse", "main"}), commit);
}

}  // namespace
}  // namespace forge::test
