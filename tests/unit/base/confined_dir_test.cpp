#include "orchestrator/base/confined_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "tests/support/errors.h"
#include "tests/support/plain_user.h"
#include "tests/support/temp_dir.h"

namespace forge {
namespace {

namespace fs = std::filesystem;
using test::code_of;
using testing::ElementsAre;

/// "inside" is the confined directory, "outside" lies beside it and holds a secret.
class Confined : public testing::Test {
 protected:
  Confined() {
    test::write_file(temp_ / "inside/folder/file", "content");
    test::write_file(temp_ / "outside/secret", "secret");
  }
  ConfinedDir open() const { return ConfinedDir::open(inside().string()); }
  fs::path inside() const { return temp_ / "inside"; }
  std::vector<std::string> walked(const std::string& from = "") const {
    std::vector<std::string> paths;
    open().walk(from, 10'000, [&](const ConfinedDir::Entry& entry) {
      paths.push_back(entry.path);
      return true;
    });
    return paths;
  }

  test::TempDir temp_;
};

TEST_F(Confined, ReadsFilesBelow) {
  EXPECT_EQ(open().read_file("folder/file", 7), "content");
  EXPECT_EQ(code_of([&] { static_cast<void>(open().read_file("folder/file", 6)); }), "limit_exceeded");
  EXPECT_EQ(code_of([&] { static_cast<void>(open().read_file("folder/none", 6)); }), "not_found");
  EXPECT_EQ(open().status("folder/file").st_size, 7);
  EXPECT_TRUE(open().exists("folder"));
  EXPECT_FALSE(open().exists("none/at/all"));
}

TEST_F(Confined, StaysWithTheDirectoryWhenItsNameMoves) {
  const ConfinedDir directory = open();
  fs::rename(inside(), temp_ / "elsewhere");
  fs::create_directory_symlink(temp_ / "outside", inside());
  EXPECT_EQ(directory.read_file("folder/file", 100), "content");
  EXPECT_FALSE(directory.exists("secret"));
}

TEST_F(Confined, IsNotLeftByAPath) {
  for (const char* path : {"../outside/secret", "folder/../../outside/secret", "/etc/passwd"})
    EXPECT_EQ(code_of([&] { open().open_file(path); }), "invalid_argument") << path;
  EXPECT_EQ(code_of([&] { open().open_file(std::string("folder/file\0x", 13)); }), "invalid_argument");
  EXPECT_EQ(open().read_file("folder/../folder/file", 100), "content") << "a path that stays inside is fine";
}

TEST_F(Confined, IsNotLeftByALink) {
  fs::create_symlink(temp_ / "outside/secret", inside() / "to-file");
  fs::create_directory_symlink(temp_ / "outside", inside() / "to-folder");
  fs::create_directory_symlink("/proc/self/root", inside() / "to-root");
  fs::create_symlink("folder/file", inside() / "harmless");
  for (const char* path : {"to-file", "to-folder/secret", "to-root/etc/passwd", "harmless"})
    EXPECT_EQ(code_of([&] { open().open_file(path); }), "invalid_argument") << path;
}

TEST_F(Confined, ReadsLinksWithoutFollowingThem) {
  fs::create_symlink("../outside/secret", inside() / "folder/link");
  EXPECT_EQ(open().read_link("folder/link"), "../outside/secret");
  EXPECT_TRUE(S_ISLNK(open().status("folder/link").st_mode));
  EXPECT_EQ(code_of([&] { static_cast<void>(open().read_link("folder/file")); }), "invalid_argument");
}

TEST_F(Confined, DoesNotHangOnAFifo) {
  ASSERT_EQ(::mkfifo((inside() / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(code_of([&] { open().open_file("fifo"); }), "invalid_argument");
}

TEST_F(Confined, RefusesSocketsDevicesAndFolders) {
  const UniqueFd socket = checked_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "making a socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = (inside() / "socket").string();
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  checked(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "binding");
  EXPECT_EQ(code_of([&] { open().open_file("socket"); }), "invalid_argument");
  EXPECT_EQ(code_of([&] { open().open_file("folder"); }), "invalid_argument");
  EXPECT_EQ(code_of([] { ConfinedDir::open("/dev").open_file("null"); }), "invalid_argument");
}

TEST_F(Confined, TakesAnyBytesAsANameButNul) {
  const std::string odd = "line\nbreak \xff\xfe \\ \"";
  test::write_file(inside() / odd, "odd");
  EXPECT_EQ(open().read_file(odd, 10), "odd");
  EXPECT_THAT(walked(), ElementsAre("folder", "folder/file", odd));
}

TEST_F(Confined, ReadsAttributesOfTheEntryItself) {
  if (::setxattr((inside() / "folder").c_str(), "user.forge", "value", 5, 0) != 0)
    GTEST_SKIP() << "the temporary directory's file system holds no user attributes";
  fs::create_directory_symlink(inside() / "folder", inside() / "link");
  EXPECT_EQ(open().attribute("folder", "user.forge"), "value");
  EXPECT_EQ(open().attribute("folder", "user.none"), "");
  EXPECT_EQ(open().attribute("link", "user.forge"), "") << "of the link, not of its target";
}

TEST_F(Confined, IsWalkedInByteOrderFoldersBeforeTheirContent) {
  for (const char* file : {"b/z", "b/a", "a.txt", "B", "\xc3\xa4"}) test::write_file(inside() / file, "");
  EXPECT_THAT(walked(), ElementsAre("B", "a.txt", "b", "b/a", "b/z", "folder", "folder/file", "\xc3\xa4"));
  EXPECT_THAT(walked("b"), ElementsAre("b/a", "b/z"));
  EXPECT_EQ(code_of([&] { walked("none"); }), "not_found");
  EXPECT_EQ(code_of([&] { walked(".."); }), "invalid_argument");
}

TEST_F(Confined, IsWalkedWithoutFollowingLinks) {
  fs::create_directory_symlink(temp_ / "outside", inside() / "link");
  EXPECT_THAT(walked(), ElementsAre("folder", "folder/file", "link"));
  EXPECT_EQ(code_of([&] { walked("link"); }), "not_found") << "a link is no folder";
}

// The worst moment: between the look at an entry and the step into it, a folder becomes a link that leads out.
TEST_F(Confined, IsNotLeftByAnExchangeDuringTheWalk) {
  std::vector<std::string> paths;
  open().walk("", 1000, [&](const ConfinedDir::Entry& entry) {
    paths.push_back(entry.path);
    fs::rename(inside() / "folder", inside() / "moved");
    fs::create_directory_symlink(temp_ / "outside", inside() / "folder");
    return true;
  });
  EXPECT_THAT(paths, ElementsAre("folder"));
}

TEST_F(Confined, LeavesOutWhatTheVisitorDeclines) {
  test::write_file(inside() / "other/file", "");
  std::vector<std::string> paths;
  open().walk("", 1000, [&](const ConfinedDir::Entry& entry) {
    paths.push_back(entry.path);
    return entry.path != "folder";
  });
  EXPECT_THAT(paths, ElementsAre("folder", "other", "other/file"));
}

TEST_F(Confined, IsWalkedUpToTheAllowedNumberOfEntries) {
  const auto all = [](const ConfinedDir::Entry&) { return true; };
  open().walk("", 2, all);
  EXPECT_EQ(code_of([&] { open().walk("", 1, all); }), "limit_exceeded");
}

TEST_F(Confined, IsNotWalkedWithoutEnd) {
  test::make_deep_tree(inside() / "a", 1024, "d");
  EXPECT_EQ(walked("a/d").size(), 1023u);
  EXPECT_EQ(code_of([&] { walked("a"); }), "limit_exceeded");
  // A path that is too long ends a walk earlier than the depth does.
  test::make_deep_tree(inside() / "b", 20, std::string(250, 'd'));
  EXPECT_EQ(code_of([&] { walked("b"); }), "limit_exceeded");
}

TEST_F(Confined, NamesFoldersThatCannotBeRead) {
  fs::create_directory(inside() / "closed");
  fs::permissions(inside() / "closed", fs::perms::none);
  fs::permissions(temp_.path(), fs::perms::all);
  const int result = test::as_plain_user([&] {
    std::vector<std::string> paths;
    std::vector<std::string> unreadable;
    const auto visit = [&](const ConfinedDir::Entry& entry) {
      paths.push_back(entry.path);
      return true;
    };
    open().walk("", 1000, visit, [&](const std::string& path) { unreadable.push_back(path); });
    const bool whole = paths == std::vector<std::string>{"closed", "folder", "folder/file"};
    return whole && unreadable == std::vector<std::string>{"closed"} ? 0 : 1;
  });
  EXPECT_EQ(result, 0);
}

TEST_F(Confined, SaysThatAFileMayNotBeRead) {
  fs::permissions(inside() / "folder/file", fs::perms::none);
  fs::permissions(temp_.path(), fs::perms::all);
  const int result = test::as_plain_user([&] { return code_of([&] { open().open_file("folder/file"); }) == "permission_denied" ? 0 : 1; });
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace forge
