#include "orchestrator/jobs/review_edit.h"

#include <map>
#include <set>
#include <string_view>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/domain/review_checks.h"
#include "orchestrator/domain/words.h"
#include "orchestrator/jobs/carry_over.h"

namespace forge::jobs {
namespace {

std::string item(const char* list, std::size_t index, const char* key) {
  return std::string(list) + "[" + std::to_string(index) + "]." + key;
}

void add_marks(const ReviewEdit& edit, const CanonicalDiff& diff, store::ReviewChange& change) {
  if (edit.marks.size() > kMarksPerEdit) throw bad_input("verdicts", "more than " + std::to_string(kMarksPerEdit));
  std::set<std::string_view> known;
  for (const FileDiff& file : diff.files)
    for (const Hunk& hunk : file.hunks) known.insert(hunk.id);
  std::set<std::string_view> named;
  for (std::size_t i = 0; i < edit.marks.size(); ++i) {
    const ReviewEdit::Mark& mark = edit.marks[i];
    if (!known.contains(mark.hunk_id)) throw bad_input(item("verdicts", i, "hunk_id"), "the diff of this run has no such hunk");
    if (!named.insert(mark.hunk_id).second) throw bad_input(item("verdicts", i, "hunk_id"), "is named twice");
    check_words(item("verdicts", i, "reason"), mark.reason, kReasonBytes);
    if (mark.verdict) {
      change.marks.push_back({.hunk_id = mark.hunk_id, .verdict = *mark.verdict, .reason = mark.reason});
    } else {
      change.unmarked.push_back(mark.hunk_id);
    }
  }
}

void add_viewed(const ReviewEdit& edit, const CanonicalDiff& diff, store::ReviewChange& change) {
  std::map<std::string_view, const FileDiff*> files;
  if (!edit.viewed.empty())
    for (const FileDiff& file : diff.files) files.emplace(file.path(), &file);
  for (std::size_t i = 0; i < edit.viewed.size(); ++i) {
    const auto& [path, viewed] = edit.viewed[i];
    const auto file = files.find(path);
    if (file == files.end()) throw bad_input(item("viewed", i, "path"), "the diff of this run has no such file");
    if (viewed) {
      change.viewed.push_back({path, content_hash(*file->second)});
    } else {
      change.not_viewed.push_back(path);
    }
  }
}

using MarksByHunk = std::map<std::string_view, const HunkMark*>;

/// Without who has viewed it.
ReviewedFile shown_file(const FileDiff& file, const MarksByHunk& marks) {
  ReviewedFile shown{.path = file.path(),
                     .old_path = file.old_path,
                     .change = file.change,
                     .old_mode = file.old_mode,
                     .new_mode = file.new_mode,
                     .binary = file.binary,
                     .insertions = file.insertions,
                     .deletions = file.deletions,
                     .content_hash = content_hash(file),
                     .viewed = false,
                     .hunks = {}};
  for (const Hunk& hunk : file.hunks) {
    const auto mark = marks.find(hunk.id);
    shown.hunks.push_back({hunk.id, hunk.kind, hunk.lines, mark == marks.end() ? std::nullopt : std::optional(*mark->second)});
  }
  return shown;
}

}  // namespace

Review shown_review(const Principal& who, const ReviewedRun& reviewed, const store::ReviewRow& row, const std::vector<ViewedMark>& viewed) {
  Review review{.job = reviewed.job.id,
                .run = reviewed.run.number,
                .revision = row.revision,
                .status = row.status,
                .summary = row.summary,
                .files = {},
                .comments = {},
                .applied = row.applied};
  MarksByHunk marks;
  for (const HunkMark& mark : row.marks) marks.emplace(mark.hunk_id, &mark);
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const ViewedMark& mark : viewed) seen.emplace(mark.path, mark.content_hash);
  review.files.reserve(reviewed.diff->files.size());
  for (const FileDiff& file : reviewed.diff->files) {
    ReviewedFile shown = shown_file(file, marks);
    shown.viewed = seen.contains({shown.path, shown.content_hash});
    review.files.push_back(std::move(shown));
  }
  for (const ReviewComment& comment : row.comments)
    if (!comment.draft || comment.author == who.name) review.comments.push_back(comment);
  return review;
}

store::ReviewChange change_of(const ReviewEdit& edit, const ReviewedRun& reviewed, const Principal& who) {
  if (!is_shared(edit) && edit.viewed.empty())
    throw bad_input("", "the edit says nothing", "give one of summary, verdicts, suggestions, viewed and send_drafts");
  store::ReviewChange change;
  change.by = who.name;
  if (edit.summary) check_words("summary", *edit.summary, kReviewSummaryBytes);
  change.summary = edit.summary;
  add_marks(edit, *reviewed.diff, change);
  for (const auto& [comment, accepted] : edit.suggestions) change.suggestions.push_back({comment, accepted});
  add_viewed(edit, *reviewed.diff, change);
  change.send_drafts = edit.send_drafts;
  return change;
}

ReviewComment comment_of(const NewComment& comment, const std::string& content, const Principal& who) {
  check_comment(comment);
  const auto quote = lines_of(content, comment.start_line, comment.end_line);
  if (!quote)
    throw bad_input(comment.end_line < comment.start_line ? "end_line" : "start_line",
                    "the file has no lines " + std::to_string(comment.start_line) + " to " + std::to_string(comment.end_line),
                    "1 to " + std::to_string(split_lines(content).size()));
  if (!comment.quote.empty() && comment.quote != *quote && comment.quote != *quote + "\n")
    throw bad_input("quote", "is not what stands on these lines", "leave it out, and it is filled in");
  ReviewComment stored;
  stored.author = who.name;
  stored.path = comment.path;
  stored.side = comment.side;
  stored.start_line = comment.start_line;
  stored.end_line = comment.end_line;
  stored.quote = *quote;
  stored.body = comment.body;
  stored.suggestion = comment.suggestion;
  stored.draft = comment.draft;
  return stored;
}

ReviewComment edited(ReviewComment comment, const CommentEdit& edit) {
  if (edit.body) comment.body = *edit.body;
  if (edit.suggestion) comment.suggestion = *edit.suggestion;
  if (edit.draft.value_or(false) && !comment.draft) throw bad_input("draft", "a comment that was sent stays sent");
  if (edit.draft) comment.draft = *edit.draft;
  check_comment({.path = comment.path, .side = comment.side, .body = comment.body, .suggestion = comment.suggestion});
  return comment;
}

}  // namespace forge::jobs
