#include "tests/unit/store/review_fixture.h"

namespace forge::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

template <typename Backend>
class StoredComments : public ReviewTest<Backend> {
 protected:
  std::vector<std::string> bodies() {
    std::vector<std::string> bodies;
    for (const ReviewComment& comment : this->review().comments) bodies.push_back(comment.body);
    return bodies;
  }
  /// Fills the review up to `count` comments through the beginning of another one, which costs one commit.
  RunId review_with(std::size_t count) {
    RunId run = this->ended_with_changes().run;
    this->reviews().open_review(run, {.comments = std::vector<ReviewComment>(count, this->remark("x"))});
    return run;
  }
};
TYPED_TEST_SUITE(StoredComments, Backends);

TYPED_TEST(StoredComments, GetAnIdAndTheirTimes) {
  this->clock_.advance_ms(500);
  const ReviewComment made = this->comment("why?");
  EXPECT_EQ(made.id.str().size(), 26u);
  EXPECT_EQ(made.created_ms, this->clock_.now_ms());
  EXPECT_EQ(made.updated_ms, this->clock_.now_ms());
  EXPECT_EQ(this->revision(), 2);
  this->comment("because", "bert");
  EXPECT_THAT(this->bodies(), ElementsAre("why?", "because"));
  EXPECT_EQ(this->review().comments[0].id, made.id);
}

TYPED_TEST(StoredComments, KeepTheLinesTheyQuoteByteForByte) {
  this->redactor_.add("hunter2hunter2");
  const std::string lines("hunter2hunter2 caf\xe9\0\r\n", 22);
  ReviewComment quoting = this->remark("x");
  quoting.quote = lines;
  EXPECT_EQ(this->reviews().insert_comment(this->run(), quoting).quote, lines);
  quoting.quote = "";
  this->reviews().insert_comment(this->run(), quoting);
  this->reopen();
  EXPECT_EQ(this->review().comments.at(0).quote, lines);
  EXPECT_EQ(this->review().comments.at(1).quote, "");
}

TYPED_TEST(StoredComments, AsDraftsLeaveTheRevisionUntilTheyAreSent) {
  ReviewComment draft = this->draft("hm");
  EXPECT_EQ(this->revision(), 1);
  draft.body = "hmm";
  draft = this->reviews().update_comment(this->run(), draft, "anna");
  EXPECT_TRUE(draft.draft);
  EXPECT_EQ(this->revision(), 1);
  draft.draft = false;
  EXPECT_FALSE(this->reviews().update_comment(this->run(), draft, "anna").draft);
  EXPECT_EQ(this->revision(), 2);
  EXPECT_THAT(this->bodies(), ElementsAre("hmm"));
}

TYPED_TEST(StoredComments, OnceSentStaySent) {
  ReviewComment sent = this->comment("x");
  sent.draft = true;
  EXPECT_FALSE(this->reviews().update_comment(this->run(), sent, "anna").draft);
  EXPECT_FALSE(this->review().comments.at(0).draft);
  EXPECT_EQ(this->revision(), 3);
}

TYPED_TEST(StoredComments, AreSentTogetherByTheirAuthor) {
  this->draft("one");
  this->draft("two");
  this->draft("other", "bert");
  EXPECT_EQ(this->change({.by = "anna", .send_drafts = true}), 2);
  std::vector<bool> drafts;
  for (const ReviewComment& comment : this->review().comments) drafts.push_back(comment.draft);
  EXPECT_THAT(drafts, ElementsAre(false, false, true));
}

TYPED_TEST(StoredComments, ChangeBodyAndSuggestionAndNothingElse) {
  ReviewComment edited = this->suggest("new\n");
  this->clock_.advance_ms(500);
  edited.body = "better";
  edited.suggestion = {};
  edited.path = "b.txt";
  edited.author = "bert";
  const ReviewComment stored = this->reviews().update_comment(this->run(), edited, "anna");
  EXPECT_EQ(stored.body, "better");
  EXPECT_FALSE(stored.suggestion);
  EXPECT_EQ(stored.path, "a.txt");
  EXPECT_EQ(stored.author, "anna");
  EXPECT_EQ(stored.created_ms + 500, stored.updated_ms);
  const ReviewComment read = this->review().comments.at(0);
  EXPECT_EQ(read.body, "better");
  EXPECT_FALSE(read.suggestion);
  EXPECT_EQ(read.path, "a.txt");
  EXPECT_EQ(read.author, "anna");
  EXPECT_EQ(read.updated_ms, stored.updated_ms);
}

TYPED_TEST(StoredComments, AreChangedByTheirAuthorOnly) {
  ReviewComment comment = this->comment("mine");
  comment.body = "yours";
  EXPECT_EQ(error_of([&] { this->reviews().update_comment(this->run(), comment, "bert"); }),
            "permission_denied: the comment is somebody else's");
  EXPECT_EQ(error_of([&] { this->reviews().delete_comment(this->run(), comment.id, "bert"); }),
            "permission_denied: the comment is somebody else's");
  EXPECT_THAT(this->bodies(), ElementsAre("mine"));
  EXPECT_EQ(this->revision(), 2);
}

TYPED_TEST(StoredComments, OfOthersThatAreDraftsDoNotExist) {
  ReviewComment draft = this->draft("mine");
  EXPECT_EQ(error_of([&] { this->reviews().update_comment(this->run(), draft, "bert"); }),
            "not_found: the review has no comment '" + draft.id.str() + "'");
  EXPECT_THAT(error_of([&] { this->reviews().delete_comment(this->run(), draft.id, "bert"); }), StartsWith("not_found"));
}

TYPED_TEST(StoredComments, OfAnotherReviewAreNotFound) {
  const RunId other = this->review_with(1);
  ReviewComment comment = this->comment("x");
  EXPECT_THAT(error_of([&] { this->reviews().update_comment(other, comment, "anna"); }), StartsWith("not_found"));
  EXPECT_THAT(error_of([&] { this->reviews().delete_comment(other, comment.id, "anna"); }), StartsWith("not_found"));
  EXPECT_THAT(
      error_of([&] { this->reviews().change_review(other, 1, {.by = "anna", .suggestions = {{.comment = this->suggest("x").id}}}); }),
      StartsWith("invalid_argument"));
}

TYPED_TEST(StoredComments, AreGoneWhenTheirAuthorDeletesThem) {
  const ReviewComment comment = this->comment("x");
  const ReviewComment draft = this->draft("y");
  this->reviews().delete_comment(this->run(), draft.id, "anna");
  EXPECT_EQ(this->revision(), 2);  // nobody else saw it
  this->reviews().delete_comment(this->run(), comment.id, "anna");
  EXPECT_EQ(this->revision(), 3);
  EXPECT_THAT(this->bodies(), IsEmpty());
  EXPECT_THAT(error_of([&] { this->reviews().delete_comment(this->run(), comment.id, "anna"); }), StartsWith("not_found"));
}

TYPED_TEST(StoredComments, HaveTheirSuggestionAcceptedAndNotAccepted) {
  const CommentId id = this->suggest("new\n").id;
  EXPECT_EQ(this->change({.by = "bert", .suggestions = {{.comment = id, .accepted = true}}}), 3);
  EXPECT_TRUE(this->review().comments.at(0).accepted);
  EXPECT_EQ(this->change({.by = "bert", .suggestions = {{.comment = id, .accepted = false}}}), 4);
  EXPECT_FALSE(this->review().comments.at(0).accepted);
}

TYPED_TEST(StoredComments, WithoutASuggestionAndDraftsOfOthersCannotBeAccepted) {
  const CommentId plain = this->comment("x").id;
  ReviewComment drafted = this->remark("y");
  drafted.suggestion = "new\n";
  drafted.draft = true;
  const CommentId draft = this->reviews().insert_comment(this->run(), drafted).id;
  for (const CommentId& id : {plain, draft})
    EXPECT_THAT(error_of([&] { this->change({.by = "bert", .suggestions = {{.comment = id}}}); }), StartsWith("invalid_argument"));
  this->change({.by = "anna", .suggestions = {{.comment = draft}}});
  EXPECT_TRUE(this->review().comments.at(1).accepted);
}

TYPED_TEST(StoredComments, AreNotAcceptedAnyMoreWithAnotherSuggestion) {
  ReviewComment comment = this->suggest("new\n");
  this->change({.by = "bert", .suggestions = {{.comment = comment.id}}});
  comment.body = "only other words";
  EXPECT_TRUE(this->reviews().update_comment(this->run(), comment, "anna").accepted);
  comment.suggestion = "newer\n";
  EXPECT_FALSE(this->reviews().update_comment(this->run(), comment, "anna").accepted);
  EXPECT_FALSE(this->review().comments.at(0).accepted);
}

TYPED_TEST(StoredComments, AreLimitedPerReview) {
  const RunId run = this->review_with(kCommentsPerReview - 1);
  ReviewComment draft = this->remark("the last");
  draft.draft = true;
  this->reviews().insert_comment(run, draft);
  EXPECT_EQ(error_of([&] { this->reviews().insert_comment(run, this->remark("one more")); }),
            "limit_exceeded: a review holds at most 2000 comments");
  EXPECT_THAT(this->reviews().review(run)->comments, SizeIs(kCommentsPerReview));
  this->comment("another review has room");
}

TYPED_TEST(StoredComments, ThatAReviewBeginsWithAreLimitedToo) {
  EXPECT_THAT(this->reviews().review(this->review_with(kCommentsPerReview))->comments, SizeIs(kCommentsPerReview));
  EXPECT_THAT(error_of([&] { this->review_with(kCommentsPerReview + 1); }), StartsWith("limit_exceeded"));
}

TYPED_TEST(StoredComments, OfManyAtOnceAllArrive) {
  on_threads(8, [&](int i) { this->comment(std::to_string(i)); });
  EXPECT_THAT(this->bodies(), SizeIs(8));
  EXPECT_EQ(this->revision(), 9);
}

TYPED_TEST(StoredComments, MayBeWrittenWhateverTheStatus) {
  this->reviews().dismiss_review(this->run(), 1);
  this->comment("a pity");
  EXPECT_THAT(this->bodies(), ElementsAre("a pity"));
}

}  // namespace
}  // namespace forge::store
