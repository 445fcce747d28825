#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/stop.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/domain/principal.h"
#include "orchestrator/domain/review.h"

namespace forge {

/// A hunk and what was said about it.
struct ReviewedHunk {
  std::string id;
  HunkKind kind = HunkKind::text;
  HunkLines lines;
  std::optional<HunkMark> mark;  ///< nothing, or stale: undecided
};
struct ReviewedFile {
  std::string path;
  std::string old_path;
  FileChange change = FileChange::modified;
  std::string old_mode;
  std::string new_mode;
  bool binary = false;
  std::int64_t insertions = 0;
  std::int64_t deletions = 0;
  std::string content_hash;
  bool viewed = false;  ///< by who asks, and unchanged since
  std::vector<ReviewedHunk> hunks;
};

/// The review of one run as one principal sees it: verdicts and comments are shared, drafts and viewed marks are their own.
struct Review {
  JobId job;
  int run = 0;
  std::int64_t revision = 0;  ///< grows with every change that others can see
  ReviewStatus status = ReviewStatus::none;
  std::string summary;  ///< the reviewers' words about the whole
  std::vector<ReviewedFile> files;
  std::vector<ReviewComment> comments;
  std::optional<AppliedReview> applied;  ///< the last time
};

/// What one PATCH changes. Hunks that are not named stay as they are.
struct ReviewEdit {
  struct Mark {
    std::string hunk_id;
    std::optional<HunkVerdict> verdict;  ///< nothing takes it back
    std::string reason;
  };
  struct Viewed {
    std::string path;
    bool viewed = true;
  };
  struct Suggestion {
    CommentId comment;
    bool accepted = true;
  };
  std::optional<std::string> summary;
  std::vector<Mark> marks;
  std::vector<Suggestion> suggestions;
  std::vector<Viewed> viewed;  ///< alone: needs no revision and makes none
  bool send_drafts = false;    ///< those of who asks
};

struct NewComment {
  std::string path;
  DiffSide side = DiffSide::head;
  int start_line = 1;
  int end_line = 1;
  std::string quote;  ///< must be what stands there; empty: it is filled in
  std::string body;
  std::optional<std::string> suggestion;
  bool draft = false;
};
struct CommentEdit {
  std::optional<std::string> body;
  std::optional<std::optional<std::string>> suggestion;  ///< the inner nothing takes it away
  std::optional<bool> draft;                             ///< only to false: it is sent
};

struct ApplyRequest {
  std::int64_t revision = 0;
  std::string message;  ///< subject and body; empty: the run's own
  bool push = true;
  bool confirm_undecided = false;  ///< undecided hunks are left out; there being any must be confirmed
  std::string key;                 ///< of the request; one key acts once, also across a restart; empty = none
};
struct SendBackRequest {
  std::int64_t revision = 0;
  std::string note;
  std::string key;
};

/// One side of one changed or unchanged file of a run.
struct FileView {
  std::string path;
  std::string blob;  ///< 40 hex digits
  std::string mode;
  std::string content;
};
inline constexpr std::size_t kFileViewBytes = 5 << 20;

/// What changed from the result of one run to that of another.
struct Interdiff {
  int run = 0;
  int since_run = 0;
  DiffStat stat;
  std::string text;                        ///< unified, from the one tree to the other
  std::vector<std::string> changed_hunks;  ///< ids of the later run's hunks that the earlier run's diff does not have
  std::vector<std::string> gone_hunks;     ///< the reverse
};

/// Which hunks go into a patch.
enum class PatchPart { all, accepted };

/// What doors may do with reviews. Implemented by jobs. Safe to call from any thread. `job` is a whole id or a unique prefix, `run` 0 the
/// latest. Errors: not_found; conflict for a run that has not ended or left no changes; precondition_failed for an old revision; and those
/// named.
class ReviewControl {
 public:
  virtual ~ReviewControl() = default;
  virtual Review review(const Principal& who, const std::string& job, int run, const Stop& stop) = 0;
  /// Throws bad_input for an unknown hunk, comment or file, and for nothing to do; conflict when
  /// the review was sent back or dismissed. All or nothing.
  virtual Review edit(const Principal& who, const std::string& job, int run, std::optional<std::int64_t> revision, const ReviewEdit& edit,
                      const Stop& stop) = 0;
  /// Throws bad_input for a file or lines that the run does not have, and for a quote that is not there.
  virtual ReviewComment add_comment(const Principal& who, const std::string& job, int run, const NewComment& comment, const Stop& stop) = 0;
  /// By its author only: permission_denied otherwise.
  virtual ReviewComment edit_comment(const Principal& who, const std::string& job, int run, const CommentId& comment,
                                     const CommentEdit& edit) = 0;
  virtual void delete_comment(const Principal& who, const std::string& job, int run, const CommentId& comment) = 0;
  /// One commit on the recorded base with the accepted hunks and suggestions. Throws conflict for undecided hunks that were not confirmed,
  /// for nothing accepted, and for hunks that cannot stand without one that is not accepted (named).
  virtual AppliedReview apply(const Principal& who, const std::string& job, int run, const ApplyRequest& request, const Stop& stop) = 0;
  /// A follow-up run that is told the note, the comments, and the rejected hunks with their reasons. Sends the drafts of who asks.
  virtual Run send_back(const Principal& who, const std::string& job, int run, const SendBackRequest& request, const Stop& stop) = 0;
  virtual Review dismiss(const Principal& who, const std::string& job, int run, std::int64_t revision, const Stop& stop) = 0;

  /// Throws limit_exceeded past kFileViewBytes.
  virtual FileView file(const std::string& job, int run, DiffSide side, const std::string& path, const Stop& stop) = 0;
  virtual Interdiff interdiff(const std::string& job, int run, int since_run, const Stop& stop) = 0;
  /// A unified diff on the recorded base that git apply takes.
  virtual std::string patch(const std::string& job, int run, PatchPart part, const Stop& stop) = 0;

  /// Told after each change of a review that others can see. Called from the thread that made it: hand it on, do not work in it.
  using Listener = std::function<void(const JobId& job, int run, std::int64_t revision, ReviewStatus status)>;
  /// The listener lives until the returned handle dies.
  virtual std::shared_ptr<void> subscribe(Listener listener) = 0;
};

}  // namespace forge
