#include "orchestrator/jobs/brief.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "orchestrator/base/numbers.h"
#include "orchestrator/base/text.h"
#include "orchestrator/git/hunk_patch.h"

namespace forge::jobs {
namespace {

/// Longer than any run of backquotes in the text, so that the text cannot end its block.
std::string fence_for(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(std::max<std::size_t>(longest + 1, 3), '`');
}

std::string block(std::string_view kind, std::string_view text) {
  const std::string fence = fence_for(text);
  return fmt::format("{}{}\n{}{}{}\n", fence, kind, text, text.ends_with('\n') ? "" : "\n", fence);
}

/// As it is, unless it could be taken for more than a name: an agent chose it. Then as git quotes it.
std::string shown_path(const std::string& path) {
  const bool plain = is_utf8(path) && harmless(path) == path && path.find_first_of("\n\t") == std::string::npos;
  return plain ? path : git::quoted_path(path);
}

std::string place_of(const FileDiff& file, const Hunk& hunk) {
  const std::string path = shown_path(file.path());
  if (hunk.kind == HunkKind::text)
    return fmt::format("{}, lines {}-{}", path, hunk.lines.new_start, hunk.lines.new_start + std::max(hunk.lines.new_lines, 1) - 1);
  const bool moved = file.change == FileChange::renamed;
  return fmt::format("{} ({}{})", path, name_of(file.change), moved ? " from " + shown_path(file.old_path) : "");
}

std::string shown_body(const Hunk& hunk) {
  if (hunk.kind == HunkKind::file) return {};
  const std::string text = to_utf8(hunk.body).text;
  if (text.size() <= kBriefHunkBytes) return block("diff", text);
  return block("diff", cut_middle(text, kBriefHunkBytes, text.size(), 50).head) + "(the rest of this change is left out here)\n";
}

std::string rejected(const CanonicalDiff& diff, const std::vector<HunkMark>& marks) {
  std::map<std::string_view, const HunkMark*> by_hunk;
  for (const HunkMark& mark : marks)
    if (mark.verdict == HunkVerdict::reject && !mark.stale) by_hunk.emplace(mark.hunk_id, &mark);
  std::string text;
  for (const FileDiff& file : diff.files)
    for (const Hunk& hunk : file.hunks) {
      const auto mark = by_hunk.find(hunk.id);
      if (mark == by_hunk.end()) continue;
      const std::string& reason = mark->second->reason;
      text += "\n### " + place_of(file, hunk) + "\n" + (trim(reason).empty() ? "" : "Reason: " + reason + "\n") + shown_body(hunk);
    }
  return text.empty() ? text
                      : "\n## Rejected changes\nThese parts of the result were rejected. Undo them or do them in another way.\n" + text;
}

std::string remarks(const std::vector<ReviewComment>& comments) {
  std::string text;
  for (const ReviewComment& comment : comments) {
    if (comment.stale) continue;
    const std::string lines = comment.start_line == comment.end_line ? fmt::format("line {}", comment.start_line)
                                                                     : fmt::format("lines {}-{}", comment.start_line, comment.end_line);
    text += fmt::format("\n### {}, {}{}\n", shown_path(comment.path), lines, comment.side == DiffSide::base ? " of the original" : "");
    if (!comment.quote.empty()) text += block("", comment.quote);
    text += comment.body + "\n";
    if (comment.suggestion) text += "Suggested instead:\n" + block("", *comment.suggestion);
  }
  return text.empty() ? text : "\n## Comments\n" + text;
}

}  // namespace

std::string brief_of(const std::string& note, const std::string& summary, const CanonicalDiff& diff, const std::vector<HunkMark>& marks,
                     const std::vector<ReviewComment>& comments) {
  std::string said;
  for (const std::string* part : {&note, &summary})
    if (!trim(*part).empty()) said += (said.empty() ? "" : "\n\n") + *part;
  if (!said.empty()) said += "\n";
  said += rejected(diff, marks) + remarks(comments);
  if (said.empty()) return said;
  std::string brief = "Your result was reviewed and sent back.\n\n" + said;
  if (brief.size() <= kBriefBytes) return brief;
  return cut_middle(brief, kBriefBytes, brief.size(), 100).head + "\n(the review is longer than " + human_bytes(kBriefBytes) +
         " and cut here)\n";
}

}  // namespace forge::jobs
