#include "tools/text_edit.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/nearest_lines.h"
#include "tools/occurrences.h"
#include "tools/workspace_file.h"

namespace forge::tools {
namespace {

constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";
constexpr std::size_t kMaxListedMatches = 10;

/// Models copy the mark along when they saw it; it is never part of the text.
std::string_view without_mark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

/// A text with every CRLF as LF, which remembers where they were.
class LfView {
 public:
  explicit LfView(std::string_view original) {
    text_.reserve(original.size());
    for (std::size_t i = 0; i < original.size(); ++i) {
      const bool crlf = original[i] == '\r' && i + 1 < original.size() && original[i + 1] == '\n';
      if (crlf) crlf_at_.push_back(text_.size());
      if (!crlf) text_ += original[i];
    }
  }

  const std::string& text() const { return text_; }
  /// Where the character at `at` of text() begins in the original: a CRLF begins at its CR.
  std::size_t original_offset(std::size_t at) const { return at + count_before(at); }
  std::size_t line_of(std::size_t at) const {
    return 1 + static_cast<std::size_t>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  }
  /// The end that the line at `at` has; for a last line without one, that of the line before; LF when there is none at all.
  std::string_view line_end(std::size_t at) const {
    std::size_t newline = text_.find('\n', at);
    if (newline == std::string::npos) newline = text_.rfind('\n', at);
    if (newline == std::string::npos) return "\n";
    return std::binary_search(crlf_at_.begin(), crlf_at_.end(), newline) ? "\r\n" : "\n";
  }

 private:
  std::size_t count_before(std::size_t at) const {
    return static_cast<std::size_t>(std::lower_bound(crlf_at_.begin(), crlf_at_.end(), at) - crlf_at_.begin());
  }

  std::string text_;
  std::vector<std::size_t> crlf_at_;  // positions in text_ of each LF that was CRLF, ascending
};

/// `text` with each LF as `line_end`.
std::string with_line_end(std::string_view text, std::string_view line_end) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += line_end;
    } else {
      result += c;
    }
  }
  return result;
}

/// One edit at its place: [begin, end) of the view gives way to `text`.
struct Replacement {
  std::size_t edit = 0;         // its number in the call
  std::size_t match_begin = 0;  // the whole old_text, for overlaps
  std::size_t match_end = 0;
  std::size_t begin = 0;  // without what old and new share at both ends
  std::size_t end = 0;
  std::string text;  // LF
};

// What went wrong, for the model: with line numbers, since it decides by them what to read next.

std::string several_matches(const LfView& view, const std::vector<std::size_t>& found) {
  std::vector<std::size_t> lines;
  for (std::size_t i = 0; i < std::min(found.size(), kMaxListedMatches); ++i) lines.push_back(view.line_of(found[i]));
  return fmt::format("old_text stands in the file {} times, at lines {}{}. Add lines around it until it is unique.", found.size(),
                     fmt::join(lines, ", "), found.size() > kMaxListedMatches ? " ..." : "");
}

std::string no_match(const LfView& view, const std::string& wanted, const Stop& stop) {
  std::string text = "old_text is not in the file. " + describe_nearest(view.text(), wanted, stop);
  if (wanted.find(kReplacementCharacter) != std::string::npos)
    text += " U+FFFD in old_text stands for bytes that are not UTF-8: choose text without it.";
  return text;
}

/// Finds the one place of `edit`, or says in `problem` why there is none.
Replacement place(const LfView& view, const Edit& edit, std::string& problem, const Stop& stop) {
  const std::string old_text = LfView(without_mark(edit.old_text)).text();
  const std::string new_text = LfView(without_mark(edit.new_text)).text();
  Replacement replacement;
  if (old_text.empty()) {
    problem = "old_text is empty. To make a file use write_file.";
  } else if (old_text == new_text) {
    problem = "old_text and new_text are the same: nothing would change.";
  }
  if (!problem.empty()) return replacement;
  const std::vector<std::size_t> found = occurrences(view.text(), old_text, stop);
  if (found.size() != 1) {
    problem = found.empty() ? no_match(view, old_text, stop) : several_matches(view, found);
    return replacement;
  }
  // Only what differs is written: lines that old_text names as context keep their own ends, also in a file that mixes them.
  const auto [old_differs, new_differs] = std::mismatch(old_text.begin(), old_text.end(), new_text.begin(), new_text.end());
  const auto prefix = static_cast<std::size_t>(old_differs - old_text.begin());
  const std::size_t most = std::min(old_text.size(), new_text.size()) - prefix;
  std::size_t suffix = 0;
  while (suffix < most && old_text[old_text.size() - 1 - suffix] == new_text[new_text.size() - 1 - suffix]) ++suffix;
  replacement.match_begin = found.front();
  replacement.match_end = found.front() + old_text.size();
  replacement.begin = replacement.match_begin + prefix;
  replacement.end = replacement.match_end - suffix;
  replacement.text = new_text.substr(prefix, new_text.size() - prefix - suffix);
  return replacement;
}

/// The first two that overlap, in words; empty when none do. `sorted` by match_begin.
std::string overlap(const LfView& view, const std::vector<Replacement>& sorted) {
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].match_begin >= sorted[i - 1].match_end) continue;
    return fmt::format("edits[{}] and edits[{}] overlap at line {}: make them one edit.", std::min(sorted[i - 1].edit, sorted[i].edit),
                       std::max(sorted[i - 1].edit, sorted[i].edit), view.line_of(sorted[i].match_begin));
  }
  return {};
}

}  // namespace

Edited apply_edits(std::string_view original, const std::vector<Edit>& edits, const Stop& stop) {
  const std::string_view body = without_mark(original);
  const LfView view(body);
  Edited result;
  std::vector<Replacement> replacements;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    replacements.push_back(place(view, edits[i], result.problem, stop));
    replacements.back().edit = i;
    if (result.problem.empty()) continue;
    result.problem = fmt::format("edits[{}]: {}", i, result.problem);
    return result;
  }
  std::sort(replacements.begin(), replacements.end(), [](const auto& a, const auto& b) { return a.match_begin < b.match_begin; });
  result.problem = overlap(view, replacements);
  if (!result.problem.empty() || replacements.empty()) return result;

  result.first_line = view.line_of(replacements.front().begin);
  result.content = original.substr(0, original.size() - body.size());
  std::size_t copied = 0;  // of the original, up to the end of the last replacement
  for (const Replacement& replacement : replacements) {
    const std::size_t begin = view.original_offset(replacement.begin);
    result.content += body.substr(copied, begin - copied);
    result.content += with_line_end(replacement.text, view.line_end(replacement.begin));
    copied = view.original_offset(replacement.end);
  }
  result.content += body.substr(copied);
  return result;
}

}  // namespace forge::tools
