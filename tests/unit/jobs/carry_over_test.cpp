#include "orchestrator/jobs/carry_over.h"

#include <gmock/gmock.h>

#include <map>

namespace forge::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Hunk hunk(const std::string& id, int old_start, int old_lines) {
  return {.id = id, .kind = HunkKind::text, .lines = {old_start, old_lines, old_start, old_lines}, .body = {}};
}

FileDiff file(const std::string& path, std::vector<Hunk> hunks, const std::string& new_blob = "1") {
  FileDiff diff;
  diff.old_path = diff.new_path = path;
  diff.new_blob = new_blob;
  diff.hunks = std::move(hunks);
  return diff;
}

class CarryOver : public testing::Test {
 protected:
  store::ReviewBeginning carried(int run = 1) {
    return carried_over({run, before_, row_, viewed_}, now_, [this](DiffSide side, const std::string& path) -> std::optional<std::string> {
      const auto found = files_.find({side, path});
      return found == files_.end() ? std::nullopt : std::optional(found->second);
    });
  }
  void mark(const std::string& id, HunkVerdict verdict, bool stale = false, int from_run = 0) {
    row_.marks.push_back(
        {.hunk_id = id, .verdict = verdict, .reason = "why " + id, .by = "ada", .at_ms = 7, .from_run = from_run, .stale = stale});
  }
  static std::vector<std::string> told(const store::ReviewBeginning& beginning) {
    std::vector<std::string> marks;
    for (const HunkMark& one : beginning.marks)
      marks.push_back(one.hunk_id + " " + std::string(name_of(one.verdict)) + " " + one.reason + " of run " + std::to_string(one.from_run) +
                      (one.stale ? " stale" : ""));
    return marks;
  }
  ReviewComment comment(int start, int end, const std::string& quote) {
    ReviewComment comment;
    comment.path = "a";
    comment.start_line = start;
    comment.end_line = end;
    comment.quote = quote;
    comment.accepted = true;
    return comment;
  }
  /// "start-end" of the one comment, "stale" behind it when it is.
  std::string place(const ReviewComment& one) {
    row_.comments = {one};
    const ReviewComment moved = carried().comments.at(0);
    EXPECT_FALSE(moved.accepted) << "what was accepted there is not accepted here";
    return std::to_string(moved.start_line) + "-" + std::to_string(moved.end_line) + (moved.stale ? " stale" : "");
  }

  CanonicalDiff before_;
  CanonicalDiff now_;
  store::ReviewRow row_;
  std::vector<store::ReviewBeginning::Viewed> viewed_;
  std::map<std::pair<DiffSide, std::string>, std::string> files_;
};

TEST_F(CarryOver, AVerdictGoesToTheSameHunkWhereverItIs) {
  before_.files = {file("a", {hunk("h1", 1, 3), hunk("h2", 20, 3)})};
  now_.files = {file("a", {hunk("h0", 1, 1), hunk("h1", 5, 3), hunk("h2", 24, 3)})};
  mark("h1", HunkVerdict::accept);
  mark("h2", HunkVerdict::reject, false, 1);
  EXPECT_THAT(told(carried(2)), ElementsAre("h1 accept why h1 of run 2", "h2 reject why h2 of run 1"));
}

TEST_F(CarryOver, AChangedHunkOnTheSameLinesGetsItAsStale) {
  before_.files = {file("a", {hunk("h1", 10, 5)}), file("b", {hunk("h2", 10, 5)})};
  now_.files = {file("a", {hunk("n1", 1, 9), hunk("n2", 14, 3), hunk("n3", 15, 3)}), file("c", {hunk("n4", 10, 5)})};
  mark("h1", HunkVerdict::reject);
  mark("h2", HunkVerdict::reject);
  EXPECT_THAT(told(carried()), ElementsAre("n2 reject why h1 of run 1 stale"));
}

TEST_F(CarryOver, AHunkThatStayedKeepsItsOwnVerdictAndNoOther) {
  before_.files = {file("a", {hunk("h1", 10, 5), hunk("h2", 12, 5), hunk("undecided", 13, 2)})};
  now_.files = {file("a", {hunk("h2", 12, 5), hunk("undecided", 13, 2)})};
  mark("h1", HunkVerdict::reject);
  mark("h2", HunkVerdict::accept);
  EXPECT_THAT(told(carried()), ElementsAre("h2 accept why h2 of run 1"));
}

TEST_F(CarryOver, WhatWasStaleBeforeIsNotCarriedOn) {
  before_.files = now_.files = {file("a", {hunk("h1", 1, 3)})};
  mark("h1", HunkVerdict::accept, true);
  EXPECT_THAT(told(carried()), IsEmpty());
}

TEST_F(CarryOver, ACommentFollowsItsQuote) {
  files_[{DiffSide::head, "a"}] = "one\ntwo\nthree\ntwo\nfour\n";
  EXPECT_EQ(place(comment(2, 2, "two")), "2-2");
  EXPECT_EQ(place(comment(5, 5, "two")), "4-4") << "the nearest of several";
  EXPECT_EQ(place(comment(9, 10, "three\ntwo")), "3-4");
  EXPECT_EQ(place(comment(2, 2, "gone")), "2-2 stale");
  EXPECT_EQ(place(comment(5, 6, "four\nfive")), "5-6 stale") << "a quote that would go past the end";
}

TEST_F(CarryOver, ACommentOfAFileThatIsGoneIsStale) { EXPECT_EQ(place(comment(2, 2, "two")), "2-2 stale"); }

TEST_F(CarryOver, ViewedStaysForFilesThatAreTheSame) {
  before_.files = {file("a", {}), file("b", {}), file("c", {})};
  now_.files = {file("a", {}), file("b", {}, "2")};
  for (const FileDiff& one : before_.files) viewed_.push_back({"ada", {one.path(), content_hash(one)}});
  const auto viewed = carried().viewed;
  ASSERT_EQ(viewed.size(), 1u);
  EXPECT_EQ(viewed[0].mark.path, "a");
  EXPECT_EQ(viewed[0].principal, "ada");
}

TEST(LinesOf, CountsFromOne) {
  EXPECT_EQ(lines_of("a\nb\nc", 1, 1), "a");
  EXPECT_EQ(lines_of("a\nb\nc", 2, 3), "b\nc");
  EXPECT_EQ(lines_of("a\nb\nc\n", 3, 3), "c");
  EXPECT_FALSE(lines_of("a\nb\nc\n", 3, 4));
  EXPECT_FALSE(lines_of("a\nb\n", 0, 1));
  EXPECT_FALSE(lines_of("a\nb\n", 2, 1));
  EXPECT_FALSE(lines_of("", 1, 1));
}

}  // namespace
}  // namespace forge::jobs
