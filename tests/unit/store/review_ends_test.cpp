#include <atomic>

#include "orchestrator/base/guarded.h"
#include "tests/unit/store/review_fixture.h"

namespace forge::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

template <typename Backend>
class EndedReviews : public ReviewTest<Backend> {
 protected:
  std::vector<std::int64_t> pending() {
    std::vector<std::int64_t> ids;
    for (const ApplyRow& apply : this->reviews().pending_applies()) ids.push_back(apply.id);
    return ids;
  }
};
TYPED_TEST_SUITE(EndedReviews, Backends);

TYPED_TEST(EndedReviews, WriteTheirPlanDownByteForByteBeforeItIsDone) {
  this->clock_.advance_ms(500);
  const std::string odd("caf\xe9 \xff\0.txt", 10);
  const ApplyPlan plan{.hunks = {"h1", "h2"},
                       .suggestions = {{.comment = CommentId("c"), .path = odd, .start_line = 3, .end_line = 5, .text = odd + "\r\n"},
                                       {.comment = CommentId("d"), .path = "a", .start_line = 1, .end_line = 1, .text = ""}},
                       .message = "Subject \xc3\xa9\n\nBody\n",
                       .push = false};
  const ApplyRow begun = this->reviews().begin_apply(
      this->run(), 1, "", plan, {.branch = "forge/x-1-accepted", .accepted = 1, .rejected = 2, .undecided = 3, .by = "anna", .at_ms = 7});
  this->reopen();  // as after a crash
  const auto applies = this->reviews().pending_applies();
  ASSERT_THAT(applies, SizeIs(1));
  for (const ApplyRow& apply : {begun, applies[0]}) {
    EXPECT_EQ(apply.id, begun.id);
    EXPECT_TRUE(apply.pending);
    EXPECT_EQ(apply.run, this->run());
    EXPECT_EQ(apply.job, this->job());
    EXPECT_EQ(apply.run_number, 1);
    EXPECT_EQ(apply.plan.hunks, plan.hunks);
    EXPECT_EQ(apply.plan.message, plan.message);
    EXPECT_FALSE(apply.plan.push);
    ASSERT_THAT(apply.plan.suggestions, SizeIs(2));
    EXPECT_EQ(apply.plan.suggestions[0].comment, CommentId("c"));
    EXPECT_EQ(apply.plan.suggestions[0].path, odd);
    EXPECT_EQ(apply.plan.suggestions[0].start_line, 3);
    EXPECT_EQ(apply.plan.suggestions[0].end_line, 5);
    EXPECT_EQ(apply.plan.suggestions[0].text, odd + "\r\n");
    EXPECT_EQ(apply.plan.suggestions[1].text, "");
    EXPECT_EQ(apply.outcome.branch, "forge/x-1-accepted");
    EXPECT_EQ(apply.outcome.accepted, 1);
    EXPECT_EQ(apply.outcome.rejected, 2);
    EXPECT_EQ(apply.outcome.undecided, 3);
    EXPECT_EQ(apply.outcome.by, "anna");
    EXPECT_EQ(apply.outcome.at_ms, this->clock_.now_ms());
    EXPECT_EQ(apply.outcome.commit, "");
  }
  EXPECT_EQ(this->revision(), 1);
  EXPECT_EQ(this->status(), ReviewStatus::waiting);
  EXPECT_FALSE(this->review().applied);
}

TYPED_TEST(EndedReviews, KeepNoSecretInAMessage) {
  this->redactor_.add("hunter2hunter2");
  const ApplyRow apply = this->reviews().begin_apply(this->run(), 1, "", {.message = "use hunter2hunter2"}, {});
  EXPECT_EQ(apply.plan.message, "use [redacted]");
}

TYPED_TEST(EndedReviews, BecomeAppliedWithTheirRun) {
  const ApplyRow apply = this->begin();
  EXPECT_TRUE(this->reviews().finish_apply(apply.id, "c2", true));
  this->reopen();
  EXPECT_EQ(this->status(), ReviewStatus::applied);
  const ReviewRow review = this->review();
  EXPECT_EQ(review.revision, 2);
  EXPECT_EQ(review.status, ReviewStatus::applied);
  ASSERT_TRUE(review.applied);
  EXPECT_EQ(review.applied->commit, "c2");
  EXPECT_EQ(review.applied->branch, "forge/x-1-accepted");
  EXPECT_EQ(review.applied->by, "anna");
  EXPECT_TRUE(review.applied->pushed);
  EXPECT_EQ(review.pushed_commit, "c2");
  EXPECT_THAT(this->pending(), IsEmpty());
}

TYPED_TEST(EndedReviews, AreFinishedOnce) {
  const std::int64_t id = this->begin().id;
  EXPECT_TRUE(this->reviews().finish_apply(id, "c2", false));
  EXPECT_FALSE(this->reviews().finish_apply(id, "c3", true));
  EXPECT_FALSE(this->reviews().fail_apply(id, "late"));
  EXPECT_FALSE(this->reviews().finish_apply(id + 1, "c3", true));
  EXPECT_EQ(this->review().applied->commit, "c2");
  EXPECT_EQ(this->revision(), 2);
}

TYPED_TEST(EndedReviews, RememberTheLastApplyAndTheLastThatWasPushed) {
  this->reviews().finish_apply(this->begin().id, "c2", true);
  this->change(this->marking("h2"));
  this->reviews().finish_apply(this->begin().id, "c3", false);
  this->begin();  // pending: not yet the last
  EXPECT_EQ(this->review().applied->commit, "c3");
  EXPECT_EQ(this->review().pushed_commit, "c2");
}

TYPED_TEST(EndedReviews, RememberThePushesThatMayHaveComeThrough) {
  const auto fail = [this](const std::string& commit) {
    const std::int64_t id = this->begin().id;
    EXPECT_TRUE(commit.empty() || this->reviews().note_commit(id, commit));
    this->reviews().fail_apply(id, "no answer");
    EXPECT_FALSE(this->reviews().note_commit(id, "late"));
  };
  fail("c1");
  this->reviews().finish_apply(this->begin().id, "c2", true);
  fail("");  // it came to no push
  fail("c3");
  fail("c4");
  this->reviews().note_commit(this->begin().id, "c5");  // pending: not yet in doubt
  this->reopen();
  EXPECT_EQ(this->review().pushed_commit, "c2");
  EXPECT_THAT(this->review().doubtful_commits, ElementsAre("c4", "c3"));
  EXPECT_EQ(this->review().applied->commit, "c2");
}

TYPED_TEST(EndedReviews, RememberTheLatestOfManyPushesInDoubt) {
  for (std::size_t i = 1; i <= kDoubtfulPushes + 1; ++i) {
    const std::int64_t id = this->begin().id;
    this->reviews().note_commit(id, "c" + std::to_string(i));
    this->reviews().fail_apply(id, "no answer");
    EXPECT_THAT(this->review().doubtful_commits, SizeIs(std::min(i, kDoubtfulPushes)));
  }
  EXPECT_EQ(this->review().doubtful_commits.back(), "c2");
}

TYPED_TEST(EndedReviews, ActOnceForOneKey) {
  const std::int64_t id = this->begin("key").id;
  EXPECT_EQ(this->reviews().begin_apply(this->run(), 99, "key", {.hunks = {"other"}}, {}).plan.hunks, std::vector<std::string>{"h1"});
  EXPECT_EQ(this->reviews().find_apply(this->run(), "key")->id, id);
  this->reviews().finish_apply(id, "c2", false);
  this->reopen();
  const ApplyRow again = this->reviews().begin_apply(this->run(), 1, "key", {}, {});
  EXPECT_EQ(again.id, id);
  EXPECT_FALSE(again.pending);
  EXPECT_EQ(again.outcome.commit, "c2");
  EXPECT_EQ(this->revision(), 2);
}

TYPED_TEST(EndedReviews, ActOnceForOneKeyOfManyAtOnce) {
  std::atomic<std::int64_t> sum = 0;
  on_threads(8, [&](int) { sum += this->reviews().begin_apply(this->run(), 1, "key", {}, {}).id; });
  ASSERT_THAT(this->pending(), SizeIs(1));
  EXPECT_EQ(sum, 8 * this->pending()[0]);
}

TYPED_TEST(EndedReviews, TakeAnEmptyKeyForNone) {
  this->reviews().finish_apply(this->begin().id, "c2", false);
  EXPECT_FALSE(this->reviews().find_apply(this->run(), ""));
  EXPECT_TRUE(this->begin().pending);
}

TYPED_TEST(EndedReviews, KnowTheKeysOfTheirOwnAppliesOnly) {
  this->begin("key");
  const RunId other = this->ended_with_changes().run;
  this->reviews().open_review(other, {});
  EXPECT_FALSE(this->reviews().find_apply(other, "key"));
  EXPECT_EQ(this->reviews().begin_apply(other, 1, "key", {}, {}).run, other);
  EXPECT_THAT(this->pending(), SizeIs(2));
}

TYPED_TEST(EndedReviews, MayUseTheKeyOfAFailedApplyAgain) {
  this->redactor_.add("hunter2hunter2");
  const std::int64_t first = this->begin("key").id;
  EXPECT_TRUE(this->reviews().fail_apply(first, "no hunter2hunter2"));
  EXPECT_FALSE(this->reviews().finish_apply(first, "c2", false));
  EXPECT_FALSE(this->reviews().find_apply(this->run(), "key"));
  EXPECT_EQ(this->revision(), 1);
  EXPECT_EQ(this->status(), ReviewStatus::waiting);
  const std::int64_t second = this->begin("key").id;
  EXPECT_GT(second, first);
  EXPECT_TRUE(this->reviews().fail_apply(second, "again"));
  EXPECT_TRUE(this->begin("key").pending);
}

TYPED_TEST(EndedReviews, AreAppliedOneAtATime) {
  const std::int64_t id = this->begin().id;
  for (const char* key : {"", "key"}) EXPECT_EQ(error_of([&] { this->begin(key); }), "conflict: the review is being applied");
  EXPECT_EQ(error_of([&] { this->reviews().dismiss_review(this->run(), 1); }), "conflict: the review is being applied");
  EXPECT_EQ(error_of([&] { this->send_back(); }), "conflict: the review is being applied");
  EXPECT_THAT(this->pending(), ElementsAre(id));
}

TYPED_TEST(EndedReviews, AreBegunToBeAppliedByOneOfMany) {
  std::atomic<int> begun = 0;
  on_threads(8, [&](int) { begun += error_of([&] { this->reviews().begin_apply(this->run(), 1, "", {}, {}); }) == "no error" ? 1 : 0; });
  EXPECT_EQ(begun, 1);
  EXPECT_THAT(this->pending(), SizeIs(1));
}

TYPED_TEST(EndedReviews, RefuseAnOldRevision) {
  this->change(this->marking("h1"));
  const std::string text = "precondition_failed: somebody changed the review meanwhile";
  EXPECT_EQ(error_of([&] { this->reviews().begin_apply(this->run(), 1, "key", {}, {}); }), text);
  EXPECT_EQ(error_of([&] { this->reviews().send_back(this->run(), 1, "key", "anna", {}); }), text);
  EXPECT_EQ(error_of([&] { this->reviews().dismiss_review(this->run(), 1); }), text);
  EXPECT_EQ(this->status(), ReviewStatus::waiting);
  EXPECT_THAT(this->pending(), IsEmpty());
  EXPECT_THAT(this->store().runs(this->job()), SizeIs(1));
}

TYPED_TEST(EndedReviews, QueueTheFollowUpRunWhenSentBack) {
  this->draft("mine");
  this->draft("other", "bert");
  const Run run = this->send_back();
  EXPECT_EQ(run.number, 2);
  EXPECT_EQ(run.kind, RunKind::follow_up);
  EXPECT_EQ(run.from_run, 1);
  EXPECT_EQ(run.note, "again");
  EXPECT_EQ(run.brief, "again, please");
  EXPECT_EQ(this->store().job(this->job().str()).state, JobState::queued);
  EXPECT_THAT(this->all_events(run.id).at(0).data_json, HasSubstr(R"("from":"succeeded","note":"again")"));
  EXPECT_EQ(this->store().claim_run(1)->run, run.id);
  this->reopen();
  EXPECT_EQ(this->status(), ReviewStatus::changes_requested);
  EXPECT_EQ(this->revision(), 2);
  EXPECT_FALSE(this->review().comments.at(0).draft);
  EXPECT_TRUE(this->review().comments.at(1).draft);
}

TYPED_TEST(EndedReviews, AreSentBackOnceForOneKey) {
  const Run run = this->send_back("key");
  this->reopen();
  EXPECT_EQ(this->reviews().send_back(this->run(), 1, "key", "anna", {}).id, run.id);
  EXPECT_THAT(this->store().runs(this->job()), SizeIs(2));
  EXPECT_EQ(this->revision(), 2);
}

TYPED_TEST(EndedReviews, OfTwoJobsAreSentBackWithOneKeyEach) {
  const RunId other = this->ended_with_changes().run;
  this->reviews().open_review(other, {});
  const Run run = this->send_back("key");
  EXPECT_NE(this->reviews().send_back(other, 1, "key", "anna", {}).job, run.job);
}

TYPED_TEST(EndedReviews, AreSentBackOnceForOneKeyOfManyAtOnce) {
  Guarded<std::vector<std::string>> runs;
  on_threads(8, [&](int) { runs.lock()->push_back(this->reviews().send_back(this->run(), 1, "key", "anna", {}).id.str()); });
  EXPECT_THAT(*runs.lock(), testing::Each(this->store().runs(this->job()).at(1).id.str()));
  EXPECT_THAT(this->store().runs(this->job()), SizeIs(2));
}

TYPED_TEST(EndedReviews, AreSentBackByOneOfMany) {
  std::atomic<int> sent = 0;
  on_threads(8, [&](int) { sent += error_of([&] { this->reviews().send_back(this->run(), 1, "", "anna", {}); }) == "no error" ? 1 : 0; });
  EXPECT_EQ(sent, 1);
  EXPECT_THAT(this->store().runs(this->job()), SizeIs(2));
}

TYPED_TEST(EndedReviews, StayAsTheyAreWhileARunOfTheJobLives) {
  this->draft("mine");
  this->store().insert_run(this->job(), {});
  EXPECT_EQ(error_of([&] { this->send_back("key"); }), "conflict: run 2 of the job is queued");
  EXPECT_EQ(this->status(), ReviewStatus::waiting);
  EXPECT_EQ(this->revision(), 1);
  EXPECT_TRUE(this->review().comments.at(0).draft);
  this->store().request_cancel(this->job());
  EXPECT_EQ(this->send_back("key").number, 3);
}

TYPED_TEST(EndedReviews, AreDismissed) {
  this->reviews().dismiss_review(this->run(), 1);
  EXPECT_EQ(this->status(), ReviewStatus::dismissed);
  EXPECT_EQ(this->revision(), 2);
  EXPECT_EQ(error_of([&] { this->begin(); }), "conflict: the review was dismissed");
  EXPECT_EQ(error_of([&] { this->send_back(); }), "conflict: the review was dismissed");
}

TYPED_TEST(EndedReviews, ThatWereSentBackHaveEnded) {
  const Run run = this->send_back();
  this->store().request_cancel(this->job());
  EXPECT_EQ(error_of([&] { this->reviews().dismiss_review(this->run(), 2); }), "conflict: the review was sent back");
  EXPECT_EQ(error_of([&] { this->begin(); }), "conflict: the review was sent back");
  EXPECT_EQ(error_of([&] { this->send_back(); }), "conflict: the review was sent back");
  EXPECT_EQ(this->store().runs(this->job()).back().id, run.id);
}

TYPED_TEST(EndedReviews, ThatWereAppliedMayBeSentBackOrDismissed) {
  const RunId other = this->ended_with_changes().run;
  this->reviews().open_review(other, {});
  this->reviews().finish_apply(this->reviews().begin_apply(other, 1, "", {}, {}).id, "c3", false);
  this->reviews().dismiss_review(other, 2);
  EXPECT_EQ(this->reviews().review(other)->status, ReviewStatus::dismissed);
  this->reviews().finish_apply(this->begin().id, "c2", false);
  EXPECT_EQ(this->send_back().number, 2);
  EXPECT_EQ(this->status(), ReviewStatus::changes_requested);
  EXPECT_EQ(this->review().applied->commit, "c2");
}

}  // namespace
}  // namespace forge::store
