#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/errors.h"
#include "tests/unit/sandbox/local_fixture.h"

namespace forge::sandbox {
namespace {

using test::code_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using Lines = std::vector<std::string>;

/// A sandbox over `files`, after `script` ran in /workspace.
class LocalChanges : public LocalSandboxTest {
 protected:
  Collected after(const std::string& script, const std::map<std::string, std::string>& files = {}, const ChangeLimits& limits = {}) {
    SandboxSpec wanted = spec();
    directory_ = tree(files);
    wanted.tree = TreeSource{directory_};
    sandbox_ = acquire(wanted);
    output(*sandbox_, script);
    return changes_of(*sandbox_, limits);
  }
  /// What the script did to a tree with two directories, as lines.
  Lines lines_after(const std::string& script) {
    return after(script, {{"a.txt", "a\n"}, {"b.txt", "b\n"}, {"dir/one", "1\n"}, {"dir/two", "2\n"}, {"dir/sub/three", "3\n"}}).lines();
  }

  std::string directory_;
  std::unique_ptr<Sandbox> sandbox_;
};

TEST_F(LocalChanges, OfNothingAreNone) {
  EXPECT_THAT(lines_after("cat a.txt; ls -R . > /dev/null"), IsEmpty());
  EXPECT_THAT(lines_after("touch a.txt; chmod 600 b.txt; touch new; rm new; mkdir empty"), IsEmpty());
  EXPECT_THAT(lines_after("cp a.txt x; echo other > a.txt; mv x a.txt"), IsEmpty());
}

TEST_F(LocalChanges, TellWhatWasAddedModifiedAndDeleted) {
  const Collected collected = after("echo new > new; echo more >> a.txt; rm b.txt", {{"a.txt", "a\n"}, {"b.txt", "b\n"}});
  EXPECT_EQ(collected.lines(), (Lines{"modified file a.txt", "deleted file b.txt", "added file new"}));
  EXPECT_EQ(collected.contents.at("a.txt"), "a\nmore\n");
  EXPECT_EQ(collected.contents.at("new"), "new\n");
  EXPECT_EQ(collected.changes.at("a.txt").size, 7);
}

TEST_F(LocalChanges, NeverTouchTheTreeBelow) {
  after("echo x > a.txt; rm -r dir; chmod 777 .", {{"a.txt", "a\n"}, {"dir/one", "1\n"}});
  EXPECT_EQ(test::read_file(directory_ + "/a.txt"), "a\n");
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/dir/one"));
}

TEST_F(LocalChanges, TellTheExecutableBitAndNoOther) {
  EXPECT_EQ(lines_after("chmod +x a.txt; chmod 640 b.txt"), (Lines{"modified file x a.txt"}));
}

TEST_F(LocalChanges, TellADeletedDirectoryFileByFile) {
  EXPECT_EQ(lines_after("rm -r dir"), (Lines{"deleted file dir/one", "deleted file dir/sub/three", "deleted file dir/two"}));
}

TEST_F(LocalChanges, TellADirectoryThatWasMadeAnew) {
  EXPECT_EQ(lines_after("rm -r dir; mkdir dir; echo 1 > dir/one; echo n > dir/new"),
            (Lines{"added file dir/new", "deleted file dir/sub/three", "deleted file dir/two"}));
}

TEST_F(LocalChanges, TellADirectoryThatBecameAFile) {
  EXPECT_EQ(lines_after("rm -r dir; echo file > dir"),
            (Lines{"added file dir", "deleted file dir/one", "deleted file dir/sub/three", "deleted file dir/two"}));
}

TEST_F(LocalChanges, TellAFileThatBecameADirectory) {
  EXPECT_EQ(lines_after("rm a.txt; mkdir -p a.txt/in; echo x > a.txt/in/x"), (Lines{"deleted file a.txt", "added file a.txt/in/x"}));
}

TEST_F(LocalChanges, TellARenamedDirectoryAsDeletionsAndAdditions) {
  EXPECT_EQ(lines_after("mv dir moved"), (Lines{"deleted file dir/one", "deleted file dir/sub/three", "deleted file dir/two",
                                                "added file moved/one", "added file moved/sub/three", "added file moved/two"}));
}

TEST_F(LocalChanges, TellADirectoryThatWasMovedOverAnother) {
  EXPECT_EQ(lines_after("mkdir n; echo 1 > n/one; rm -r dir; mv n dir"), (Lines{"deleted file dir/sub/three", "deleted file dir/two"}));
}

TEST_F(LocalChanges, TellLinksByTheirTargetsAndNeverFollowThem) {
  const Collected collected =
      after("ln -s /etc/passwd new; ln -sfn elsewhere link; rm a.txt; ln -s b a.txt; ln -s ../../../../etc/shadow out",
            {{"a.txt", "a\n"}, {"link-target", "x"}});
  EXPECT_EQ(collected.lines(), (Lines{"modified link a.txt -> b", "added link link -> elsewhere", "added link new -> /etc/passwd",
                                      "added link out -> ../../../../etc/shadow"}));
  EXPECT_THAT(collected.contents, IsEmpty());
}

TEST_F(LocalChanges, TellHardLinksAsFilesOfTheirOwn) {
  const Collected collected = after("ln a.txt b.txt; echo more >> b.txt", {{"a.txt", "a\n"}});
  EXPECT_EQ(collected.lines(), (Lines{"modified file a.txt", "added file b.txt"}));
  EXPECT_EQ(collected.contents.at("a.txt"), "a\nmore\n");
}

TEST_F(LocalChanges, FindWhatCannotBeCommitted) {
  const Collected collected = after(
      "mkfifo pipe; rm a.txt; mkfifo a.txt; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'; truncate -s 60M "
      "huge; echo ok > ok",
      {{"a.txt", "a\n"}}, {.max_file_bytes = 1 << 20});
  EXPECT_THAT(collected.findings, ElementsAre(Pair("a.txt", "fifo"), Pair("huge", "sparse"), Pair("pipe", "fifo"), Pair("sock", "socket")));
  EXPECT_EQ(collected.lines(), (Lines{"deleted file a.txt", "added file ok"}));
}

TEST_F(LocalChanges, CannotHoldASparseFileLongerThanTheDisk) {
  EXPECT_THAT(after("truncate -s 8G huge 2>/dev/null; rm huge").lines(), IsEmpty());
  EXPECT_NE(code_of([&] { after("truncate -s 8G huge; test $(stat -c %s huge) = 0"); }), "limit_exceeded");
}

TEST_F(LocalChanges, FindAFileOverTheLimitWithoutReadingIt) {
  const Collected collected = after("head -c 2000 /dev/zero > big; echo ok > ok", {}, {.max_file_bytes = 1999});
  EXPECT_THAT(collected.findings, ElementsAre(Pair("big", "too_large")));
  EXPECT_EQ(collected.lines(), (Lines{"added file ok"}));
}

TEST_F(LocalChanges, AreRefusedAsAWholeOverTheCapsBeforeTheFirstIsTold) {
  EXPECT_EQ(code_of([&] { after("touch 1 2 3 4", {}, {.max_entries = 3}); }), "limit_exceeded");
  EXPECT_EQ(code_of([&] { after("echo 12345 > a; echo 12345 > b", {}, {.max_bytes = 11}); }), "limit_exceeded");
  EXPECT_EQ(after("echo 12345 > a; echo 12345 > b", {}, {.max_bytes = 12}).changes.size(), 2U);
}

TEST_F(LocalChanges, CarryNamesAsBytes) {
  const Collected collected = after("printf x > \"$(printf 'new\\nline')\"; printf y > \"$(printf 'latin\\377')\"; printf z > ' -dash'");
  EXPECT_EQ(collected.contents.at("new\nline"), "x");
  EXPECT_EQ(collected.contents.at("latin\xff"), "y");
  EXPECT_EQ(collected.contents.at(" -dash"), "z");
}

TEST_F(LocalChanges, CannotBeForgedThroughTheMountedTree) {
  const Collected collected = after(
      "mknod gone c 0 0 2>/dev/null; python3 - <<'END'\n"
      "import os\n"
      "os.mkdir('fake'); open('fake/x', 'w').write('x')\n"
      "for path, name, value in [('fake', 'user.overlay.opaque', b'y'), ('dir', 'user.overlay.opaque', b'y'), ('one', "
      "'user.overlay.whiteout', b'y'),\n"
      "                          ('dir', 'trusted.overlay.opaque', b'y'), ('dir', 'user.overlay.redirect', b'/a.txt')]:\n"
      "    try: os.setxattr(path, name, value)\n"
      "    except OSError: pass\n"
      "END\n",
      {{"dir/one", "1\n"}, {"one", "1\n"}, {"a.txt", "a\n"}});
  EXPECT_EQ(collected.lines(), (Lines{"added file fake/x"})) << "a mark of the job was taken for one of the overlay";
}

TEST_F(LocalChanges, FindWhatAPlainUserCannotRead) {
  const Collected collected = after("mkdir d; echo x > d/x; echo s > secret; chmod 000 secret d", {});
  if (::geteuid() == 0) {
    EXPECT_EQ(collected.lines(), (Lines{"added file d/x", "added file secret"})) << "root reads everything";
  } else {
    EXPECT_THAT(collected.findings, ElementsAre(Pair("d", "unreadable"), Pair("secret", "unreadable")));
  }
}

TEST_F(LocalChanges, OfManyFilesAreCountedAndRefused) {
  SandboxSpec wanted = spec();
  wanted.tree = TreeSource{tree({})};
  wanted.contents.limits.upper_inodes = 120'000;
  wanted.contents.limits.memory_bytes = 1 << 30;
  wanted.contents.limits.upper_bytes = 512 << 20;
  const auto sandbox = acquire(wanted);
  output(*sandbox, "python3 -c 'for i in range(20000): open(str(i), \"w\")'");
  sandbox->halt(soon());
  Collected collected;
  EXPECT_EQ(code_of([&] { sandbox->changes({.max_entries = 19'999}, collected, soon()); }), "limit_exceeded");
  EXPECT_THAT(collected.changes, IsEmpty());
  sandbox->changes({.max_entries = 20'000}, collected, soon());
  EXPECT_EQ(collected.changes.size(), 20'000U);
}

TEST_F(LocalChanges, ComeOutOfACopyWhereTheTreeCannotBeShownAsTheJobsOwn) {
  // sysfs shows no mapped owners; its files have a length of a page and less content.
  const std::string directory = "/sys/fs/ext4/features";
  if (::geteuid() != 0 || !std::filesystem::exists(directory)) GTEST_SKIP() << "this is not root, or there is no " << directory;
  SandboxSpec wanted = spec();
  wanted.tree = TreeSource{directory};
  const auto sandbox = acquire(wanted);
  EXPECT_THAT(sandbox->enforced(), testing::Contains(HasSubstr("work tree copied")));
  const std::string first = output(*sandbox, "ls | head -1 | tr -d '\\n'");
  output(*sandbox, "chmod u+w " + first + "; echo changed > " + first + "; echo new > new");
  EXPECT_EQ(changes_of(*sandbox).lines().size(), 2U);
  sandbox->release();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(run_directory()))
    EXPECT_THAT(entry.path().filename().string(), testing::Not(testing::StartsWith("tree-")));
}

TEST_F(LocalChanges, CanBeReadOnlyWhenNobodyCanWriteThemAnyMore) {
  SandboxSpec wanted = spec();
  wanted.tree = TreeSource{tree({})};
  const auto sandbox = acquire(wanted);
  Collected collected;
  EXPECT_EQ(code_of([&] { sandbox->changes({}, collected, soon()); }), "conflict");
  const auto without_tree = acquire();
  without_tree->halt(soon());
  EXPECT_EQ(code_of([&] { without_tree->changes({}, collected, soon()); }), "not_found");
}

TEST_F(LocalChanges, SurviveAnOutOfMemoryKillOfTheWholeSandbox) {
  SandboxSpec wanted = spec_with();
  const auto sandbox = acquire(wanted);
  output(*sandbox, "echo kept > kept");
  attack(*sandbox, {"hog"});
  const Collected collected = changes_of(*sandbox);
  EXPECT_EQ(collected.contents.at("kept"), "kept\n");
}

}  // namespace
}  // namespace forge::sandbox
