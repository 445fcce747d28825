#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "orchestrator/domain/review.h"

namespace forge::jobs {

/// A brief longer than this is cut, with a word about it; a diff of one hunk is cut earlier.
inline constexpr std::size_t kBriefBytes = 256 << 10;
inline constexpr std::size_t kBriefHunkBytes = 8 << 10;

/// What the agent of a follow-up run is told of a review that was sent back: the note, the summary, the rejected hunks with their reasons,
/// and the comments. Stale marks and comments are left out: what they speak of is gone. Empty when the review says nothing.
std::string brief_of(const std::string& note, const std::string& summary, const CanonicalDiff& diff, const std::vector<HunkMark>& marks,
                     const std::vector<ReviewComment>& comments);

}  // namespace forge::jobs
