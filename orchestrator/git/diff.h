#pragma once

#include <cstdint>
#include <string>

#include "orchestrator/base/stop.h"
#include "orchestrator/git/repository_cache.h"

namespace forge::git {

/// Tree against tree: no file system, no attributes, no filters. Renames at 50 %, 3 context lines, Myers, binary patches with whole ids.
/// Throws limit_exceeded past `max_bytes`.
Diff diff_trees(const std::string& git_dir, const std::string& base_tree, const std::string& commit, std::int64_t max_bytes,
                const Stop& stop);
/// From the tree of one commit to that of another. Throws not_found when the mirror no longer holds one of them.
Diff diff_commits(const std::string& git_dir, const std::string& from, const std::string& to, std::int64_t max_bytes, const Stop& stop);

}  // namespace forge::git
