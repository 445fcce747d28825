#pragma once

#include "orchestrator/git/review_trees.h"
#include "orchestrator/git/run_commit.h"
#include "orchestrator/git/tree_comparison.h"

namespace forge::git {

/// ReviewTrees::accept() on a mirror.
AcceptedCommit commit_accepted(const std::string& git_dir, const Acceptance& acceptance, const CommitSettings& settings, const Stop& stop);

/// The tree of what is accepted of `diff`, which is of `comparison`, put into the stage.
git_oid stage_accepted(ObjectStage& stage, const TreeComparison& comparison, const CanonicalDiff& diff, const Acceptance& acceptance,
                       const Stop& stop);

}  // namespace forge::git
