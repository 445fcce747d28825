#include <sys/stat.h>

#include "orchestrator/git/local_source.h"
#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

namespace fs = std::filesystem;

class Uncommitted : public testing::Test {
 protected:
  void SetUp() override {
    use_libgit2();
    for (const char* file : {"a", "b", "dir/c", "dir/d"}) repo_.write(file, "text\n");
    repo_.write(".gitignore", "*.o\nout/\n");
    repo_.commit("one");
  }
  std::int64_t count(std::int64_t most = 100) { return count_uncommitted(LocalSource::open(repo_.str(), soon()), most, soon()); }

  test::TempRepo repo_;
};

TEST_F(Uncommitted, IsNothingInACleanOrABareRepository) {
  EXPECT_EQ(count(), 0);
  repo_.write("x.o", "ignored");
  repo_.write("out/y", "ignored");
  repo_.write("fresh/z.o", "ignored");
  fs::create_directories(repo_.path() / "empty/dir");
  EXPECT_EQ(count(), 0);
  const test::BareRepo bare;
  EXPECT_EQ(count_uncommitted(LocalSource::open(bare.str(), soon()), 100, soon()), 0);
}

TEST_F(Uncommitted, CountsEachFileOnce) {
  repo_.write("a", "longer text\n");  // changed
  fs::remove(repo_.path() / "b");     // deleted
  repo_.write("dir/c", "staged\n");   // staged ...
  repo_.git({"add", "dir/c"});
  repo_.write("dir/c", "and changed again\n");               // ... and changed
  fs::permissions(repo_.path() / "dir/d", fs::perms(0755));  // mode
  repo_.write("new", "");                                    // new
  repo_.write("new-dir/one", "");                            // a new directory, once
  repo_.write("new-dir/two", "");
  EXPECT_EQ(count(), 6);
  EXPECT_EQ(count(3), 3);
}

TEST_F(Uncommitted, CountsFilesStagedAndThenRemoved) {
  repo_.write("staged", "x");
  repo_.git({"add", "staged"});
  EXPECT_EQ(count(), 1);
  repo_.git({"rm", "--quiet", "--cached", "a"});
  EXPECT_EQ(count(), 2);
}

TEST_F(Uncommitted, KnowsLinksAndSkipsWhatGitWasToldToSkip) {
  fs::remove(repo_.path() / "a");
  fs::create_symlink("b", repo_.path() / "a");
  EXPECT_EQ(count(), 1);
  repo_.git({"update-index", "--assume-unchanged", "a"});
  EXPECT_EQ(count(), 0);
  repo_.git({"update-index", "--skip-worktree", "b"});
  fs::remove(repo_.path() / "b");
  EXPECT_EQ(count(), 0);
}

TEST_F(Uncommitted, IsNotHeldUpByAPipe) {
  ASSERT_EQ(::mkfifo((repo_.path() / "pipe").c_str(), 0644), 0);
  fs::remove(repo_.path() / "a");
  ASSERT_EQ(::mkfifo((repo_.path() / "a").c_str(), 0644), 0);
  EXPECT_EQ(count(), 1);
}

TEST_F(Uncommitted, IsReportedForHeadOnly) {
  const test::TempDir data;
  const auto log = make_null_log();
  const auto cache = open_repository_cache({.directory = data.str(), .helper_program = "/bin/false", .log = *log});
  repo_.git({"branch", "other"});
  repo_.write("a", "two\n");
  repo_.commit("two");
  repo_.write("a", "dirty now\n");
  EXPECT_EQ(cache->fetch(repo_.str(), "", soon()).uncommitted_files, 1);
  EXPECT_EQ(cache->fetch(repo_.str(), "other", soon()).uncommitted_files, 0);
}

}  // namespace
}  // namespace forge::git
