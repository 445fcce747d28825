#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/git/hunk_choice.h"

namespace forge::git {

/// One line of a file, with its end ("\n", "\r\n", or nothing at the end of the file).
struct MergedLine {
  std::string_view text;
  int head_line = 0;  ///< its number at head, from 1; 0: head does not have it
};

/// Lines of the base with the taken hunks in their places; views into `base` and the hunks. The hunks stand where they stand in the base,
/// whichever are taken. Throws corrupt when they are not of this base.
std::vector<MergedLine> merge_hunks(std::string_view base, const FileChoice& choice);
/// Lines of a file that is at head as it is here.
std::vector<MergedLine> head_lines(std::string_view content);
std::string joined(const std::vector<MergedLine>& lines);

/// Splits after each '\n'; the end of a line stays with it.
std::vector<std::string_view> lines_with_ends(std::string_view text);

}  // namespace forge::git
