#include "orchestrator/cli/review_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "orchestrator/base/numbers.h"
#include "orchestrator/base/text.h"
#include "orchestrator/cli/summary.h"

namespace forge::cli {
namespace {

constexpr std::size_t kShownIdDigits = 8;
constexpr std::size_t kShownChanges = 10;
constexpr std::size_t kPathColumns = 200;
constexpr std::size_t kReasonColumns = 300;

std::string shown_path(const std::string& path) { return one_line(path, kPathColumns); }

std::string status_in_colour(ReviewStatus status, const Paint& paint) {
  const std::string_view name = name_of(status);
  if (status == ReviewStatus::applied) return paint.green(name);
  return status == ReviewStatus::waiting ? paint.yellow(name) : paint.cyan(name);
}

/// Each line of a text of people, set in.
std::string paragraph(std::string_view text, std::string_view margin) {
  std::string shown;
  for (const auto line : split_lines(trim(text))) shown += fmt::format("{}{}\n", margin, harmless(line));
  return shown;
}

std::string file_line(const ReviewedFile& file, const Paint& paint) {
  const bool renamed = file.old_path != file.path;
  std::string line = renamed ? shown_path(file.old_path) + " > " + paint.bold(shown_path(file.path)) : paint.bold(shown_path(file.path));
  line += fmt::format("  {}", name_of(file.change));
  if (file.insertions != 0 || file.deletions != 0)
    line += fmt::format(", {} {}", paint.green("+" + grouped_digits(file.insertions)), paint.red("-" + grouped_digits(file.deletions)));
  return line + (file.viewed ? ", viewed\n" : "\n");
}

/// What a hunk is about: its lines, or what changed of the file as a whole.
std::string hunk_place(const ReviewedFile& file, const ReviewedHunk& hunk) {
  const HunkLines& lines = hunk.lines;
  if (hunk.kind == HunkKind::text)
    return fmt::format("@@ -{},{} +{},{} @@", lines.old_start, lines.old_lines, lines.new_start, lines.new_lines);
  if (file.change == FileChange::added) return fmt::format("new file, mode {}", file.new_mode);
  if (file.change == FileChange::deleted) return "the file is gone";
  std::string place = file.change == FileChange::renamed ? "name" : file.change == FileChange::retyped ? "type" : "";
  if (file.old_mode != file.new_mode) place += fmt::format("{}mode {} > {}", place.empty() ? "" : ", ", file.old_mode, file.new_mode);
  if (file.binary) place += place.empty() ? "binary content" : ", binary content";
  return place.empty() ? "the file as a whole" : place;
}

std::string mark_text(const std::optional<HunkMark>& mark, const Paint& paint) {
  if (!mark) return paint.dim("undecided");
  const bool accepted = mark->verdict == HunkVerdict::accept;
  const std::string reason = mark->reason.empty() ? "" : ": " + one_line(mark->reason, kReasonColumns);
  const std::string by = one_line(mark->by, 60);
  if (mark->stale)
    return paint.dim("undecided") + fmt::format("; {} {} it before it changed{}", by, accepted ? "accepted" : "rejected", reason);
  const std::string verdict = accepted ? paint.green("accepted") : paint.red("rejected");
  return fmt::format("{} by {}{}{}", verdict, by, mark->from_run != 0 ? fmt::format(" in run {}", mark->from_run) : "", reason);
}

std::string body_text(const DiffLines& lines, const Paint& paint) {
  std::string text;
  for (const std::string_view line : lines) {
    const std::string clean = harmless(line);
    text += "        ";
    text += line.starts_with('+')    ? paint.green(clean)
            : line.starts_with('-')  ? paint.red(clean)
            : line.starts_with("@@") ? paint.cyan(clean)
                                     : clean;
    text += '\n';
  }
  return text;
}

std::string comment_place(const ReviewComment& comment) {
  std::string place = fmt::format("{}:{}", shown_path(comment.path), comment.start_line);
  if (comment.end_line != comment.start_line) place += fmt::format("-{}", comment.end_line);
  return comment.side == DiffSide::base ? place + " (base)" : place;
}

std::string comment_text(const ReviewComment& comment, const Paint& paint) {
  std::string text = fmt::format("{} on {}", paint.bold(one_line(comment.author, 60)), comment_place(comment));
  if (comment.from_run != 0) text += fmt::format(", in run {}", comment.from_run);
  if (comment.draft) text += ", " + paint.yellow("a draft");
  if (comment.stale) text += ", " + paint.dim("these lines are gone");
  text += "\n" + paragraph(comment.body, "    ");
  if (!comment.suggestion) return text;
  text += fmt::format("    suggests{}:\n", comment.accepted ? ", accepted" : "");
  for (const auto line : split_lines(*comment.suggestion)) text += fmt::format("    | {}\n", harmless(line));
  return text;
}

std::string applied_text(const AppliedReview& applied) {
  return fmt::format("applied by {}: commit {} on {}{}\n", one_line(applied.by, 60), applied.commit.substr(0, 10), applied.branch,
                     applied.pushed ? ", pushed" : "");
}

/// Who decided what about one hunk; empty for nothing that counts.
std::string decision(const ReviewedHunk& hunk) {
  const auto verdict = verdict_of(hunk);
  if (!verdict) return "";
  return fmt::format("{} by {}", *verdict == HunkVerdict::accept ? "accepted" : "rejected", one_line(hunk.mark->by, 60));
}

void add_hunk_changes(const Review& before, const Review& after, std::vector<std::string>& changes) {
  std::map<std::string, std::string> earlier;
  for (const ReviewedFile& file : before.files)
    for (const ReviewedHunk& hunk : file.hunks) earlier[hunk.id] = decision(hunk);
  std::size_t number = 0;
  for (const ReviewedFile& file : after.files)
    for (const ReviewedHunk& hunk : file.hunks) {
      ++number;
      const std::string now = decision(hunk);
      if (now == earlier[hunk.id]) continue;
      changes.push_back(fmt::format("hunk {} ({}) is {}", number, shown_path(file.path), now.empty() ? "undecided again" : now));
    }
}

void add_comment_changes(const Review& before, const Review& after, std::vector<std::string>& changes) {
  std::map<CommentId, const ReviewComment*> earlier;
  for (const ReviewComment& comment : before.comments) earlier[comment.id] = &comment;
  for (const ReviewComment& comment : after.comments) {
    const auto found = earlier.find(comment.id);
    const std::string who = one_line(comment.author, 60);
    if (found == earlier.end()) {
      changes.push_back(fmt::format("{} commented on {}", who, comment_place(comment)));
      continue;
    }
    const bool same = found->second->updated_ms == comment.updated_ms && found->second->accepted == comment.accepted;
    if (!same) changes.push_back(fmt::format("the comment of {} on {} changed", who, comment_place(comment)));
    earlier.erase(found);
  }
  for (const auto& [id, comment] : earlier)
    changes.push_back(fmt::format("the comment of {} on {} is gone", one_line(comment->author, 60), comment_place(*comment)));
}

}  // namespace

std::string counts_text(const ReviewCounts& counts) {
  std::string text = fmt::format("{} accepted, {} rejected, {} undecided", grouped_digits(counts.accepted), grouped_digits(counts.rejected),
                                 grouped_digits(counts.undecided));
  if (counts.stale != 0)
    text += fmt::format(" ({} {} decided before {} changed)", grouped_digits(counts.stale), counts.stale == 1 ? "was" : "were",
                        counts.stale == 1 ? "it" : "they");
  return text;
}

std::string review_text(const Review& review, const std::vector<DiffLines>* bodies, const Paint& paint) {
  std::string text = fmt::format("{} run {}: {}, revision {}\n", paint.bold("review of job " + short_id(review.job)), review.run,
                                 status_in_colour(review.status, paint), review.revision);
  text += paragraph(review.summary, "  ");
  std::size_t number = 0;
  for (const ReviewedFile& file : review.files) {
    text += "\n" + file_line(file, paint);
    for (const ReviewedHunk& hunk : file.hunks) {
      ++number;
      text += fmt::format("{:>4}  {}  {} {}\n", number, paint.dim(hunk.id.substr(0, kShownIdDigits)), padded(hunk_place(file, hunk), 24),
                          mark_text(hunk.mark, paint));
      if (bodies != nullptr) text += body_text(bodies->at(number - 1), paint);
    }
  }
  text += "\n" + counts_text(count_hunks(review)) + "\n";
  for (const ReviewComment& comment : review.comments) text += "\n" + comment_text(comment, paint);
  return review.applied ? text + "\n" + applied_text(*review.applied) : text;
}

std::vector<std::string> review_changes(const Review& before, const Review& after) {
  std::vector<std::string> changes;
  if (before.status != after.status) changes.push_back(fmt::format("it is {} now", name_of(after.status)));
  if (before.summary != after.summary) changes.emplace_back("its summary changed");
  add_hunk_changes(before, after, changes);
  add_comment_changes(before, after, changes);
  if (changes.size() <= kShownChanges) return changes;
  const std::size_t more = changes.size() - kShownChanges;
  changes.resize(kShownChanges);
  changes.push_back(fmt::format("and {}", counted(more, "more change")));
  return changes;
}

}  // namespace forge::cli
