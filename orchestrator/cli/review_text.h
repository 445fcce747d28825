#pragma once

#include <string>
#include <vector>

#include "orchestrator/cli/console.h"
#include "orchestrator/cli/hunk_bodies.h"
#include "orchestrator/domain/review_json.h"

namespace forge::cli {

/// A review for people: its files and hunks, numbered from 1 in the order of the diff, what was said about them, the comments. With
/// `bodies`, the lines of each hunk below it. Ends with a line break. What strangers wrote is harmless in a terminal.
std::string review_text(const Review& review, const std::vector<DiffLines>* bodies, const Paint& paint);

/// "2 accepted, 1 rejected, 3 undecided (1 was decided before it changed)"
std::string counts_text(const ReviewCounts& counts);

/// What others did between two readings of one review, a line each, at most a few.
std::vector<std::string> review_changes(const Review& before, const Review& after);

}  // namespace forge::cli
