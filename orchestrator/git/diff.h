#pragma once

#include <cstdint>
#include <string>

#include "orchestrator/base/stop.h"
#include "orchestrator/git/repository_cache.h"
#include "orchestrator/git/tree_comparison.h"

namespace forge::git {

/// Tree against tree: no file system, no attributes, no filters. Renames at 50 %, 3 context lines, Myers, binary patches with whole ids.
/// Throws limit_exceeded past `max_bytes`.
Diff diff_trees(const std::string& git_dir, const std::string& base_tree, const std::string& commit, std::int64_t max_bytes,
                const Stop& stop);
/// The same of what was compared already, with its binary content.
Diff diff_text(const TreeComparison& comparison, std::int64_t max_bytes, const Stop& stop);

}  // namespace forge::git
