#include "orchestrator/jobs/carry_over.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>

#include "orchestrator/base/text.h"

namespace forge::jobs {
namespace {

/// Lines of the base that a hunk stands on; one that only adds stands on the line before it.
bool overlap(const HunkLines& a, const HunkLines& b) {
  return a.old_start < b.old_start + std::max(b.old_lines, 1) && b.old_start < a.old_start + std::max(a.old_lines, 1);
}

bool changes_same_lines(const Hunk& a, const Hunk& b) {
  return a.kind == b.kind && (a.kind == HunkKind::file || overlap(a.lines, b.lines));
}

struct Place {
  const FileDiff* file = nullptr;
  const Hunk* hunk = nullptr;
};

std::map<std::string_view, Place> places_of(const CanonicalDiff& diff) {
  std::map<std::string_view, Place> places;
  for (const FileDiff& file : diff.files)
    for (const Hunk& hunk : file.hunks) places.emplace(hunk.id, Place{&file, &hunk});
  return places;
}

/// By the old path: it is the base's, and stays when the agent chooses another new name.
std::map<std::string_view, const FileDiff*> files_of(const CanonicalDiff& diff) {
  std::map<std::string_view, const FileDiff*> files;
  for (const FileDiff& file : diff.files) files.emplace(file.old_path, &file);
  return files;
}

class Marks {
 public:
  Marks(const EarlierReview& earlier, const CanonicalDiff& diff)
      : earlier_(earlier), before_(places_of(earlier.diff)), now_(places_of(diff)), files_(files_of(diff)) {}

  std::vector<HunkMark> carried() {
    std::vector<HunkMark> marks;
    for (const HunkMark& mark : earlier_.row.marks)
      if (!mark.stale && now_.contains(mark.hunk_id)) add(marks, mark, mark.hunk_id, false);
    // What stays the same comes first: a stale mark never takes the place of one that counts.
    for (const HunkMark& mark : earlier_.row.marks)
      if (!mark.stale && !now_.contains(mark.hunk_id))
        for (const Hunk* hunk : successors(mark.hunk_id)) add(marks, mark, hunk->id, true);
    return marks;
  }

 private:
  void add(std::vector<HunkMark>& marks, const HunkMark& mark, const std::string& hunk, bool stale) {
    if (!marked_.insert(hunk).second) return;
    HunkMark carried = mark;
    carried.hunk_id = hunk;
    carried.stale = stale;
    if (carried.from_run == 0) carried.from_run = earlier_.run;
    marks.push_back(std::move(carried));
  }

  std::vector<const Hunk*> successors(const std::string& hunk_id) const {
    std::vector<const Hunk*> found;
    const auto before = before_.find(hunk_id);
    if (before == before_.end()) return found;
    const auto file = files_.find(before->second.file->old_path);
    if (file == files_.end()) return found;
    for (const Hunk& hunk : file->second->hunks)
      if (changes_same_lines(*before->second.hunk, hunk) && !before_.contains(hunk.id)) found.push_back(&hunk);
    return found;
  }

  const EarlierReview& earlier_;
  const std::map<std::string_view, Place> before_;
  const std::map<std::string_view, Place> now_;
  const std::map<std::string_view, const FileDiff*> files_;
  std::set<std::string> marked_;
};

ReviewComment carried_comment(const ReviewComment& comment, int run, const ReadSide& read) {
  ReviewComment carried = comment;
  carried.accepted = false;
  if (carried.from_run == 0) carried.from_run = run;
  const auto content = read(comment.side, comment.path);
  const auto line = content ? find_quote(*content, comment.quote, comment.start_line) : std::nullopt;
  carried.stale = !line;
  if (line) {
    carried.end_line += *line - carried.start_line;
    carried.start_line = *line;
  }
  return carried;
}

}  // namespace

store::ReviewBeginning carried_over(const EarlierReview& earlier, const CanonicalDiff& diff, const ReadSide& read) {
  store::ReviewBeginning beginning;
  beginning.marks = Marks(earlier, diff).carried();
  for (const ReviewComment& comment : earlier.row.comments) beginning.comments.push_back(carried_comment(comment, earlier.run, read));
  std::map<std::string_view, std::string> hashes;
  for (const FileDiff& file : diff.files) hashes.emplace(file.path(), content_hash(file));
  for (const auto& viewed : earlier.viewed) {
    const auto now = hashes.find(viewed.mark.path);
    if (now != hashes.end() && now->second == viewed.mark.content_hash) beginning.viewed.push_back(viewed);
  }
  return beginning;
}

std::optional<int> find_quote(const std::string& content, const std::string& quote, int line) {
  if (quote.empty()) return {};
  const std::vector<std::string_view> lines = split_lines(content);
  const std::vector<std::string_view> quoted = split_lines(quote);
  std::optional<int> nearest;
  for (std::size_t at = 0; at + quoted.size() <= lines.size(); ++at) {
    if (!std::equal(quoted.begin(), quoted.end(), lines.begin() + static_cast<std::ptrdiff_t>(at))) continue;
    const int here = static_cast<int>(at) + 1;
    if (!nearest || std::abs(here - line) < std::abs(*nearest - line)) nearest = here;
  }
  return nearest;
}

std::optional<std::string> lines_of(const std::string& content, int start, int end) {
  const std::vector<std::string_view> lines = split_lines(content);
  if (start < 1 || end < start || static_cast<std::size_t>(end) > lines.size()) return {};
  std::string text;
  for (int i = start; i <= end; ++i) text += (i == start ? "" : "\n") + std::string(lines[static_cast<std::size_t>(i) - 1]);
  return text;
}

}  // namespace forge::jobs
