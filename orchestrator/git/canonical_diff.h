#pragma once

#include <cstdint>

#include "orchestrator/base/stop.h"
#include "orchestrator/domain/review.h"
#include "orchestrator/git/tree_comparison.h"

namespace forge::git {

/// The hunks of a comparison. Throws limit_exceeded when their bodies are past `max_bytes` together.
CanonicalDiff canonical_diff(const TreeComparison& comparison, std::int64_t max_bytes, const Stop& stop);

/// True when the file is taken or left as a whole: it has one `file` hunk and no other.
bool is_whole(const FileDiff& file);

}  // namespace forge::git
