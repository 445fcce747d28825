#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "orchestrator/base/redactor.h"
#include "orchestrator/store/review_rows.h"
#include "orchestrator/store/run_moves.h"
#include "orchestrator/store/writer.h"

namespace forge::store {

/// Everything that changes a review, within one operation of the writer: revisions are compared and grow in the transaction of the change.
/// The functions are those of ReviewStore, and promise what is said there.
class ReviewMoves {
 public:
  ReviewMoves(WriteScope& scope, const Redactor& redactor, const RunMoves& runs) : scope_(scope), redactor_(redactor), runs_(runs) {}

  bool open(const RunId& run, const ReviewBeginning& beginning);
  std::int64_t change(const RunId& run, std::optional<std::int64_t> revision, const ReviewChange& change);

  ReviewComment insert_comment(const RunId& run, ReviewComment comment);
  ReviewComment update_comment(const RunId& run, const ReviewComment& comment, const std::string& by);
  void delete_comment(const RunId& run, const CommentId& comment, const std::string& by);

  ApplyRow begin_apply(const RunId& run, std::int64_t revision, const std::string& key, const ApplyPlan& plan,
                       const AppliedReview& outcome);
  bool note_commit(std::int64_t id, const std::string& commit);
  bool finish_apply(std::int64_t id, const std::string& commit, bool pushed);
  bool fail_apply(std::int64_t id, const std::string& error);
  Run send_back(const RunId& run, std::int64_t revision, const std::string& key, const std::string& by, RunRow follow_up);
  void dismiss(const RunId& run, std::int64_t revision);

 private:
  /// Returns the new revision.
  std::int64_t bump(const RunId& run);
  void set_status(const RunId& run, ReviewStatus status);
  /// Throws conflict.
  void require_no_pending_apply(const RunId& run);
  void send_drafts(const RunId& run, const std::string& by);

  void set_mark(const RunId& run, const HunkMark& mark);
  void remove_mark(const RunId& run, const std::string& hunk);
  void set_accepted(const RunId& run, const ReviewChange::Suggestion& suggestion, const std::string& by);
  void set_viewed(const RunId& run, const std::string& principal, const ViewedMark& mark);
  void remove_viewed(const RunId& run, const std::string& principal, const std::string& path);
  /// With its id, and its texts cleaned.
  void write_comment(const RunId& run, ReviewComment& comment);
  /// Throws not_found, permission_denied.
  ReviewComment own_comment(const RunId& run, const CommentId& id, const std::string& by);
  std::optional<std::string> clean(const std::optional<std::string>& text) const;

  WriteScope& scope_;
  const Redactor& redactor_;
  const RunMoves& runs_;
};

/// Throws precondition_failed when somebody was first.
void require_revision(const ReviewHead& head, std::int64_t revision);
/// Throws conflict when the review was sent back or dismissed.
void require_open(const ReviewHead& head);

}  // namespace forge::store
