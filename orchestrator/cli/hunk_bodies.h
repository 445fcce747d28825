#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "orchestrator/domain/review_control.h"

namespace forge::cli {

/// Lines of a diff, without their line breaks.
using DiffLines = std::vector<std::string_view>;

/// The lines of each hunk of the review, in the order of its hunks, as views into `diff`, the unified diff of its run. A hunk of text
/// begins with its "@@" line; one of kind `file` has what the diff says about modes and names, and the lines of a file that came or went.
/// Nothing when the diff is not that of the review.
std::optional<std::vector<DiffLines>> hunk_bodies(const Review& review, std::string_view diff);

}  // namespace forge::cli
