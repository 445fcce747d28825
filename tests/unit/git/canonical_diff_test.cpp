#include "orchestrator/git/canonical_diff.h"

#include "tests/unit/git/review_fixture.h"

namespace forge::git {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class CanonicalDiffs : public ReviewTest {};

std::vector<std::string> bodies(const FileDiff& file) {
  std::vector<std::string> all;
  for (const Hunk& hunk : file.hunks) all.push_back(hunk.body);
  return all;
}

std::vector<HunkKind> hunk_kinds(const FileDiff& file) {
  std::vector<HunkKind> all;
  for (const Hunk& hunk : file.hunks) all.push_back(hunk.kind);
  return all;
}

TEST_F(CanonicalDiffs, HaveOneTextHunkForEachPlaceWithItsLines) {
  change("f", lines(30), lines(30, {{5, "five"}, {25, "twenty\nfive"}}));
  const FileDiff file = only_file();
  EXPECT_EQ(file.change, FileChange::modified);
  EXPECT_THAT(bodies(file), ElementsAre(" 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n", " 22\n 23\n 24\n-25\n+twenty\n+five\n 26\n 27\n 28\n"));
  EXPECT_EQ(file.hunks[1].lines.old_start, 22);
  EXPECT_EQ(file.hunks[1].lines.old_lines, 7);
  EXPECT_EQ(file.hunks[1].lines.new_start, 22);
  EXPECT_EQ(file.hunks[1].lines.new_lines, 8);
  EXPECT_EQ(file.insertions, 3);
  EXPECT_EQ(file.deletions, 2);
  EXPECT_EQ(file.old_mode, "100644");
  EXPECT_EQ(file.old_blob, repo_.git({"rev-parse", base_ + ":f"}));
  EXPECT_EQ(file.new_blob, repo_.git({"rev-parse", head_ + ":f"}));
  EXPECT_EQ(file.hunks[0].id, hunk_id("f", "f", file.hunks[0].body, 0));
}

TEST_F(CanonicalDiffs, KeepReturnsOddBytesAndAMissingLastNewline) {
  change("f", "one\r\ntw\xff\r\nend", "one\r\ntwo\r\nend\n");
  EXPECT_THAT(bodies(only_file()), ElementsAre(" one\r\n-tw\xff\r\n-end\n\\ No newline at end of file\n+two\r\n+end\n"));
}

TEST_F(CanonicalDiffs, TellEqualHunksOfAFileApart) {
  change("f", lines(3) + "same\n" + lines(3) + "middle 1\nmiddle 2\n" + lines(3) + "same\n" + lines(3),
         lines(3) + "other\n" + lines(3) + "middle 1\nmiddle 2\n" + lines(3) + "other\n" + lines(3));
  const FileDiff file = only_file();
  ASSERT_THAT(file.hunks, SizeIs(2));
  EXPECT_EQ(file.hunks[0].body, file.hunks[1].body);
  EXPECT_EQ(file.hunks[0].id, hunk_id("f", "f", file.hunks[0].body, 0));
  EXPECT_EQ(file.hunks[1].id, hunk_id("f", "f", file.hunks[0].body, 1));
}

TEST_F(CanonicalDiffs, NameAHunkTheSameWhenOtherLinesMoveIt) {
  change("f", lines(30), lines(30, {{25, "changed"}}));
  const std::string before = only_file().hunks.at(0).id;
  repo_.write("f", lines(30, {{3, "three\nand\nmore"}, {25, "changed"}}));
  be_head();
  const FileDiff file = only_file();
  ASSERT_THAT(file.hunks, SizeIs(2));
  EXPECT_EQ(file.hunks[1].id, before);
  EXPECT_EQ(file.hunks[1].lines.new_start, 24);
}

TEST_F(CanonicalDiffs, HaveOneFileHunkForWhatComesOrGoesAsAWhole) {
  repo_.write("gone", lines(3));
  repo_.write("bin", std::string("a\0b", 3));
  link("bin", "link");
  be_base();
  for (const char* path : {"gone", "link"}) repo_.remove(path);
  repo_.write("bin", std::string("a\0c", 3));
  repo_.write("new", lines(4, {}, " other\n"));
  repo_.write("new-empty", "");
  link("new", "link");
  be_head();
  for (const FileDiff& file : compare().files) {
    EXPECT_THAT(hunk_kinds(file), ElementsAre(HunkKind::file)) << file.new_path;
    EXPECT_THAT(file.hunks[0].body, HasSubstr("blobs " + file.old_blob + " " + file.new_blob)) << file.new_path;
    EXPECT_EQ(file.old_path, file.new_path);
  }
  EXPECT_EQ(changed("gone").change, FileChange::deleted);
  EXPECT_EQ(changed("gone").deletions, 3);
  EXPECT_EQ(changed("gone").new_blob, "");
  EXPECT_EQ(changed("new").change, FileChange::added);
  EXPECT_EQ(changed("new").insertions, 4);
  EXPECT_EQ(changed("new").old_mode, "");
  EXPECT_EQ(changed("link").change, FileChange::modified);
  EXPECT_TRUE(changed("bin").binary);
  EXPECT_FALSE(changed("new").binary);
}

TEST_F(CanonicalDiffs, HaveAFileHunkForAnEmptyFileThatGoes) {
  repo_.write("empty", "");
  be_base();
  repo_.remove("empty");
  be_head();
  EXPECT_EQ(only_file().change, FileChange::deleted);
  EXPECT_THAT(hunk_kinds(only_file()), ElementsAre(HunkKind::file));
}

TEST_F(CanonicalDiffs, HaveAFileHunkForNameAndModeAndTextHunksBesideIt) {
  repo_.write("old", lines(40));
  repo_.write("tool", lines(20, {}, " of a tool\n"));
  be_base();
  repo_.remove("old");
  repo_.write("dir/new", lines(40, {{20, "edited"}}));
  make_executable("tool");
  be_head();
  const FileDiff renamed = changed("dir/new");
  EXPECT_EQ(renamed.change, FileChange::renamed);
  EXPECT_EQ(renamed.old_path, "old");
  EXPECT_THAT(hunk_kinds(renamed), ElementsAre(HunkKind::file, HunkKind::text));
  EXPECT_THAT(hunk_kinds(changed("tool")), ElementsAre(HunkKind::file));
  EXPECT_EQ(changed("tool").new_mode, "100755");
}

TEST_F(CanonicalDiffs, KeepTheFileHunkOfARenamedTextWhenTheTextIsEdited) {
  repo_.write("old", lines(40));
  be_base();
  repo_.remove("old");
  repo_.write("new", lines(40, {{20, "edited"}}));
  be_head();
  const std::string before = id("new");
  repo_.write("new", lines(40, {{20, "edited again"}, {30, "and more"}}));
  be_head();
  EXPECT_EQ(id("new"), before);
  EXPECT_THAT(changed("new").hunks, SizeIs(3));
}

TEST_F(CanonicalDiffs, MakeAChangedContentOfAWholeFileAnotherHunk) {
  repo_.write("keep", "");
  be_base();
  repo_.write("new", "one\n");
  be_head();
  const std::string before = id("new");
  repo_.write("new", "two\n");
  be_head();
  EXPECT_NE(id("new"), before);
}

TEST_F(CanonicalDiffs, SeeOneFileWhereAPathChangedItsType) {
  link("elsewhere", "to-file");
  repo_.write("to-link", "no link\n");
  be_base();
  repo_.remove("to-file");
  repo_.write("to-file", "now\ntext\n");
  be_head();
  FileDiff file = only_file();
  EXPECT_EQ(name_of(file.change), "retyped");
  EXPECT_THAT(hunk_kinds(file), ElementsAre(HunkKind::file));
  EXPECT_EQ(file.old_mode, "120000");
  EXPECT_EQ(file.new_mode, "100644");
  EXPECT_EQ(file.old_blob, repo_.git({"rev-parse", base_ + ":to-file"}));
  EXPECT_EQ(file.new_blob, repo_.git({"rev-parse", head_ + ":to-file"}));
  EXPECT_EQ(file.insertions, 2);
  EXPECT_EQ(file.deletions, 1);

  base_ = head_;
  repo_.remove("to-link");
  link("elsewhere", "to-link");
  be_head();
  file = only_file();
  EXPECT_EQ(name_of(file.change), "retyped");
  EXPECT_EQ(file.new_mode, "120000");
}

TEST_F(CanonicalDiffs, HaveAFileHunkForASubmodule) {
  const auto commit_index = [&](const std::string& module, const std::string& other) {
    repo_.git({"update-index", "--add", "--cacheinfo", "160000," + module + ",module"});
    repo_.git({"update-index", "--add", "--cacheinfo", other + ",other"});
    repo_.git({"commit", "--quiet", "-m", "one"});
    return repo_.head();
  };
  repo_.write("other", "text\n");
  base_ = commit_index(std::string(40, '1'), "160000," + std::string(40, '3'));
  head_ = commit_index(std::string(40, '2'), "100644," + repo_.git({"hash-object", "-w", "other"}));
  mirror_ = cache().fetch(repo_.str(), "", soon());
  EXPECT_EQ(name_of(changed("module").change), "modified");
  EXPECT_THAT(hunk_kinds(changed("module")), ElementsAre(HunkKind::file));
  EXPECT_EQ(changed("module").new_blob, std::string(40, '2'));
  EXPECT_EQ(name_of(changed("other").change), "retyped");
  EXPECT_EQ(changed("other").old_mode, "160000");
}

TEST_F(CanonicalDiffs, NeverGrowPastTheirLimit) {
  change("f", lines(30), lines(30, {{5, "five"}, {25, "twenty five"}}));
  const TreeComparison trees = compare_commits(mirror_.mirror, base_, head_, BinaryContent::none, soon());
  std::int64_t size = 0;
  for (const std::string& body : bodies(only_file())) size += static_cast<std::int64_t>(body.size());
  EXPECT_NO_THROW(canonical_diff(trees, size, soon()));
  EXPECT_EQ(test::code_of([&] { canonical_diff(trees, size - 1, soon()); }), "limit_exceeded");
}

TEST_F(CanonicalDiffs, SayWhenACommitIsNoLongerKept) {
  change("f", "1\n", "2\n");
  const auto error = test::error_of([&] { cache().compare(repo_.str(), base_, std::string(40, '1'), soon()); });
  EXPECT_EQ(error->code(), ErrorCode::not_found);
  EXPECT_EQ(error->client_text(), "the run's result is no longer kept here");
  EXPECT_EQ(test::code_of([&] { cache().compare("/no/such/place", base_, head_, soon()); }), "not_found");
  EXPECT_EQ(test::code_of([&] { cache().compare(repo_.str(), "main", head_, soon()); }), "invalid_argument");
}

TEST_F(CanonicalDiffs, NeedTheMirrorAndNotTheRepository) {
  change("f", "1\n", "2\n");
  const std::string before = id("f");
  std::filesystem::rename(repo_.path() / ".git", repo_.path() / "away");
  EXPECT_EQ(id("f"), before);
}

TEST_F(CanonicalDiffs, AreStopped) {
  change("f", "1\n", "2\n");
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(test::code_of([&] { cache().compare(repo_.str(), base_, head_, Stop(stopped.get_token())); }), "cancelled");
}

}  // namespace
}  // namespace forge::git
