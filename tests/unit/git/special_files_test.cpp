#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "orchestrator/base/fd.h"
#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

void make_fifo(const fs::path& path) {
  fs::remove(path);
  fs::create_directories(path.parent_path());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0) << path;
}

/// A repository with a commit on a branch and a tag, loose and packed objects, and something uncommitted.
class SpecialFiles : public GitTest {
 protected:
  void SetUp() override {
    repo_.write("f", "1");
    repo_.commit("one");
    repo_.git({"tag", "v1"});
    repo_.git({"repack", "--quiet", "-ad"});
    repo_.git({"pack-refs", "--all"});
    repo_.write("f", "2");
    repo_.commit("two");
    repo_.write("dir/new", "3");
  }
  fs::path git(const std::string& name) const { return repo_.path() / ".git" / name; }
  fs::path pack_index() const {
    for (const auto& entry : fs::directory_iterator(git("objects/pack")))
      if (entry.path().extension() == ".idx") return entry.path();
    return {};
  }
  fs::path loose_branch() const { return git("refs/heads/main"); }

  /// The whole text of the refusal. A fetch that waits for a FIFO hangs until CTest ends it.
  std::string refusal() { return refusal_of(repo_.str()); }
  std::string refusal_of(const std::string& repository) {
    try {
      cache().fetch(repository, "", soon());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
      return error.client_text();
    }
    return "no refusal";
  }

  test::TempRepo repo_;
  test::TempDir place_;
};

TEST_F(SpecialFiles, AreRefusedWhereverGitReads) {
  const fs::path places[] = {git("HEAD"),
                             git("config"),
                             git("packed-refs"),
                             git("index"),
                             git("shallow"),
                             git("commondir"),
                             loose_branch(),
                             git("refs/tags/t"),
                             git("logs/refs/heads/forge/x"),
                             git("info/exclude"),
                             git("objects/info/alternates"),
                             git("objects/pack/pack-1.idx"),
                             pack_index(),
                             git("objects/00/" + std::string(38, '0'))};
  for (const fs::path& path : places) {
    const fs::path saved = place_ / "saved";
    fs::remove(saved);
    if (fs::exists(path)) fs::rename(path, saved);
    make_fifo(path);
    EXPECT_EQ(refusal(), "'" + path.string() + "' is a FIFO");
    fs::remove(path);
    if (fs::exists(saved)) fs::rename(saved, path);
  }
  EXPECT_EQ(refusal(), "no refusal");
}

TEST_F(SpecialFiles, AreRefusedBehindLinks) {
  make_fifo(place_ / "fifo");
  fs::remove(git("packed-refs"));
  fs::create_symlink(place_ / "fifo", git("packed-refs"));
  EXPECT_THAT(refusal(), HasSubstr("packed-refs' is a FIFO"));
  fs::remove(git("packed-refs"));
  fs::create_symlink("/dev/zero", git("packed-refs"));
  EXPECT_THAT(refusal(), HasSubstr("packed-refs' is a device"));
  fs::remove(git("packed-refs"));
  fs::create_symlink("/proc/self/status", git("packed-refs"));
  EXPECT_THAT(refusal(), HasSubstr("packed-refs' leads to a file of the kernel"));
  fs::remove(git("packed-refs"));
  // A folder elsewhere, and one that leads back to itself.
  make_fifo(place_ / "refs/r");
  fs::create_directory_symlink(place_.path() / "refs", git("refs/other"));
  fs::create_directory_symlink("..", git("refs/circle"));
  EXPECT_THAT(refusal(), HasSubstr("refs/other/r' is a FIFO"));
}

TEST_F(SpecialFiles, AreRefusedInTheFileThatNamesTheGitDirectoryAndInWhatItNames) {
  const fs::path side = place_ / "side";
  repo_.git({"worktree", "add", "--quiet", "-b", "side", side.string()});
  EXPECT_EQ(refusal_of(side.string()), "no refusal");
  make_fifo(git("worktrees/side/index"));
  EXPECT_THAT(refusal_of(side.string()), HasSubstr("worktrees/side/index' is a FIFO"));
  fs::remove(git("worktrees/side/index"));
  make_fifo(git("packed-refs"));  // of the repository that the work tree belongs to
  EXPECT_THAT(refusal_of(side.string()), HasSubstr("packed-refs' is a FIFO"));
  make_fifo(side / ".git");
  EXPECT_THAT(refusal_of(side.string()), HasSubstr(".git' is a FIFO"));
}

TEST_F(SpecialFiles, AreRefusedInBareRepositories) {
  const test::BareRepo bare;
  repo_.git({"push", "--quiet", bare.str(), "main"});
  EXPECT_EQ(refusal_of(bare.str()), "no refusal");
  make_fifo(bare.path() / "HEAD");
  EXPECT_THAT(refusal_of(bare.str()), HasSubstr("HEAD' is a FIFO"));
}

TEST_F(SpecialFiles, AreRefusedInBorrowedObjects) {
  const fs::path borrower = place_ / "borrower";
  repo_.git({"clone", "--quiet", "--shared", repo_.str(), borrower.string()});
  EXPECT_EQ(refusal_of(borrower.string()), "no refusal");
  make_fifo(git("objects/pack/pack-1.idx"));
  EXPECT_THAT(refusal_of(borrower.string()), HasSubstr("pack-1.idx' is a FIFO"));
}

TEST_F(SpecialFiles, AreRefusedInIncludedConfiguration) {
  make_fifo(place_ / "fifo");
  const std::string fifo = (place_ / "fifo").string();
  const std::string plain = test::read_file(git("config"));
  const std::string twice = (place_ / "more").string();
  test::write_file(twice, "[includeIf \"gitdir:/\"]\n  PATH = fifo ; near by\n");
  for (const std::string& include :
       {"[include]\n\tpath = " + fifo + "\n", "[InClude] path=\"" + fifo + "\" # one line\n", "[include]\n\tpath = " + twice + "\n"}) {
    test::write_file(git("config"), plain + include);
    EXPECT_THAT(refusal(), HasSubstr("fifo' is a FIFO")) << include;
  }
  test::write_file(git("config"), plain + "[include]\n\tpath = /tmp/\\\nfifo\n");
  EXPECT_THAT(refusal(), HasSubstr("config' includes a path with a backslash"));
  test::write_file(git("config"), plain + "[include]\n\tpath = nowhere\n");  // which git passes over
  EXPECT_EQ(refusal(), "no refusal");
}

TEST_F(SpecialFiles, AreRefusedAsIgnoreFiles) {
  make_fifo(repo_.path() / "dir/.gitignore");
  EXPECT_THAT(refusal(), HasSubstr("dir/.gitignore' is a FIFO"));
  fs::remove(repo_.path() / "dir/.gitignore");
  make_fifo(place_ / "excludes");
  repo_.git({"config", "core.excludesFile", (place_ / "excludes").string()});
  EXPECT_THAT(refusal(), HasSubstr("excludes' is a FIFO"));
}

TEST_F(SpecialFiles, OfOthersThanGitHarmNobody) {
  make_fifo(repo_.path() / "fifo");
  make_fifo(repo_.path() / "objects/fifo");
  make_fifo(git("lfs/fifo"));
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));  // as git's file system monitor
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = git("fsmonitor--daemon.ipc").string();
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(refusal(), "no refusal");
}

TEST_F(SpecialFiles, AreRefusedBeforeAPush) {
  const Base base = cache().fetch(repo_.str(), "", soon());
  const auto builder = cache().build_commit(base);
  add(*builder, "g", "new");
  const auto made = commit(*builder);
  make_fifo(git("packed-refs"));
  const auto error = test::error_of([&] { cache().push(base, made.commit, "forge/test-1", soon()); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->client_text(), HasSubstr("packed-refs' is a FIFO"));
}

TEST_F(SpecialFiles, AreLookedForUntilTheRunIsStopped) {
  make_fifo(git("refs/heads/fifo"));
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(test::code_of([&] { cache().fetch(repo_.str(), "", Stop(stopped.get_token())); }), "cancelled");
}

}  // namespace
}  // namespace forge::git
