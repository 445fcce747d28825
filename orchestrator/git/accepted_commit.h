#pragma once

#include "orchestrator/git/review_trees.h"
#include "orchestrator/git/run_commit.h"

namespace forge::git {

/// ReviewTrees::accept() on a mirror.
AcceptedCommit commit_accepted(const std::string& git_dir, const Acceptance& acceptance, const CommitSettings& settings, const Stop& stop);

}  // namespace forge::git
