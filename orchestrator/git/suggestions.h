#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/git/merged_text.h"
#include "orchestrator/git/review_trees.h"

namespace forge::git {

/// The text of `lines` with the suggestions in their places, all for one file that has `head_count` lines at head. A suggestion's lines end
/// as those that it replaces do. Throws bad_input for lines that head does not have; conflict, naming path and lines, for suggestions that
/// overlap, and for one whose lines are not together in the result.
std::string with_suggestions(const std::vector<MergedLine>& lines, int head_count, std::vector<const Suggestion*> suggestions);

Error conflict_of(const Suggestion& suggestion, const std::string& why);
Error bad_suggestion(const Suggestion& suggestion, const std::string& why);

}  // namespace forge::git
