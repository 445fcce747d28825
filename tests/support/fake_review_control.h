#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/domain/review_control.h"

namespace forge::test {

/// ReviewControl in memory, for tests of the doors: reviews, files and diffs are what the test puts there. It keeps revisions, verdicts
/// and comments as the interface promises; of commits, trees and quotes it knows nothing.
class FakeReviewControl final : public ReviewControl {
 public:
  Review review(const Principal& who, const std::string& job, int run, const Stop&) override {
    auto state = state_.lock();
    return seen_by(who, find(*state, job, run));
  }

  Review edit(const Principal& who, const std::string& job, int run, std::optional<std::int64_t> revision, const ReviewEdit& edit,
              const Stop&) override {
    auto state = state_.lock();
    Review& review = find(*state, job, run);
    if (revision) check_revision(review, *revision);
    Review changed = review;
    for (const ReviewEdit::Mark& mark : edit.marks) set_mark(changed, who, mark);
    for (const ReviewEdit::Suggestion& suggestion : edit.suggestions)
      comment_of(changed, suggestion.comment).accepted = suggestion.accepted;
    for (const ReviewEdit::Viewed& viewed : edit.viewed) file_of(changed, viewed.path).viewed = viewed.viewed;
    if (edit.send_drafts)
      for (ReviewComment& comment : changed.comments) comment.draft = comment.draft && comment.author != who.name;
    if (edit.summary) changed.summary = *edit.summary;
    const bool shared = !edit.marks.empty() || !edit.suggestions.empty() || edit.summary || edit.send_drafts;
    if (!shared && edit.viewed.empty()) throw bad_input("", "there is nothing to do");
    review = std::move(changed);
    if (shared) grew(review);
    return seen_by(who, review);
  }

  ReviewComment add_comment(const Principal& who, const std::string& job, int run, const NewComment& comment, const Stop&) override {
    auto state = state_.lock();
    Review& review = find(*state, job, run);
    file_of(review, comment.path);
    const std::string number = std::to_string(review.comments.size() + 1);
    review.comments.push_back({.id = CommentId("01jd000000000000000000" + std::string(4 - number.size(), '0') + number),
                               .author = who.name,
                               .path = comment.path,
                               .side = comment.side,
                               .start_line = comment.start_line,
                               .end_line = comment.end_line,
                               .quote = comment.quote,
                               .body = comment.body,
                               .suggestion = comment.suggestion,
                               .draft = comment.draft,
                               .created_ms = kNowMs,
                               .updated_ms = kNowMs});
    if (!comment.draft) grew(review);
    return review.comments.back();
  }
  ReviewComment edit_comment(const Principal& who, const std::string& job, int run, const CommentId& id, const CommentEdit& edit) override {
    auto state = state_.lock();
    Review& review = find(*state, job, run);
    ReviewComment& comment = own_comment(review, who, id);
    if (edit.body) comment.body = *edit.body;
    if (edit.suggestion) comment.suggestion = *edit.suggestion;
    if (edit.draft) comment.draft = *edit.draft;
    comment.updated_ms = kNowMs;
    if (!comment.draft) grew(review);
    return comment;
  }
  void delete_comment(const Principal& who, const std::string& job, int run, const CommentId& id) override {
    auto state = state_.lock();
    Review& review = find(*state, job, run);
    own_comment(review, who, id);
    std::erase_if(review.comments, [&](const ReviewComment& comment) { return comment.id == id; });
    grew(review);
  }

  AppliedReview apply(const Principal& who, const std::string& job, int run, const ApplyRequest& request, const Stop&) override {
    auto state = state_.lock();
    Review& review = find(*state, job, run);
    state->last_apply = request;
    check_revision(review, request.revision);
    AppliedReview applied{.commit = std::string(40, 'c'), .branch = branch_name(review.job, review.run) + "-accepted"};
    for (const ReviewedFile& file : review.files)
      for (const ReviewedHunk& hunk : file.hunks) {
        const bool counts = hunk.mark && !hunk.mark->stale;
        ++(!counts ? applied.undecided : hunk.mark->verdict == HunkVerdict::accept ? applied.accepted : applied.rejected);
      }
    if (applied.undecided != 0 && !request.confirm_undecided)
      throw public_failure(ErrorCode::conflict, "some hunks are undecided").with_hint("confirm_undecided leaves them out");
    applied.pushed = request.push;
    applied.by = who.name;
    applied.at_ms = kNowMs;
    review.applied = applied;
    review.status = ReviewStatus::applied;
    grew(review);
    return applied;
  }
  Run send_back(const Principal&, const std::string& job, int run, const SendBackRequest& request, const Stop&) override {
    auto state = state_.lock();
    Review& review = find(*state, job, run);
    state->last_send_back = request;
    check_revision(review, request.revision);
    review.status = ReviewStatus::changes_requested;
    grew(review);
    Run next;
    next.id = RunId("01jd0000000000000000000r99");
    next.job = review.job;
    next.number = review.run + 1;
    next.kind = RunKind::follow_up;
    next.from_run = review.run;
    next.note = request.note;
    next.created_ms = kNowMs;
    return next;
  }
  Review dismiss(const Principal& who, const std::string& job, int run, std::int64_t revision, const Stop&) override {
    auto state = state_.lock();
    Review& review = find(*state, job, run);
    check_revision(review, revision);
    review.status = ReviewStatus::dismissed;
    grew(review);
    return seen_by(who, review);
  }

  FileView file(const std::string& job, int run, DiffSide side, const std::string& path, const Stop&) override {
    auto state = state_.lock();
    find(*state, job, run);
    const auto found = state->files.find({side, path});
    if (found == state->files.end()) throw public_failure(ErrorCode::not_found, "the run has no such file");
    if (found->second.size() > kFileViewBytes) throw public_failure(ErrorCode::limit_exceeded, "the file is larger than 5 MiB");
    return {.path = path, .blob = std::string(40, side == DiffSide::base ? 'b' : 'a'), .mode = "100644", .content = found->second};
  }
  Interdiff interdiff(const std::string& job, int run, int since_run, const Stop&) override {
    auto state = state_.lock();
    const Review& review = find(*state, job, run);
    find(*state, job, since_run);
    Interdiff made = state->interdiff;
    made.run = review.run;
    made.since_run = since_run;
    return made;
  }
  std::string patch(const std::string& job, int run, PatchPart part, const Stop&) override {
    auto state = state_.lock();
    find(*state, job, run);
    return part == PatchPart::all ? "whole patch\n" : "accepted part\n";
  }
  std::shared_ptr<void> subscribe(Listener listener) override {
    auto listeners = listeners_;
    auto list = listeners->lock();
    const auto at = list->insert(list->end(), std::move(listener));
    return {listeners.get(), [listeners, at](void*) { listeners->lock()->erase(at); }};
  }

  // What tests make happen.

  static constexpr std::int64_t kNowMs = 1'700'000'009'000;
  void put(Review review) { state_.lock()->reviews.push_back(std::move(review)); }
  void put_file(DiffSide side, const std::string& path, std::string content) { state_.lock()->files[{side, path}] = std::move(content); }
  void put_interdiff(Interdiff interdiff) { state_.lock()->interdiff = std::move(interdiff); }
  ApplyRequest last_apply() { return state_.lock()->last_apply; }
  SendBackRequest last_send_back() { return state_.lock()->last_send_back; }

 private:
  struct State {
    std::list<Review> reviews;
    std::map<std::pair<DiffSide, std::string>, std::string> files;
    Interdiff interdiff;
    ApplyRequest last_apply;
    SendBackRequest last_send_back;
  };

  static Review& find(State& state, const std::string& job, int run) {
    for (auto review = state.reviews.rbegin(); review != state.reviews.rend(); ++review)
      if (job.size() >= 6 && review->job.str().starts_with(job) && (run == 0 || review->run == run)) return *review;
    throw public_failure(ErrorCode::not_found, "there is no such review");
  }
  static void check_revision(const Review& review, std::int64_t revision) {
    if (revision != review.revision) throw public_failure(ErrorCode::precondition_failed, "somebody changed the review meanwhile");
  }
  static ReviewedFile& file_of(Review& review, const std::string& path) {
    for (ReviewedFile& file : review.files)
      if (file.path == path) return file;
    throw bad_input("path", "the run did not change such a file");
  }
  static ReviewComment& comment_of(Review& review, const CommentId& id) {
    for (ReviewComment& comment : review.comments)
      if (comment.id == id) return comment;
    throw public_failure(ErrorCode::not_found, "there is no such comment");
  }
  static ReviewComment& own_comment(Review& review, const Principal& who, const CommentId& id) {
    ReviewComment& comment = comment_of(review, id);
    if (comment.author != who.name) throw public_failure(ErrorCode::permission_denied, "somebody else wrote it");
    return comment;
  }
  static void set_mark(Review& review, const Principal& who, const ReviewEdit::Mark& mark) {
    for (ReviewedFile& file : review.files)
      for (ReviewedHunk& hunk : file.hunks) {
        if (hunk.id != mark.hunk_id) continue;
        hunk.mark.reset();
        if (mark.verdict)
          hunk.mark = HunkMark{.hunk_id = hunk.id, .verdict = *mark.verdict, .reason = mark.reason, .by = who.name, .at_ms = kNowMs};
        return;
      }
    throw bad_input("verdicts", "the review has no hunk " + mark.hunk_id);
  }
  /// Drafts are their author's alone.
  static Review seen_by(const Principal& who, Review review) {
    std::erase_if(review.comments, [&](const ReviewComment& comment) { return comment.draft && comment.author != who.name; });
    return review;
  }
  void grew(Review& review) {
    ++review.revision;
    auto listeners = listeners_->lock();
    for (const Listener& listener : *listeners) listener(review.job, review.run, review.revision, review.status);
  }

  Guarded<State> state_;
  std::shared_ptr<Guarded<std::list<Listener>>> listeners_ = std::make_shared<Guarded<std::list<Listener>>>();
};

}  // namespace forge::test
