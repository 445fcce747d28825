#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/ids.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/domain/review.h"

namespace forge::store {

/// What a new run starts from and is told.
struct RunRow {
  RunKind kind = RunKind::retry;
  int from_run = 0;
  std::string note;
  std::string brief;
  std::string request_key;  ///< of the send-back that makes it: filled in by send_back
  /// What each run of the job may cost from this one on; nothing: as it was.
  std::optional<std::int64_t> budget_nano_usd{};
};

/// Lines that an accepted suggestion puts in place of others of the head side.
struct PlannedSuggestion {
  CommentId comment;
  std::string path;
  int start_line = 1;
  int end_line = 1;
  std::string text;
};

/// What an apply is going to do, written down before it does it: whoever completes it later makes the same commit.
struct ApplyPlan {
  std::vector<std::string> hunks;  ///< ids of the accepted ones
  std::vector<PlannedSuggestion> suggestions;
  std::string message;  ///< whole text of the commit
  bool push = true;
};

struct ApplyRow {
  std::int64_t id = 0;
  RunId run;
  JobId job;
  int run_number = 0;
  ApplyPlan plan;
  AppliedReview outcome;  ///< counts, branch, by and at_ms from the beginning; commit once it is made, pushed once it is done
  std::string error;      ///< of a failed one
  bool pending = true;
};

inline constexpr std::size_t kDoubtfulPushes = 8;

/// What is stored of one run's review.
struct ReviewRow {
  RunId run;
  std::int64_t revision = 1;
  ReviewStatus status = ReviewStatus::waiting;  ///< the run's, as it was at this revision
  std::string summary;
  std::vector<HunkMark> marks;           ///< by hunk id
  std::vector<ReviewComment> comments;   ///< oldest first, with everybody's drafts
  std::optional<AppliedReview> applied;  ///< the last one that is done
  std::string pushed_commit;             ///< of the last one that was pushed; empty when none was
  /// Of the failed ones since then whose push had begun, newest first, at most kDoubtfulPushes: the branch may stand at any of them.
  std::vector<std::string> doubtful_commits;
};

/// What a review begins with: carried over from the one before.
struct ReviewBeginning {
  std::vector<HunkMark> marks;          ///< with whose they are and when they were given
  std::vector<ReviewComment> comments;  ///< oldest first; their ids are made here, all else is kept
  struct Viewed {
    std::string principal;
    ViewedMark mark;
  };
  std::vector<Viewed> viewed;
};

/// One change to a review, in the words of the store.
struct ReviewChange {
  std::string by;
  std::optional<std::string> summary;
  std::vector<HunkMark> marks;        ///< set: hunk, verdict and reason count; they are given here and now, by `by`
  std::vector<std::string> unmarked;  ///< ids of hunks whose marks go
  struct Suggestion {
    CommentId comment;
    bool accepted = true;
  };
  std::vector<Suggestion> suggestions;
  std::vector<ViewedMark> viewed;       ///< by `by`
  std::vector<std::string> not_viewed;  ///< paths
  bool send_drafts = false;             ///< those of `by`
};

/// Somebody was first: the review is at revision `now`, which the hint names.
Error changed_meanwhile(std::int64_t now);

/// Reviews as they are stored. The part of Store that deals with them; its rules hold. A `revision` that is not the review's own is
/// precondition_failed, and the hint holds the right one. Unless said otherwise a change makes the revision grow by one; what only its
/// principal sees does not. Texts that people wrote lose secrets and bad UTF-8 on the way in, so what is returned or read back counts, not
/// what was passed. What is the repository's (paths, quotes, and the lines in a plan) is kept byte for byte. A key is idempotent: "" is no
/// key, any other acts once. Errors: not_found for a run without a review; a list of it is empty.
class ReviewStore {
 public:
  virtual ~ReviewStore() = default;

  /// Makes the review of a run; the one that is there already is left alone. False then. Throws not_found for an unknown run;
  /// limit_exceeded past kCommentsPerReview.
  virtual bool open_review(const RunId& run, const ReviewBeginning& beginning) = 0;
  /// Nothing when it was not opened yet.
  virtual std::optional<ReviewRow> review(const RunId& run) = 0;
  virtual std::vector<ViewedMark> viewed(const RunId& run, const std::string& principal) = 0;
  /// Of everybody, for the next run's beginning.
  virtual std::vector<ReviewBeginning::Viewed> all_viewed(const RunId& run) = 0;
  /// Returns the revision afterwards. All or nothing. Without `revision` only viewed marks may be in it: bad_input otherwise. An applied
  /// review may change, and stays `applied` until the next apply. Throws conflict when the review is changes_requested or dismissed;
  /// bad_input for a comment that is unknown, another's draft or without a suggestion; limit_exceeded past kMarksPerEdit, which counts each
  /// of marks with unmarked, suggestions, and viewed with not_viewed.
  virtual std::int64_t change_review(const RunId& run, std::optional<std::int64_t> revision, const ReviewChange& change) = 0;

  // Whatever the status of the review is.
  /// The id and times are filled in. A draft leaves the revision alone. Throws limit_exceeded past kCommentsPerReview, drafts included.
  virtual ReviewComment insert_comment(const RunId& run, const ReviewComment& comment) = 0;
  /// Writes body, suggestion and draft; what was sent stays sent, and another suggestion is not accepted any more. Throws not_found, also
  /// for another author's draft; permission_denied for another author's. The same for delete_comment.
  virtual ReviewComment update_comment(const RunId& run, const ReviewComment& comment, const std::string& by) = 0;
  virtual void delete_comment(const RunId& run, const CommentId& comment, const std::string& by) = 0;

  /// The apply that a request with this key began, unless it failed.
  virtual std::optional<ApplyRow> find_apply(const RunId& run, const std::string& key) = 0;
  /// Writes the plan down, with the time in `outcome.at_ms`; the revision stays. With a key that was used before, the row of that time is
  /// returned instead, whatever the revision. Throws conflict while another one is pending, or when the review is changes_requested or
  /// dismissed.
  virtual ApplyRow begin_apply(const RunId& run, std::int64_t revision, const std::string& key, const ApplyPlan& plan,
                               const AppliedReview& outcome) = 0;
  /// It made this commit and is going to push it. False when it is not pending.
  virtual bool note_commit(std::int64_t id, const std::string& commit) = 0;
  /// It is done: the review and its run become `applied`, in one transaction. False when it was not pending.
  virtual bool finish_apply(std::int64_t id, const std::string& commit, bool pushed) = 0;
  /// It came to nothing: nothing else changes, and its key may be used again. False when it was not pending.
  virtual bool fail_apply(std::int64_t id, const std::string& error) = 0;
  /// Of all reviews, oldest first.
  virtual std::vector<ApplyRow> pending_applies() = 0;

  /// The run that a send-back with this key made, of whichever run of the job. Nothing for an empty key.
  virtual std::optional<Run> find_sent_back(const JobId& job, const std::string& key) = 0;
  /// Sends the drafts of `by`, makes the review `changes_requested` and queues the follow-up run, in one transaction. With a key that was
  /// used before for the job, the run of that time is returned, whatever the revision. Throws conflict while a run of the job lives or an
  /// apply is pending, or when the review is changes_requested or dismissed.
  virtual Run send_back(const RunId& run, std::int64_t revision, const std::string& key, const std::string& by,
                        const RunRow& follow_up) = 0;
  /// Throws conflict when it is changes_requested, or while an apply is pending.
  virtual void dismiss_review(const RunId& run, std::int64_t revision) = 0;
};

}  // namespace forge::store
