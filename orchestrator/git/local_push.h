#pragma once

#include <string>

#include "orchestrator/base/stop.h"

namespace forge::git {

/// Makes `commit` of the mirror the new branch `branch` of the repository at `path`, bare or not: its objects are put into that
/// repository's database and the reference is made. Index, HEAD, work tree and hooks of it stay untouched. Throws conflict when the branch
/// exists, or when a branch stands in the way of its name.
void push_to_local(const std::string& git_dir, const std::string& path, const std::string& commit, const std::string& branch,
                   const Stop& stop);

}  // namespace forge::git
