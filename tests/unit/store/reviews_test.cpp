#include <atomic>

#include "tests/unit/store/review_fixture.h"

namespace forge::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

const std::string kOddBytes = std::string("caf\xe9 \xff\0.txt", 10);  // neither UTF-8 nor free of NUL

template <typename Backend>
class StoredReviews : public ReviewTest<Backend> {};
TYPED_TEST_SUITE(StoredReviews, Backends);

TYPED_TEST(StoredReviews, BeginEmptyAtRevisionOne) {
  const ReviewRow review = this->review();
  EXPECT_EQ(review.run, this->run());
  EXPECT_EQ(review.revision, 1);
  EXPECT_EQ(review.status, ReviewStatus::waiting);
  EXPECT_EQ(review.summary, "");
  EXPECT_THAT(review.marks, IsEmpty());
  EXPECT_THAT(review.comments, IsEmpty());
  EXPECT_FALSE(review.applied);
  EXPECT_EQ(review.pushed_commit, "");
}

TYPED_TEST(StoredReviews, AreNothingUntilTheyAreOpened) {
  const RunId run = this->ended_with_changes().run;
  EXPECT_FALSE(this->reviews().review(run));
  EXPECT_THAT(this->reviews().viewed(run, "anna"), IsEmpty());
  EXPECT_THAT(this->reviews().all_viewed(run), IsEmpty());
  EXPECT_FALSE(this->reviews().find_apply(run, "key"));
  const std::string none = "not_found: the run has no review";
  EXPECT_EQ(error_of([&] { this->reviews().change_review(run, 1, this->marking("h1")); }), none);
  EXPECT_EQ(error_of([&] { this->reviews().insert_comment(run, this->remark("x")); }), none);
  EXPECT_EQ(error_of([&] { this->reviews().begin_apply(run, 1, "", {}, {}); }), none);
  EXPECT_EQ(error_of([&] { this->reviews().send_back(run, 1, "", "anna", {}); }), none);
  EXPECT_EQ(error_of([&] { this->reviews().dismiss_review(run, 1); }), none);
}

TYPED_TEST(StoredReviews, OfAnUnknownRunAreNotOpened) {
  EXPECT_THAT(error_of([&] { this->reviews().open_review(RunId("01jgfq2k00000000000000000a"), {}); }), StartsWith("not_found"));
}

TYPED_TEST(StoredReviews, KeepWhatTheyBeginWith) {
  const RunId run = this->ended_with_changes().run;
  ReviewComment old = this->remark("old");
  old.path = kOddBytes;
  old.side = DiffSide::base;
  old.start_line = 3;
  old.end_line = 4;
  old.suggestion = "new line\n";
  old.accepted = true;
  old.stale = true;
  old.from_run = 7;
  old.created_ms = 11;
  old.updated_ms = 12;
  const HunkMark mark{
      .hunk_id = "h1", .verdict = HunkVerdict::reject, .reason = "no", .by = "bert", .at_ms = 5, .from_run = 7, .stale = true};
  EXPECT_TRUE(this->reviews().open_review(
      run, {.marks = {mark}, .comments = {old, this->remark("second")}, .viewed = {{.principal = "anna", .mark = {kOddBytes, "hash"}}}}));
  this->reopen();
  const ReviewRow review = this->reviews().review(run).value();
  ASSERT_THAT(review.marks, SizeIs(1));
  EXPECT_EQ(review.marks[0].verdict, HunkVerdict::reject);
  EXPECT_EQ(review.marks[0].reason, "no");
  EXPECT_EQ(review.marks[0].by, "bert");
  EXPECT_EQ(review.marks[0].at_ms, 5);
  EXPECT_EQ(review.marks[0].from_run, 7);
  EXPECT_TRUE(review.marks[0].stale);
  ASSERT_THAT(review.comments, SizeIs(2));
  const ReviewComment& kept = review.comments[0];
  EXPECT_EQ(kept.id.str().size(), 26u);
  EXPECT_EQ(kept.author, "anna");
  EXPECT_EQ(kept.path, kOddBytes);
  EXPECT_EQ(kept.side, DiffSide::base);
  EXPECT_EQ(kept.start_line, 3);
  EXPECT_EQ(kept.end_line, 4);
  EXPECT_EQ(kept.quote, "old line\n");
  EXPECT_EQ(kept.suggestion, "new line\n");
  EXPECT_TRUE(kept.accepted);
  EXPECT_TRUE(kept.stale);
  EXPECT_FALSE(kept.draft);
  EXPECT_EQ(kept.from_run, 7);
  EXPECT_EQ(kept.created_ms, 11);
  EXPECT_EQ(kept.updated_ms, 12);
  EXPECT_EQ(review.comments[1].body, "second");
  EXPECT_EQ(this->reviews().viewed(run, "anna").at(0).path, kOddBytes);
}

TYPED_TEST(StoredReviews, AreOpenedOnce) {
  this->change(this->marking("h1"));
  EXPECT_FALSE(this->reviews().open_review(this->run(), {.marks = {this->mark("h2")}}));
  EXPECT_THAT(this->marked(), ElementsAre("h1"));
  EXPECT_EQ(this->revision(), 2);
}

TYPED_TEST(StoredReviews, AreOpenedByOneOfMany) {
  const RunId run = this->ended_with_changes().run;
  std::atomic<int> opened = 0;
  on_threads(8, [&](int) { opened += this->reviews().open_review(run, {.marks = {this->mark("h1")}}) ? 1 : 0; });
  EXPECT_EQ(opened, 1);
  EXPECT_THAT(this->reviews().review(run)->marks, SizeIs(1));
}

TYPED_TEST(StoredReviews, SayWhoMarkedWhatAndWhen) {
  this->clock_.advance_ms(500);
  HunkMark forged = this->mark("h1", HunkVerdict::reject, "too long");
  forged.by = "bert";
  forged.at_ms = 1;
  forged.from_run = 9;
  forged.stale = true;
  EXPECT_EQ(this->change({.by = "anna", .summary = "nearly", .marks = {forged, this->mark("h2")}}), 2);
  this->reopen();
  const ReviewRow review = this->review();
  EXPECT_EQ(review.summary, "nearly");
  ASSERT_THAT(review.marks, SizeIs(2));
  EXPECT_EQ(review.marks[0].hunk_id, "h1");
  EXPECT_EQ(review.marks[0].verdict, HunkVerdict::reject);
  EXPECT_EQ(review.marks[0].reason, "too long");
  EXPECT_EQ(review.marks[0].by, "anna");
  EXPECT_EQ(review.marks[0].at_ms, this->clock_.now_ms());
  EXPECT_EQ(review.marks[0].from_run, 0);
  EXPECT_FALSE(review.marks[0].stale);
  EXPECT_EQ(review.marks[1].verdict, HunkVerdict::accept);
}

TYPED_TEST(StoredReviews, ReplaceAndTakeBackMarks) {
  this->change({.by = "anna", .marks = {this->mark("h1"), this->mark("h2")}});
  EXPECT_EQ(this->change({.by = "bert", .marks = {this->mark("h1", HunkVerdict::reject)}, .unmarked = {"h2", "never marked"}}), 3);
  ASSERT_THAT(this->marked(), ElementsAre("h1"));
  EXPECT_EQ(this->review().marks[0].by, "bert");
  EXPECT_EQ(this->review().marks[0].verdict, HunkVerdict::reject);
}

TYPED_TEST(StoredReviews, LeaveWhatAChangeDoesNotName) {
  this->change({.by = "anna", .summary = "nearly", .marks = {this->mark("h1")}});
  this->change(this->marking("h2"));
  EXPECT_EQ(this->review().summary, "nearly");
  EXPECT_THAT(this->marked(), ElementsAre("h1", "h2"));
}

TYPED_TEST(StoredReviews, TellAPersonThatSomebodyWasFirst) {
  this->change(this->marking("h1"));
  const auto late = [&] { this->reviews().change_review(this->run(), 1, this->marking("h2")); };
  EXPECT_EQ(error_of(late), "precondition_failed: somebody changed the review meanwhile");
  EXPECT_THAT(hint_of(late), HasSubstr("revision 2"));
  EXPECT_THAT(this->marked(), ElementsAre("h1"));
  EXPECT_THAT(error_of([&] { this->reviews().change_review(this->run(), 3, this->marking("h2")); }), StartsWith("precondition_failed"));
}

TYPED_TEST(StoredReviews, LoseNoVerdictOfTwoReviewersAtOnce) {
  std::atomic<int> failed = 0;
  std::atomic<int> together = 0;
  on_threads(2, [&](int i) {
    const std::string hunk = "h" + std::to_string(i);
    // Both have read revision 1 before either writes.
    std::int64_t seen = this->revision();
    ++together;
    while (together < 2) std::this_thread::yield();
    while (true) {
      const std::string said =
          error_of([&] { this->reviews().change_review(this->run(), seen, this->marking(hunk, "r" + std::to_string(i))); });
      if (said == "no error") return;
      EXPECT_EQ(said, "precondition_failed: somebody changed the review meanwhile");
      ++failed;
      seen = this->revision();
    }
  });
  EXPECT_EQ(failed, 1);
  EXPECT_THAT(this->marked(), ElementsAre("h0", "h1"));
  EXPECT_EQ(this->revision(), 3);
}

TYPED_TEST(StoredReviews, NeedARevisionForWhatOthersSee) {
  const CommentId comment = this->suggest("x\n").id;
  const std::vector<ReviewChange> shared = {this->marking("h1"),
                                            {.by = "anna", .summary = "x"},
                                            {.by = "anna", .unmarked = {"h1"}},
                                            {.by = "anna", .suggestions = {{.comment = comment}}},
                                            {.by = "anna", .send_drafts = true}};
  for (const ReviewChange& change : shared)
    EXPECT_THAT(error_of([&] { this->reviews().change_review(this->run(), {}, change); }), StartsWith("invalid_argument"));
  EXPECT_EQ(this->reviews().change_review(this->run(), {}, {.by = "anna", .viewed = {{"a.txt", "hash"}}}), this->revision());
}

TYPED_TEST(StoredReviews, KeepViewedMarksToTheirPrincipal) {
  EXPECT_EQ(this->change({.by = "anna", .viewed = {{"b.txt", "hb"}, {kOddBytes, "h1"}, {"a.txt", "ha"}}}), 1);
  EXPECT_EQ(this->change({.by = "bert", .viewed = {{"a.txt", "other"}}}), 1);
  EXPECT_EQ(this->change({.by = "anna", .viewed = {{kOddBytes, "h2"}}, .not_viewed = {"b.txt", "never viewed"}}), 1);
  const auto annas = this->reviews().viewed(this->run(), "anna");
  ASSERT_THAT(annas, SizeIs(2));
  EXPECT_EQ(annas[0].path, "a.txt");
  EXPECT_EQ(annas[0].content_hash, "ha");
  EXPECT_EQ(annas[1].path, kOddBytes);
  EXPECT_EQ(annas[1].content_hash, "h2");
  EXPECT_EQ(this->reviews().viewed(this->run(), "bert").at(0).content_hash, "other");
  const auto all = this->reviews().all_viewed(this->run());
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[0].principal, "anna");
  EXPECT_EQ(all[2].principal, "bert");
  EXPECT_EQ(all[2].mark.path, "a.txt");
}

TYPED_TEST(StoredReviews, AreChangedAsAWholeOrNotAtAll) {
  const auto change = [&] {
    this->change({.by = "anna",
                  .summary = "x",
                  .marks = {this->mark("h1")},
                  .suggestions = {{.comment = CommentId("01jgfq2k00000000000000000a")}},
                  .viewed = {{"a.txt", "hash"}}});
  };
  EXPECT_EQ(error_of(change), "invalid_argument: no comment '01jgfq2k00000000000000000a' of the review has a suggestion");
  EXPECT_EQ(this->revision(), 1);
  EXPECT_EQ(this->review().summary, "");
  EXPECT_THAT(this->marked(), IsEmpty());
  EXPECT_THAT(this->reviews().viewed(this->run(), "anna"), IsEmpty());
}

TYPED_TEST(StoredReviews, TakeAsManyMarksInOneChangeAsTheLimitSays) {
  ReviewChange most{.by = "anna"};
  for (std::size_t i = 1; i < kMarksPerEdit; ++i) most.marks.push_back(this->mark(std::to_string(i)));
  most.unmarked = {"x"};
  EXPECT_EQ(this->change(most), 2);
  EXPECT_THAT(this->review().marks, SizeIs(kMarksPerEdit - 1));
  most.unmarked.emplace_back("y");
  EXPECT_EQ(error_of([&] { this->change(most); }), "limit_exceeded: one change holds at most 20000 marks, not 20001");
  EXPECT_EQ(this->revision(), 2);
}

TYPED_TEST(StoredReviews, TakeAsManyViewedMarksInOneChangeAsTheLimitSays) {
  ReviewChange most{.by = "anna"};
  for (std::size_t i = 1; i < kMarksPerEdit; ++i) most.viewed.push_back({std::to_string(i), "hash"});
  most.not_viewed = {"x"};
  this->change(most);
  EXPECT_THAT(this->reviews().viewed(this->run(), "anna"), SizeIs(kMarksPerEdit - 1));
  most.not_viewed.emplace_back("y");
  EXPECT_THAT(error_of([&] { this->change(most); }), StartsWith("limit_exceeded"));
}

TYPED_TEST(StoredReviews, TakeAsManySuggestionsInOneChangeAsTheLimitSays) {
  ReviewChange most{.by = "anna"};
  most.suggestions.assign(kMarksPerEdit, {.comment = this->suggest("x\n").id, .accepted = true});
  this->change(most);
  EXPECT_TRUE(this->review().comments.at(0).accepted);
  most.suggestions.push_back(most.suggestions[0]);
  EXPECT_THAT(error_of([&] { this->change(most); }), StartsWith("limit_exceeded"));
}

TYPED_TEST(StoredReviews, KeepNoSecretOfPeoplesTextsAndNoBadUtf8) {
  this->redactor_.add("hunter2hunter2");
  this->change({.by = "anna", .summary = "s hunter2hunter2 \xff", .marks = {this->mark("h1", HunkVerdict::reject, "r hunter2hunter2")}});
  ReviewComment said = this->remark("b hunter2hunter2 \xff");
  said.suggestion = "x hunter2hunter2";
  const ReviewComment stored = this->reviews().insert_comment(this->run(), said);
  EXPECT_EQ(stored.body, "b [redacted] \xef\xbf\xbd");
  EXPECT_EQ(stored.suggestion, "x [redacted]");
  const ReviewRow review = this->review();
  EXPECT_EQ(review.summary, "s [redacted] \xef\xbf\xbd");
  EXPECT_EQ(review.marks.at(0).reason, "r [redacted]");
  EXPECT_EQ(review.comments.at(0).body, stored.body);
  EXPECT_EQ(review.comments.at(0).suggestion, stored.suggestion);
}

TYPED_TEST(StoredReviews, RefuseChangesOnceSentBackOrDismissed) {
  const RunId other = this->ended_with_changes().run;
  this->reviews().open_review(other, {});
  this->reviews().dismiss_review(other, 1);
  EXPECT_EQ(error_of([&] { this->reviews().change_review(other, 2, this->marking("h1")); }), "conflict: the review was dismissed");
  this->send_back();
  EXPECT_EQ(error_of([&] { this->change(this->marking("h1")); }), "conflict: the review was sent back");
  EXPECT_THAT(error_of([&] { this->change({.by = "anna", .viewed = {{"a.txt", "hash"}}}); }), StartsWith("conflict"));
}

TYPED_TEST(StoredReviews, GoOnAfterAnApplyAndStayAppliedUntilTheNext) {
  ASSERT_TRUE(this->reviews().finish_apply(this->begin().id, "c2", false));
  EXPECT_EQ(this->change(this->marking("h2")), 3);
  EXPECT_EQ(this->status(), ReviewStatus::applied);
  EXPECT_EQ(this->review().status, ReviewStatus::applied);
}

}  // namespace
}  // namespace forge::store
