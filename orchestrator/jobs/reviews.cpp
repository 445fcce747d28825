#include "orchestrator/jobs/reviews.h"

#include <set>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/domain/job_control.h"
#include "orchestrator/domain/review_checks.h"
#include "orchestrator/domain/words.h"
#include "orchestrator/jobs/brief.h"
#include "orchestrator/jobs/review_edit.h"

namespace forge::jobs {
namespace {

constexpr std::int64_t kInterdiffBytes = 64LL << 20;

std::set<std::string> hunk_ids(const CanonicalDiff& diff) {
  std::set<std::string> ids;
  for (const FileDiff& file : diff.files)
    for (const Hunk& hunk : file.hunks) ids.insert(hunk.id);
  return ids;
}

/// In the order of `diff`.
std::vector<std::string> hunks_without(const CanonicalDiff& diff, const std::set<std::string>& others) {
  std::vector<std::string> ids;
  for (const FileDiff& file : diff.files)
    for (const Hunk& hunk : file.hunks)
      if (!others.contains(hunk.id)) ids.push_back(hunk.id);
  return ids;
}

/// Another's draft is not there. A run without a review has no comments.
ReviewComment comment_in(const std::optional<store::ReviewRow>& row, const CommentId& id, const Principal& who) {
  if (row)
    for (const ReviewComment& comment : row->comments)
      if (comment.id == id && (!comment.draft || comment.author == who.name)) return comment;
  throw public_failure(ErrorCode::not_found, "the review has no such comment");
}

}  // namespace

Reviews::Reviews(ReviewParts parts)
    : parts_(std::move(parts)), source_(parts_.store, parts_.git), applies_(parts_.store, parts_.git, parts_.clock, parts_.log) {}

Review Reviews::shown(const Principal& who, const ReviewedRun& reviewed, const Stop& stop) {
  const store::ReviewRow row = source_.open(reviewed, stop);
  return shown_review(who, reviewed, row, parts_.store.viewed(reviewed.run.id, who.name));
}

Review Reviews::review(const Principal& who, const std::string& job, int run, const Stop& stop) {
  return shown(who, source_.find(job, run, stop), stop);
}

Review Reviews::edit(const Principal& who, const std::string& job, int run, std::optional<std::int64_t> revision, const ReviewEdit& edit,
                     const Stop& stop) {
  const ReviewedRun reviewed = source_.find(job, run, stop);
  const store::ReviewChange change = change_of(edit, reviewed, who);
  source_.open(reviewed, stop);
  parts_.store.change_review(reviewed.run.id, revision, change);
  if (is_shared(edit)) tell(reviewed.job.id, reviewed.run.number);
  return shown(who, reviewed, stop);
}

ReviewComment Reviews::add_comment(const Principal& who, const std::string& job, int run, const NewComment& comment, const Stop& stop) {
  const ReviewedRun reviewed = source_.find(job, run, stop);
  const std::string content = source_.text(reviewed, comment.side, comment.path, stop);
  const ReviewComment wanted = comment_of(comment, content, who);
  source_.open(reviewed, stop);
  ReviewComment stored = parts_.store.insert_comment(reviewed.run.id, wanted);
  if (!stored.draft) tell(reviewed.job.id, reviewed.run.number);
  return stored;
}

ReviewComment Reviews::edit_comment(const Principal& who, const std::string& job, int run, const CommentId& id, const CommentEdit& edit) {
  const auto [of_job, of_run] = source_.ended_run(job, run);
  const ReviewComment comment = edited(comment_in(parts_.store.review(of_run.id), id, who), edit);
  ReviewComment stored = parts_.store.update_comment(of_run.id, comment, who.name);
  if (!stored.draft) tell(of_job.id, of_run.number);
  return stored;
}

void Reviews::delete_comment(const Principal& who, const std::string& job, int run, const CommentId& id) {
  const auto [of_job, of_run] = source_.ended_run(job, run);
  const bool was_draft = comment_in(parts_.store.review(of_run.id), id, who).draft;
  parts_.store.delete_comment(of_run.id, id, who.name);
  if (!was_draft) tell(of_job.id, of_run.number);
}

AppliedReview Reviews::apply(const Principal& who, const std::string& job, int run, const ApplyRequest& request, const Stop& stop) {
  const ReviewedRun reviewed = source_.find(job, run, stop);
  settle(reviewed, stop);
  AppliedReview applied = applies_.apply(who, reviewed, source_.open(reviewed, stop), request, stop);
  tell(reviewed.job.id, reviewed.run.number);
  return applied;
}

void Reviews::inherit(std::vector<store::ApplyRow> pending) { applies_.inherit(std::move(pending)); }

void Reviews::complete_left(const Stop& stop) {
  while (const auto left = applies_.take_left({}))
    if (applies_.complete_left(*left, stop)) tell(left->job, left->run_number);
}

void Reviews::settle(const ReviewedRun& reviewed, const Stop& stop) {
  const auto left = applies_.take_left(reviewed.run.id);
  if (left && applies_.complete_left(*left, stop)) tell(left->job, left->run_number);
}

Run Reviews::send_back(const Principal& who, const std::string& job, int run, const SendBackRequest& request, const Stop& stop) {
  check_words("note", request.note, kNoteBytes);
  // First of all: when it is sent again, "the latest run" is already the one that it made.
  if (auto made = parts_.store.find_sent_back(parts_.store.job(job).id, request.key)) return std::move(*made);
  const ReviewedRun reviewed = source_.find(job, run, stop);
  settle(reviewed, stop);
  const store::ReviewRow row = source_.open(reviewed, stop);
  std::vector<ReviewComment> comments = row.comments;
  std::erase_if(comments, [&](const ReviewComment& comment) { return comment.draft && comment.author != who.name; });
  const std::string brief = brief_of(request.note, row.summary, *reviewed.diff, row.marks, comments);
  if (brief.empty())
    throw public_failure(ErrorCode::conflict, "the review says nothing").with_hint("reject a change, comment, or give a note");
  parts_.check_open();
  Run next = parts_.store.send_back(reviewed.run.id, request.revision, request.key, who.name,
                                    {.kind = RunKind::follow_up, .from_run = reviewed.run.number, .note = request.note, .brief = brief});
  parts_.run_added();
  tell(reviewed.job.id, reviewed.run.number);
  return next;
}

Review Reviews::dismiss(const Principal& who, const std::string& job, int run, std::int64_t revision, const Stop& stop) {
  const ReviewedRun reviewed = source_.find(job, run, stop);
  settle(reviewed, stop);
  source_.open(reviewed, stop);
  parts_.store.dismiss_review(reviewed.run.id, revision);
  tell(reviewed.job.id, reviewed.run.number);
  return review(who, reviewed.job.id.str(), reviewed.run.number, stop);
}

FileView Reviews::file(const std::string& job, int run, DiffSide side, const std::string& path, const Stop& stop) {
  const auto [of_job, of_run] = source_.ended_run(job, run);
  auto found = parts_.git.file(of_job.spec.repository, commit_of(of_run, side), path, kFileViewBytes, stop);
  return {.path = path, .blob = std::move(found.blob), .mode = std::move(found.mode), .content = std::move(found.content)};
}

Interdiff Reviews::interdiff(const std::string& job, int run, int since_run, const Stop& stop) {
  const ReviewedRun later = source_.find(job, run, stop);
  const ReviewedRun earlier = source_.find(later.job.id.str(), since_run, stop);
  auto diff = parts_.git.text_diff(later.job.spec.repository, earlier.run.head_commit, later.run.head_commit, kInterdiffBytes, stop);
  return {.run = later.run.number,
          .since_run = earlier.run.number,
          .stat = diff.stat,
          .text = std::move(diff.text),
          .changed_hunks = hunks_without(*later.diff, hunk_ids(*earlier.diff)),
          .gone_hunks = hunks_without(*earlier.diff, hunk_ids(*later.diff))};
}

std::string Reviews::patch(const std::string& job, int run, PatchPart part, const Stop& stop) {
  const ReviewedRun reviewed = source_.find(job, run, stop);
  std::optional<std::vector<std::string>> kept;
  if (part == PatchPart::accepted) {
    kept.emplace();
    for (const HunkMark& mark : source_.open(reviewed, stop).marks)
      if (!mark.stale && mark.verdict == HunkVerdict::accept) kept->push_back(mark.hunk_id);
  }
  return parts_.git.patch(reviewed.job.spec.repository, reviewed.run.base_commit, reviewed.run.head_commit, kept, stop);
}

std::shared_ptr<void> Reviews::subscribe(Listener listener) { return listeners_.add(std::move(listener)); }

void Reviews::tell(const JobId& job, int number) {
  const auto run = parts_.store.run(job, number);
  const auto row = run ? parts_.store.review(run->id) : std::nullopt;
  if (row) listeners_.tell(job, number, row->revision, row->status);
}

}  // namespace forge::jobs
