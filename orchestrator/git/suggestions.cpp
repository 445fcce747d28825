#include "orchestrator/git/suggestions.h"

#include <algorithm>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::git {
namespace {

std::string described(const Suggestion& suggestion) {
  const std::string lines = suggestion.start_line == suggestion.end_line
                                ? "line " + std::to_string(suggestion.start_line)
                                : "lines " + std::to_string(suggestion.start_line) + "-" + std::to_string(suggestion.end_line);
  return "the suggestion for '" + to_utf8(suggestion.path).text + "', " + lines + ",";
}

void check_lines(const std::vector<const Suggestion*>& by_line, int head_count) {
  const Suggestion* before = nullptr;
  for (const Suggestion* one : by_line) {
    if (one->start_line < 1 || one->end_line < one->start_line || one->end_line > head_count)
      throw bad_suggestion(*one, "names lines that the file does not have; it has " + std::to_string(head_count));
    if (before != nullptr && one->start_line <= before->end_line)
      throw conflict_of(*one, "overlaps another one, which begins at line " + std::to_string(before->start_line));
    before = one;
  }
}

/// The first of the lines that are replaced, after all of them were found next to each other.
std::size_t find_lines(const std::vector<MergedLine>& lines, const std::vector<std::size_t>& places, const Suggestion& suggestion) {
  const std::size_t first = places[static_cast<std::size_t>(suggestion.start_line)];
  for (int line = suggestion.start_line; line <= suggestion.end_line; ++line) {
    const std::size_t place = places[static_cast<std::size_t>(line)];
    if (place == lines.size())
      throw conflict_of(suggestion, "stands on line " + std::to_string(line) + ", which is part of a hunk that is not accepted");
    if (place != first + static_cast<std::size_t>(line - suggestion.start_line))
      throw conflict_of(suggestion, "reaches over a hunk that is not accepted");
  }
  return first;
}

/// "\r\n" where the replaced lines, or the one before a last line without an end, have it.
bool ends_with_return(const std::vector<MergedLine>& lines, std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i)
    if (lines[i].text.ends_with('\n')) return lines[i].text.ends_with("\r\n");
  return first > 0 && lines[first - 1].text.ends_with("\r\n");
}

std::string fitted(const std::string& text, const std::vector<MergedLine>& lines, std::size_t first, std::size_t end) {
  if (text.empty()) return "";
  const bool with_return = ends_with_return(lines, first, end);
  std::string fit;
  for (const std::string_view line : lines_with_ends(text)) {
    std::string_view words = line;
    if (words.ends_with('\n')) words.remove_suffix(1);
    if (words.ends_with('\r')) words.remove_suffix(1);
    fit += words;
    fit += with_return ? "\r\n" : "\n";
  }
  const bool open_end = !lines[end - 1].text.ends_with('\n');
  if (open_end) fit.erase(fit.size() - (fit.ends_with("\r\n") ? 2 : 1));
  return fit;
}

}  // namespace

std::string with_suggestions(const std::vector<MergedLine>& lines, int head_count, std::vector<const Suggestion*> suggestions) {
  std::stable_sort(suggestions.begin(), suggestions.end(),
                   [](const Suggestion* a, const Suggestion* b) { return a->start_line < b->start_line; });
  check_lines(suggestions, head_count);
  std::vector<std::size_t> places(static_cast<std::size_t>(head_count) + 1, lines.size());  // by line at head
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].head_line > 0) places.at(static_cast<std::size_t>(lines[i].head_line)) = i;

  std::string text;
  std::size_t at = 0;
  const auto copy_to = [&](std::size_t end) {
    for (; at < end; ++at) text += lines[at].text;
  };
  for (const Suggestion* one : suggestions) {
    const std::size_t first = find_lines(lines, places, *one);
    const std::size_t end = first + static_cast<std::size_t>(one->end_line - one->start_line) + 1;
    copy_to(first);
    text += fitted(one->text, lines, first, end);
    at = end;
  }
  copy_to(lines.size());
  return text;
}

Error conflict_of(const Suggestion& suggestion, const std::string& why) {
  return public_failure(ErrorCode::conflict, described(suggestion) + " cannot be put in place: it " + why)
      .with_hint("accept the hunk it stands on, or leave the suggestion out");
}

Error bad_suggestion(const Suggestion& suggestion, const std::string& why) {
  return bad_input("suggestions", described(suggestion) + " " + why);
}

}  // namespace forge::git
