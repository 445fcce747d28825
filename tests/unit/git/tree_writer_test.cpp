#include "orchestrator/git/tree_writer.h"

#include <sys/stat.h>

#include "orchestrator/git/handles.h"
#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;
using namespace std::string_literals;

std::string raw_id(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

ino_t inode(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0);
  return status.st_ino;
}

class TreeWriter : public testing::Test {
 protected:
  void SetUp() override { use_libgit2(); }

  std::string tree_of(const test::TempRepo& repo) { return repo.git({"rev-parse", "HEAD^{tree}"}); }
  std::string git_dir(const test::TempRepo& repo) { return repo.str() + "/.git"; }
  WrittenTree write(const std::string& tree, const std::string& name, const std::optional<NearTree>& near = {},
                    const TreeLimits& limits = {}) {
    return write_tree(git_dir(repo_), tree, path(name), near, limits, soon());
  }
  std::string path(const std::string& name) { return (place_ / name).string(); }

  /// A tree object of these raw entries, however wrong.
  std::string literal_tree(const std::vector<std::pair<std::string, std::string>>& modes_names_and_ids) {
    std::string content;
    for (const auto& [mode_and_name, id] : modes_names_and_ids) content += mode_and_name + '\0' + raw_id(id);
    test::write_file(place_ / "literal", content);
    return repo_.git({"hash-object", "-t", "tree", "-w", "--literally", path("literal")});
  }
  std::string blob(const std::string& text) {
    test::write_file(place_ / "blob", text);
    return repo_.git({"hash-object", "-w", "--no-filters", path("blob")});
  }

  test::TempRepo repo_;
  test::TempDir place_;
};

TEST_F(TreeWriter, WritesBlobsAsTheyAreWhateverTheAttributesSay) {
  repo_.write(".gitattributes", "* text=auto eol=crlf ident filter=evil\n");
  const std::string attributes = blob("*.txt eol=crlf ident filter=evil\n");
  const std::string text = blob("a\nb\n$Id$\n");
  const std::string tree = literal_tree({{"100644 .gitattributes", attributes}, {"100644 x.txt", text}});
  write(tree, "out");
  EXPECT_EQ(test::read_file(place_ / "out/x.txt"), "a\nb\n$Id$\n");
}

TEST_F(TreeWriter, SetsModesWhateverTheUmaskIs) {
  repo_.write("dir/run", "x");
  repo_.write("plain", "y");
  fs::permissions(repo_.path() / "dir/run", fs::perms(0755));
  repo_.commit("one");
  const mode_t before = ::umask(0077);
  write(tree_of(repo_), "out");
  ::umask(before);
  EXPECT_EQ(fs::status(place_ / "out").permissions(), fs::perms(0755));
  EXPECT_EQ(fs::status(place_ / "out/dir").permissions(), fs::perms(0755));
  EXPECT_EQ(fs::status(place_ / "out/dir/run").permissions(), fs::perms(0755));
  EXPECT_EQ(fs::status(place_ / "out/plain").permissions(), fs::perms(0644));
}

TEST_F(TreeWriter, LinksWhatDidNotChangeFromANearTree) {
  for (int i = 0; i < 200; ++i) repo_.write("d" + std::to_string(i % 7) + "/f" + std::to_string(i), std::to_string(i));
  repo_.commit("one");
  const std::string old_tree = tree_of(repo_);
  const WrittenTree old = write(old_tree, "old");
  repo_.write("d0/f0", "changed");
  fs::permissions(repo_.path() / "d1/f1", fs::perms(0755));
  repo_.remove("d2/f2");
  repo_.write("new", "n");
  repo_.commit("two");
  const WrittenTree now = write(tree_of(repo_), "now", NearTree{.tree = old_tree, .directory = path("old"), .lfs_pointers = {}});
  EXPECT_EQ(inode(place_ / "now/d3/f3"), inode(place_ / "old/d3/f3"));
  EXPECT_NE(inode(place_ / "now/d1/f1"), inode(place_ / "old/d1/f1"));
  EXPECT_EQ(test::read_file(place_ / "now/d0/f0"), "changed");
  EXPECT_EQ(test::read_file(place_ / "old/d0/f0"), "0");
  EXPECT_EQ(fs::status(place_ / "now/d1/f1").permissions(), fs::perms(0755));
  EXPECT_FALSE(fs::exists(place_ / "now/d2/f2"));
  EXPECT_EQ(old.files, 200);
  EXPECT_EQ(now.files, 200);
  EXPECT_EQ(now.bytes, 200 * 4096);
}

TEST_F(TreeWriter, WritesWhatADamagedNearTreeCannotGive) {
  repo_.write("a", "1");
  repo_.write("b", "2");
  repo_.commit("one");
  const std::string tree = tree_of(repo_);
  write(tree, "old");
  fs::remove(place_ / "old/a");
  write(tree, "now", NearTree{.tree = tree, .directory = path("old"), .lfs_pointers = {}});
  EXPECT_EQ(test::read_file(place_ / "now/a"), "1");
  write(tree, "other", NearTree{.tree = std::string(40, '1'), .directory = path("nowhere"), .lfs_pointers = {}});
  EXPECT_EQ(test::read_file(place_ / "other/b"), "2");
}

TEST_F(TreeWriter, ShowsSubmodulesAndLfsPointersAndFollowsNeither) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a') + "\nsize 12345\n";
  repo_.write("large.bin", pointer);
  repo_.git({"update-index", "--add", "--cacheinfo", "160000," + std::string(40, 'b') + ",vendor/lib"});
  repo_.git({"add", "large.bin"});
  repo_.git({"commit", "--quiet", "-m", "one"});
  const WrittenTree first = write(tree_of(repo_), "out");
  EXPECT_THAT(first.submodules, ElementsAre("vendor/lib at bbbbbbbb"));
  EXPECT_THAT(first.lfs_pointers, ElementsAre("large.bin"));
  EXPECT_TRUE(fs::is_directory(place_ / "out/vendor/lib"));
  EXPECT_TRUE(fs::is_empty(place_ / "out/vendor/lib"));
  EXPECT_EQ(test::read_file(place_ / "out/large.bin"), pointer);
  const WrittenTree linked =
      write(tree_of(repo_), "again", NearTree{.tree = tree_of(repo_), .directory = path("out"), .lfs_pointers = first.lfs_pointers});
  EXPECT_THAT(linked.lfs_pointers, ElementsAre("large.bin"));
}

TEST_F(TreeWriter, LeavesOutNamesThatMustNotBeMade) {
  const std::string text = blob("evil");
  const std::string inner = literal_tree({{"100644 config", text}});
  const std::string tree = literal_tree({{"40000 ..", inner},
                                         {"40000 .git", inner},
                                         {"40000 .GIT", inner},
                                         {"100644 a/b", text},
                                         {"40000 git~1", inner},
                                         {"100644 good", text}});
  const WrittenTree written = write(tree, "out");
  EXPECT_EQ(written.skipped.size(), 5u);
  EXPECT_EQ(test::read_file(place_ / "out/good"), "evil");
  EXPECT_EQ(std::distance(fs::directory_iterator(place_ / "out"), fs::directory_iterator()), 1);
  EXPECT_FALSE(fs::exists(place_ / "config"));
}

TEST_F(TreeWriter, WritesNothingThroughALinkOfTheTree) {
  const test::TempDir outside;
  const std::string link = blob(outside.str());
  const std::string text = blob("evil");
  const std::string inner = literal_tree({{"100644 file", text}});
  // One name as a link and as a directory: in order, and in the order that hides the pair from a look at neighbours.
  for (const auto& entries :
       {std::vector<std::pair<std::string, std::string>>{{"120000 x", link}, {"40000 x", inner}},
        std::vector<std::pair<std::string, std::string>>{{"120000 x", link}, {"100644 y", text}, {"40000 x", inner}},
        std::vector<std::pair<std::string, std::string>>{{"40000 x", inner}, {"100644 y", text}, {"120000 x", link}}}) {
    const std::string name = "out" + std::to_string(static_cast<int>(entries.size())) + entries[0].first.substr(0, 2);
    write(literal_tree(entries), name);
    EXPECT_TRUE(fs::is_empty(outside.path())) << name;
  }
}

TEST_F(TreeWriter, StoresLinksToSystemFilesWithoutFollowing) {
  const std::string tree = literal_tree({{"120000 passwd", blob("/etc/passwd")}, {"120000 zero", blob("")}});
  write(tree, "out");
  EXPECT_EQ(fs::read_symlink(place_ / "out/passwd"), "/etc/passwd");
}

TEST_F(TreeWriter, StopsBeforeATreeThatUnfoldsWithoutEnd) {
  std::string tree = literal_tree({{"100644 leaf", blob("x")}});
  for (int level = 0; level < 10; ++level) {
    std::vector<std::pair<std::string, std::string>> entries;
    for (char name = 'a'; name <= 'j'; ++name) entries.push_back({"40000 "s + name, tree});
    tree = literal_tree(entries);
  }
  EXPECT_EQ(test::code_of([&] { write(tree, "out", {}, {.max_entries = 10'000}); }), "limit_exceeded");
  std::string deep = literal_tree({{"100644 leaf", blob("x")}});
  for (int level = 0; level < 600; ++level) deep = level % 20 == 0 ? literal_tree({{"40000 d", deep}}) : deep;
  EXPECT_NO_THROW(write(deep, "deep"));
}

TEST_F(TreeWriter, StopsAtItsLimitOfBytes) {
  for (int i = 0; i < 100; ++i) repo_.write("f" + std::to_string(i), std::string(5000, 'x') + std::to_string(i));
  repo_.commit("one");
  EXPECT_EQ(test::code_of([&] { write(tree_of(repo_), "out", {}, {.max_bytes = 400'000}); }), "limit_exceeded");
}

TEST_F(TreeWriter, MakesOddNames) {
  repo_.write("new\nline", "1");
  repo_.write("caf\xe9", "2");
  repo_.write("back\\slash", "3");
  repo_.commit("one");
  write(tree_of(repo_), "out");
  for (const char* name : {"new\nline", "caf\xe9", "back\\slash"}) EXPECT_TRUE(fs::exists(place_ / "out" / name)) << name;
}

}  // namespace
}  // namespace forge::git
