#pragma once

#include <string>

#include "orchestrator/base/stop.h"
#include "orchestrator/git/push_target.h"

namespace forge::git {

/// Makes `commit` of the mirror the branch of the repository at `path`, bare or not: its objects are put into that repository's database
/// and the reference is made, or moved when it is where it is expected. Index, HEAD, work tree and hooks of it stay untouched. Throws
/// conflict when the branch is not as expected, when it is checked out and would have to move, or when a branch stands in the way of its
/// name.
void push_to_local(const std::string& git_dir, const std::string& path, const std::string& commit, const PushTarget& target,
                   const Stop& stop);

}  // namespace forge::git
