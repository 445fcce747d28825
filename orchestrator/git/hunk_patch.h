#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orchestrator/base/stop.h"
#include "orchestrator/domain/review.h"
#include "orchestrator/git/tree_comparison.h"

namespace forge::git {

/// ReviewTrees::patch() of some hunks of `diff`, which is of `comparison` with its binary content. Made of the sections and hunks of the
/// whole diff, as a person saw them: a file of which all is taken has its section unchanged, a file of which a part is taken has that part
/// with its place counted again. Throws bad_input for an unknown hunk, conflict as check_standing() does, limit_exceeded past `max_bytes`.
std::string patch_of_hunks(const TreeComparison& comparison, const CanonicalDiff& diff, const std::vector<std::string>& hunks,
                           std::int64_t max_bytes, const Stop& stop);

/// A path as git writes it in a patch: in quotes and escaped when it has other bytes than plain ASCII.
std::string quoted_path(const std::string& path);

}  // namespace forge::git
