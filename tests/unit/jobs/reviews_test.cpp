#include "orchestrator/jobs/reviews.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "orchestrator/base/text.h"
#include "tests/support/errors.h"
#include "tests/support/numbered_lines.h"
#include "tests/support/soon.h"
#include "tests/unit/jobs/jobs_fixture.h"

namespace forge::test {
namespace {

using adapters::AgentResult;
using adapters::RunContext;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Line `line` of a numbered text in other words.
std::string with_line(std::string text, int line, const std::string& words) {
  const std::string old = "line " + std::to_string(line) + "\n";
  return text.replace(text.find(old), old.size(), words + "\n");
}

/// A job whose first run changes lines 3 and 40 of a file of 60 lines and adds a file.
class ReviewsTest : public Jobs {
 protected:
  ReviewsTest() {
    repo_.write("long.txt", numbered_lines(60));
    repo_.commit("long");
    play_ = [](sandbox::Sandbox& sandbox, const Stop& stop) {
      sandbox.write_file("long.txt", with_line(with_line(numbered_lines(60), 3, "three"), 40, "forty"), stop);
      sandbox.write_file("new.txt", "new\n", stop);
    };
    start([this](const RunContext& context, const std::string& prompt, const Stop& stop) -> AgentResult {
      prompts_.push_back(prompt);
      play_(context.sandbox, stop);
      return {.reason = Reason::completed, .summary = "Did it\n\nAll of it.", .error = {}};
    });
    job_ = run_to_end(spec()).id.str();
  }

  ReviewControl& reviews() { return service_->reviews(); }
  Review review(const Principal& who, int run = 0) { return reviews().review(who, job_, run, soon()); }
  Review review() { return review(me_); }
  static std::vector<ReviewedHunk> hunks(const Review& review) {
    std::vector<ReviewedHunk> all;
    for (const ReviewedFile& file : review.files) all.insert(all.end(), file.hunks.begin(), file.hunks.end());
    return all;
  }
  Review mark(const std::vector<std::pair<std::size_t, std::optional<HunkVerdict>>>& verdicts, const std::string& reason = "") {
    const Review now = review();
    ReviewEdit edit;
    for (const auto& [index, verdict] : verdicts) edit.marks.push_back({hunks(now).at(index).id, verdict, reason});
    return reviews().edit(me_, job_, 0, now.revision, edit, soon());
  }
  AppliedReview apply(ApplyRequest request = {}) {
    request.revision = review().revision;
    return reviews().apply(me_, job_, 0, request, soon());
  }
  ReviewComment comment(const NewComment& wanted) { return reviews().add_comment(me_, job_, 0, wanted, soon()); }
  forge::Run send_back(const std::string& note) {
    const forge::Run next = reviews().send_back(me_, job_, 0, {.revision = review().revision, .note = note}, soon());
    EXPECT_TRUE(wait_for_ends(next.number));
    return service_->run(job_, next.number);
  }
  ReviewStatus status() { return service_->get(job_).last_run->review; }

  const Principal ada_{"ada", Role::reviewer, false};
  std::function<void(sandbox::Sandbox&, const Stop&)> play_;
  std::vector<std::string> prompts_;
  std::string job_;
};

TEST_F(ReviewsTest, BeginsUndecidedWithTheHunksOfTheDiff) {
  const Review begun = review();
  EXPECT_EQ(begun.status, ReviewStatus::waiting);
  EXPECT_EQ(begun.revision, 1);
  ASSERT_EQ(begun.files.size(), 2u);
  EXPECT_EQ(begun.files[0].path, "long.txt");
  ASSERT_EQ(begun.files[0].hunks.size(), 2u);
  EXPECT_EQ(begun.files[0].hunks[1].lines.old_start, 37);
  EXPECT_EQ(begun.files[1].hunks.at(0).kind, HunkKind::file);
  for (const ReviewedHunk& hunk : hunks(begun)) EXPECT_FALSE(hunk.mark);
}

TEST_F(ReviewsTest, AppliesExactlyWhatIsAccepted) {
  mark({{0, HunkVerdict::accept}, {1, HunkVerdict::reject}, {2, HunkVerdict::accept}});
  const AppliedReview applied = apply();
  EXPECT_EQ(applied.accepted, 2);
  EXPECT_EQ(applied.rejected, 1);
  EXPECT_TRUE(applied.pushed);
  EXPECT_THAT(applied.branch, testing::EndsWith("-1-accepted"));
  EXPECT_EQ(repo_.git({"rev-parse", applied.branch}), applied.commit);
  EXPECT_EQ(repo_.git({"rev-parse", applied.branch + "^"}), repo_.git({"rev-parse", "main"}));
  EXPECT_EQ(repo_.git({"show", applied.branch + ":long.txt"}) + "\n", with_line(numbered_lines(60), 3, "three"));
  EXPECT_EQ(repo_.git({"show", applied.branch + ":new.txt"}), "new");
  EXPECT_THAT(repo_.git({"log", "-1", "--format=%B", applied.branch}), AllOf(HasSubstr("Did it"), HasSubstr("Reviewed-by: tester")));
  EXPECT_EQ(status(), ReviewStatus::applied);
  EXPECT_EQ(review().applied->commit, applied.commit);
}

TEST_F(ReviewsTest, ASecondApplyTakesThePlaceOfTheFirst) {
  mark({{0, HunkVerdict::accept}, {1, HunkVerdict::reject}, {2, HunkVerdict::reject}});
  const AppliedReview first = apply();
  mark({{1, HunkVerdict::accept}});
  const AppliedReview second = apply();
  EXPECT_NE(second.commit, first.commit);
  EXPECT_EQ(second.branch, first.branch);
  EXPECT_EQ(repo_.git({"rev-parse", second.branch}), second.commit);
}

TEST_F(ReviewsTest, ABranchThatSomebodyMovedIsNotOverwritten) {
  mark({{0, HunkVerdict::accept}, {1, HunkVerdict::accept}, {2, HunkVerdict::accept}});
  const AppliedReview first = apply();
  repo_.git({"branch", "-f", first.branch, "main"});
  EXPECT_EQ(code_of([&] { apply({.message = "again"}); }), "conflict");
  EXPECT_EQ(repo_.git({"rev-parse", first.branch}), repo_.git({"rev-parse", "main"}));
  EXPECT_EQ(review().applied->commit, first.commit);
}

TEST_F(ReviewsTest, UndecidedHunksMustBeConfirmed) {
  mark({{0, HunkVerdict::accept}});
  EXPECT_EQ(error_of([&] { apply(); })->client_text(), "2 changes not decided yet");
  const AppliedReview applied = apply({.push = false, .confirm_undecided = true});
  EXPECT_EQ(applied.undecided, 2);
  EXPECT_FALSE(applied.pushed);
  EXPECT_THAT(repo_.git({"branch", "--list", applied.branch}), IsEmpty());
}

TEST_F(ReviewsTest, NothingAcceptedIsNothingToApply) {
  mark({{0, HunkVerdict::reject}, {1, HunkVerdict::reject}, {2, HunkVerdict::reject}});
  EXPECT_THAT(error_of([&] { apply(); })->client_text(), HasSubstr("nothing is accepted"));
}

TEST_F(ReviewsTest, OneKeyAppliesOnce) {
  mark({{0, HunkVerdict::accept}, {1, HunkVerdict::accept}, {2, HunkVerdict::accept}});
  const AppliedReview first = apply({.key = "k1"});
  mark({{1, HunkVerdict::reject}});
  EXPECT_EQ(apply({.key = "k1"}).commit, first.commit);
  EXPECT_NE(apply({.key = "k2"}).commit, first.commit);
}

TEST_F(ReviewsTest, AnOldRevisionIsRefusedAndLosesNothing) {
  const Review seen = review();
  mark({{0, HunkVerdict::accept}});
  const std::string second = hunks(seen)[1].id;
  EXPECT_EQ(code_of([&] {
              reviews().edit(ada_, job_, 0, seen.revision, {.marks = {{second, HunkVerdict::reject, ""}}}, soon());
            }),
            "precondition_failed");
  EXPECT_EQ(code_of([&] { reviews().apply(me_, job_, 0, {.revision = seen.revision, .confirm_undecided = true}, soon()); }),
            "precondition_failed");
  // Also where what it says now would not do: that is news only to who has read it.
  EXPECT_EQ(code_of([&] { reviews().apply(me_, job_, 0, {.revision = seen.revision}, soon()); }), "precondition_failed");
  const auto now = hunks(review());
  EXPECT_EQ(now[0].mark->verdict, HunkVerdict::accept);
  EXPECT_FALSE(now[1].mark);
}

TEST_F(ReviewsTest, ASuggestionThatIsAcceptedIsInTheCommit) {
  const ReviewComment said =
      comment({.path = "long.txt", .start_line = 3, .end_line = 4, .body = "Better:", .suggestion = "three!\nfour!"});
  EXPECT_EQ(said.quote, "three\nline 4");
  mark({{0, HunkVerdict::accept}, {1, HunkVerdict::reject}, {2, HunkVerdict::reject}});
  reviews().edit(me_, job_, 0, review().revision, {.suggestions = {{said.id, true}}}, soon());
  const AppliedReview applied = apply();
  EXPECT_THAT(repo_.git({"show", applied.branch + ":long.txt"}), HasSubstr("line 2\nthree!\nfour!\nline 5\n"));
}

TEST_F(ReviewsTest, ASuggestionInADraftGoesIntoItsAuthorsCommitAlone) {
  const ReviewComment hidden = reviews().add_comment(
      ada_, job_, 0, {.path = "long.txt", .start_line = 10, .end_line = 10, .body = "", .suggestion = "ten!", .draft = true}, soon());
  reviews().edit(ada_, job_, 0, review().revision, {.suggestions = {{hidden.id, true}}}, soon());
  mark({{0, HunkVerdict::accept}, {1, HunkVerdict::accept}, {2, HunkVerdict::accept}});
  const AppliedReview of_another = apply();
  EXPECT_THAT(repo_.git({"show", of_another.branch + ":long.txt"}), Not(HasSubstr("ten!")));
  const AppliedReview own = reviews().apply(ada_, job_, 0, {.revision = review().revision}, soon());
  EXPECT_THAT(repo_.git({"show", own.branch + ":long.txt"}), HasSubstr("ten!"));
}

TEST_F(ReviewsTest, ASuggestionInARejectedHunkIsAConflict) {
  const ReviewComment said = comment({.path = "long.txt", .start_line = 3, .end_line = 3, .body = "", .suggestion = "three!"});
  mark({{0, HunkVerdict::reject}, {1, HunkVerdict::accept}, {2, HunkVerdict::accept}});
  reviews().edit(me_, job_, 0, review().revision, {.suggestions = {{said.id, true}}}, soon());
  const auto refused = error_of([&] { apply(); });
  EXPECT_EQ(refused->code(), ErrorCode::conflict);
  EXPECT_THAT(refused->client_text(), HasSubstr("long.txt"));
  EXPECT_EQ(status(), ReviewStatus::waiting);
}

TEST_F(ReviewsTest, SendingBackTellsTheNextRunAndCarriesOver) {
  comment({.path = "new.txt", .body = "Call it newer."});
  mark({{0, HunkVerdict::accept}, {1, HunkVerdict::reject}}, "not there");
  play_ = [](sandbox::Sandbox& sandbox, const Stop& stop) {
    EXPECT_THAT(sandbox.read_file("long.txt", 10000, stop), HasSubstr("forty"));
    sandbox.write_file("long.txt", with_line(with_line(numbered_lines(60), 3, "three"), 40, "FORTY"), stop);
  };
  const forge::Run second = send_back("Two things.");
  EXPECT_EQ(service_->run(job_, 1).review, ReviewStatus::changes_requested);
  EXPECT_EQ(second.kind, RunKind::follow_up);
  EXPECT_THAT(prompts_.at(1), AllOf(HasSubstr("Two things."), HasSubstr("not there"), HasSubstr("+forty"), HasSubstr("Call it newer."),
                                    Not(HasSubstr("+three"))));
  const Review next = review();
  EXPECT_EQ(next.run, 2);
  const auto now = hunks(next);
  ASSERT_EQ(now.size(), 3u);
  EXPECT_EQ(now[0].mark->verdict, HunkVerdict::accept);
  EXPECT_EQ(now[0].mark->from_run, 1);
  EXPECT_TRUE(now[1].mark->stale);
  ASSERT_EQ(next.comments.size(), 1u);
  EXPECT_EQ(next.comments[0].from_run, 1);
  EXPECT_FALSE(next.comments[0].stale);

  const Interdiff between = reviews().interdiff(job_, 2, 1, soon());
  EXPECT_THAT(between.text, AllOf(HasSubstr("-forty"), HasSubstr("+FORTY"), Not(HasSubstr("three\n+"))));
  EXPECT_THAT(between.changed_hunks, testing::ElementsAre(now[1].id));
  EXPECT_EQ(between.gone_hunks.size(), 1u);
}

TEST_F(ReviewsTest, AReviewThatWasSentBackIsClosed) {
  send_back("Again.");
  const auto of_first = [&](const ReviewEdit& edit) { reviews().edit(me_, job_, 1, review(me_, 1).revision, edit, soon()); };
  EXPECT_EQ(code_of([&] { of_first({.summary = "late"}); }), "conflict");
  EXPECT_EQ(code_of([&] { reviews().dismiss(me_, job_, 1, review(me_, 1).revision, soon()); }), "conflict");
}

TEST_F(ReviewsTest, OneKeySendsBackOnce) {
  const SendBackRequest request{.revision = review().revision, .note = "Again.", .key = "k"};
  const forge::Run first = reviews().send_back(me_, job_, 1, request, soon());
  EXPECT_EQ(reviews().send_back(me_, job_, 1, request, soon()).number, first.number);
  EXPECT_TRUE(wait_for_ends(2));
  EXPECT_EQ(service_->runs(job_).size(), 2u);
}

TEST_F(ReviewsTest, OneKeySendsTheLatestRunBackOnceThoughItIsAnotherRunThen) {
  Gate gate;
  play_ = [&](sandbox::Sandbox& sandbox, const Stop& stop) {
    sandbox.write_file("new.txt", "newer\n", stop);
    gate.wait();
  };
  const SendBackRequest request{.revision = review().revision, .note = "Again.", .key = "k"};
  const forge::Run first = reviews().send_back(me_, job_, 0, request, soon());
  EXPECT_EQ(reviews().send_back(me_, job_, 0, request, soon()).number, first.number) << "while it lives";
  gate.open();
  EXPECT_TRUE(wait_for_ends(2));
  EXPECT_EQ(reviews().send_back(me_, job_, 0, request, soon()).number, first.number) << "when it has ended";
  EXPECT_EQ(service_->runs(job_).size(), 2u);
}

TEST_F(ReviewsTest, AReviewThatSaysNothingIsNotSentBack) {
  EXPECT_THAT(error_of([&] { send_back(""); })->client_text(), HasSubstr("the review says nothing"));
}

TEST_F(ReviewsTest, ADismissedRunNeedsNobody) {
  EXPECT_EQ(reviews().dismiss(me_, job_, 0, review().revision, soon()).status, ReviewStatus::dismissed);
  EXPECT_EQ(status(), ReviewStatus::dismissed);
  const auto refused = error_of([&] { apply(); });
  EXPECT_EQ(refused->code(), ErrorCode::conflict);
  EXPECT_EQ(refused->client_text(), "the review was dismissed");
}

TEST_F(ReviewsTest, ADraftIsSeenByItsAuthorAloneUntilItIsSent) {
  const ReviewComment draft = comment({.path = "long.txt", .start_line = 1, .end_line = 1, .body = "Hm.", .draft = true});
  EXPECT_EQ(review().revision, 1);
  EXPECT_THAT(review(ada_).comments, IsEmpty());
  EXPECT_EQ(code_of([&] { reviews().edit_comment(ada_, job_, 0, draft.id, {.body = "Mine."}); }), "not_found");
  reviews().edit(me_, job_, 0, 1, {.send_drafts = true}, soon());
  EXPECT_EQ(review(ada_).comments.at(0).body, "Hm.");
  EXPECT_EQ(code_of([&] { reviews().delete_comment(ada_, job_, 0, draft.id); }), "permission_denied");
  reviews().delete_comment(me_, job_, 0, draft.id);
  EXPECT_THAT(review().comments, IsEmpty());
}

TEST_F(ReviewsTest, ViewedIsEachOnesOwn) {
  const Review seen = reviews().edit(me_, job_, 0, {}, {.viewed = {{"long.txt", true}}}, soon());
  EXPECT_TRUE(seen.files[0].viewed);
  EXPECT_EQ(seen.revision, 1);
  EXPECT_FALSE(review(ada_).files[0].viewed);
  EXPECT_FALSE(reviews().edit(me_, job_, 0, {}, {.viewed = {{"long.txt", false}}}, soon()).files[0].viewed);
}

TEST_F(ReviewsTest, WhatTheRunDoesNotHaveIsNamed) {
  const auto field = [&](auto&& body) { return error_of(body)->field(); };
  const auto edit = [&](const ReviewEdit& wanted) { return [&, wanted] { reviews().edit(me_, job_, 0, 1, wanted, soon()); }; };
  review();
  EXPECT_EQ(field(edit({.marks = {{"0123", HunkVerdict::accept, ""}}})), "verdicts[0].hunk_id");
  EXPECT_EQ(field(edit({.viewed = {{"nothing", true}}})), "viewed[0].path");
  EXPECT_EQ(field(edit({.summary = std::string(kReviewSummaryBytes + 1, 'x')})), "summary");
  EXPECT_EQ(code_of(edit({.summary = std::string(kReviewSummaryBytes, 'x')})), "none");
  const std::string first = hunks(review())[0].id;
  EXPECT_EQ(field([&] {
              reviews().edit(me_, job_, 0, 2, {.marks = {{first, HunkVerdict::reject, std::string(kReasonBytes + 1, 'x')}}}, soon());
            }),
            "verdicts[0].reason");
  EXPECT_EQ(field([&] { comment({.path = "long.txt", .start_line = 60, .end_line = 61, .body = "x"}); }), "start_line");
  EXPECT_EQ(field([&] { comment({.path = "long.txt", .quote = "something else", .body = "x"}); }), "quote");
  EXPECT_EQ(field([&] { comment({.path = "long.txt", .body = " "}); }), "body");
  EXPECT_EQ(field([&] { comment({.path = "long.txt", .side = DiffSide::base, .body = "x", .suggestion = "y"}); }), "suggestion");
  EXPECT_EQ(code_of([&] { comment({.path = "nothing", .body = "x"}); }), "not_found");
}

TEST_F(ReviewsTest, EveryChangeThatOthersSeeIsTold) {
  std::vector<std::pair<std::int64_t, ReviewStatus>> told;
  const auto handle =
      reviews().subscribe([&](const JobId&, int, std::int64_t revision, ReviewStatus status) { told.emplace_back(revision, status); });
  mark({{0, HunkVerdict::accept}});
  reviews().edit(me_, job_, 0, {}, {.viewed = {{"long.txt", true}}}, soon());
  comment({.path = "long.txt", .body = "x"});
  apply({.push = false, .confirm_undecided = true});
  using Told = std::pair<std::int64_t, ReviewStatus>;
  EXPECT_THAT(told, testing::ElementsAre(Told{2, ReviewStatus::waiting}, Told{3, ReviewStatus::waiting}, Told{4, ReviewStatus::applied}));
}

TEST_F(ReviewsTest, PatchesAreOfAllOrOfWhatIsAccepted) {
  mark({{0, HunkVerdict::accept}, {1, HunkVerdict::reject}});
  EXPECT_EQ(reviews().patch(job_, 0, PatchPart::all, soon()), service_->diff(job_, 0));
  EXPECT_THAT(reviews().patch(job_, 0, PatchPart::accepted, soon()),
              AllOf(HasSubstr("+three"), Not(HasSubstr("forty")), Not(HasSubstr("new.txt"))));
}

TEST_F(ReviewsTest, FilesAreThoseOfBothSides) {
  EXPECT_EQ(reviews().file(job_, 0, DiffSide::base, "long.txt", soon()).content, numbered_lines(60));
  EXPECT_EQ(reviews().file(job_, 0, DiffSide::head, "new.txt", soon()).content, "new\n");
  EXPECT_EQ(code_of([&] { reviews().file(job_, 0, DiffSide::base, "new.txt", soon()); }), "not_found");
}

TEST_F(ReviewsTest, APlanThatADeadProcessLeftIsCompletedToTheSameTree) {
  mark({{0, HunkVerdict::accept}, {1, HunkVerdict::reject}, {2, HunkVerdict::reject}});
  const AppliedReview first = apply({.key = "k"});
  const forge::Run run = service_->run(job_, 1);
  const auto done = store_->find_apply(run.id, "k");
  ASSERT_TRUE(done);
  // The same plan again, as a process leaves it that dies after it wrote the plan down, and one that dies after its push.
  AppliedReview planned = done->outcome;
  planned.commit.clear();
  planned.pushed = false;
  store_->begin_apply(run.id, review().revision, "again", done->plan, planned);
  service_.reset();
  start([](const RunContext&, const std::string&, const Stop&) { return AgentResult{}; });
  for (int i = 0; i < 500 && !store_->pending_applies().empty(); ++i) pause(std::chrono::milliseconds(20), soon());
  // Its time is that of its own plan, which may be another second: the tree and the parent are the same.
  const std::string completed = store_->find_apply(run.id, "again")->outcome.commit;
  EXPECT_EQ(repo_.git({"rev-parse", completed + "^{tree}", completed + "^"}),
            repo_.git({"rev-parse", first.commit + "^{tree}", first.commit + "^"}));
  EXPECT_EQ(repo_.git({"rev-parse", first.branch}), completed);
}

TEST_F(ReviewsTest, APlanThatIsLeftWhereNobodyWorksIsCompletedByWhoEndsTheReviewNext) {
  mark({{0, HunkVerdict::accept}, {1, HunkVerdict::reject}, {2, HunkVerdict::reject}});
  const AppliedReview first = apply({.key = "k"});
  const auto done = store_->find_apply(service_->run(job_, 1).id, "k");
  const std::int64_t seen = review().revision;
  store_->begin_apply(done->run, seen, "again", done->plan, {.branch = first.branch, .accepted = 1, .rejected = 2, .by = "tester"});
  service_.reset();
  start([](const RunContext&, const std::string&, const Stop&) { return AgentResult{}; }, {.concurrency = 0});
  ASSERT_EQ(store_->pending_applies().size(), 1u) << "who only looks pushes nothing";
  EXPECT_EQ(code_of([&] { reviews().dismiss(me_, job_, 0, seen, soon()); }), "precondition_failed") << "it was applied meanwhile";
  EXPECT_TRUE(store_->pending_applies().empty());
  EXPECT_EQ(repo_.git({"rev-parse", first.branch}), store_->find_apply(done->run, "again")->outcome.commit);
  EXPECT_EQ(reviews().dismiss(me_, job_, 0, review().revision, soon()).status, ReviewStatus::dismissed);
}

TEST_F(ReviewsTest, AnApplyTakesThePlaceOfOneWhosePushCameThroughUnheard) {
  mark({{0, HunkVerdict::accept}, {1, HunkVerdict::reject}, {2, HunkVerdict::reject}});
  const AppliedReview kept = apply({.push = false, .key = "k"});
  const auto done = store_->find_apply(service_->run(job_, 1).id, "k");
  // As after a push whose answer was lost: the branch is there, and the apply has failed.
  const auto lost = store_->begin_apply(done->run, review().revision, "", done->plan, kept);
  store_->note_commit(lost.id, kept.commit);
  store_->fail_apply(lost.id, "timed out");
  git_->push_expecting(repo_.str(), kept.commit, kept.branch, "", soon());
  mark({{1, HunkVerdict::accept}});
  const AppliedReview second = apply();
  EXPECT_NE(second.commit, kept.commit);
  EXPECT_EQ(repo_.git({"rev-parse", second.branch}), second.commit);
}

TEST_F(ReviewsTest, AnEarlierResultThatIsGoneTakesOnlyWhatHungOnItsLines) {
  mark({{0, HunkVerdict::accept}, {1, HunkVerdict::reject}});
  const std::string branch = service_->run(job_, 1).branch;
  service_.reset();
  std::filesystem::remove_all(dir_.path() / "mirrors");
  repo_.git({"update-ref", "-d", "refs/heads/" + branch});
  repo_.git({"reflog", "expire", "--expire=now", "--all"});
  repo_.git({"gc", "--quiet", "--prune=now"});
  start([](const RunContext& context, const std::string&, const Stop& stop) -> AgentResult {
    context.sandbox.write_file("long.txt", with_line(with_line(numbered_lines(60), 3, "three"), 40, "FORTY"), stop);
    return {.reason = Reason::completed, .summary = "Again", .error = {}};
  });
  service_->new_run(me_, job_, {.kind = RunKind::retry});
  ASSERT_TRUE(wait_for_ends(2));
  ASSERT_EQ(code_of([&] { review(me_, 1); }), "not_found");
  const auto now = hunks(review());
  ASSERT_EQ(now.size(), 2u);
  ASSERT_TRUE(now[0].mark);
  EXPECT_EQ(now[0].mark->from_run, 1);
  EXPECT_FALSE(now[1].mark);
}

}  // namespace
}  // namespace forge::test
