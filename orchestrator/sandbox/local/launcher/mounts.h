#pragma once

#include <vector>

#include "orchestrator/base/fd.h"
#include "orchestrator/sandbox/local/plan.h"

namespace forge::sandbox::local::launcher {

/// The host's directories, files and devices that the plan binds, as detached mounts, one per mount of the plan (empty for the others).
/// Opened while the process still is what Forge is, so that private directories can be reached.
std::vector<UniqueFd> open_sources(const Plan& plan);

/// A detached mount of the directory alone, to be mapped; or, in the mount namespace of the sandbox, with all that is mounted below it.
UniqueFd clone_tree(const std::string& directory);
UniqueFd clone_whole_tree(const std::string& directory);

/// Shows what belongs to the root of `user_namespace` outside as belonging to the job: an idmapped mount.
void map_owner(int tree, int user_namespace);

/// Builds the file tree of the plan in this mount namespace, makes it the root and lets go of the host's.
/// `tree` is the lower layer of the overlay (may be empty). Returns an O_PATH descriptor of the upper layer, or none without an overlay.
UniqueFd enter_tree(const Plan& plan, std::vector<UniqueFd> sources, UniqueFd tree);

}  // namespace forge::sandbox::local::launcher
