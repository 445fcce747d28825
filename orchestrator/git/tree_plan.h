#pragma once

#include <functional>
#include <string>
#include <vector>

#include "orchestrator/git/handles.h"
#include "orchestrator/git/tree_writer.h"

namespace forge::git {

/// One file or link that has to be made.
struct PlannedFile {
  std::string path;
  git_oid blob;
  bool executable = false;
  bool unchanged = false;  ///< the near tree has the same content and mode at this path
};

/// A tree as a list of work: directories first, parents before children.
struct TreePlan {
  std::vector<std::string> directories;
  std::vector<PlannedFile> files;
  std::vector<PlannedFile> links;
  std::vector<std::string> submodules;
  std::vector<std::string> skipped;
};

/// Walks `tree`, beside `near_tree` when it is not null. Throws limit_exceeded past `max_entries`: trees may name one another many times,
/// so that a small pack unfolds to more files than there are atoms.
TreePlan plan_tree(git_repository* mirror, const git_tree* tree, const git_tree* near_tree, std::int64_t max_entries, const Stop& stop);

}  // namespace forge::git
