#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "orchestrator/git/object_stage.h"

namespace forge::git {

struct CommitSettings {
  std::string author_name;
  std::string author_email;
};

/// The author of what Forge commits, at `time_ms`, or now. What a commit cannot hold is left out of the name.
Signature author_of(const CommitSettings& settings, std::optional<std::int64_t> time_ms);

/// Writes a commit on `parent` into the stage and the stage onto the disk; returns its id.
git_oid write_staged_commit(ObjectStage& stage, const git_oid& parent, const git_oid& tree, const git_signature* author,
                            const std::string& message);

enum class RunBranch { is_new, may_exist };
/// Points refs/forge/runs/<branch> at a commit, which is reachable from then on: nobody removes it. Throws conflict when the branch is
/// there and must be new.
void point_run_branch(git_repository* mirror, const std::string& git_dir, const std::string& branch, const git_oid& commit,
                      RunBranch existing);

}  // namespace forge::git
