#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "orchestrator/git/handles.h"

namespace forge::git {

/// The base commit's tree, asked for paths: each directory is read once. One thread.
class BaseTree {
 public:
  BaseTree(git_repository* mirror, const git_oid& tree) : mirror_(mirror), root_(find_tree(mirror, tree)) {}

  git_tree* root() const { return root_.get(); }
  /// What the base has at exactly this path, or null. Valid as long as this object.
  const git_tree_entry* find(const std::string& path);
  /// The directory's tree ("" is the root), or null when the base has no directory there.
  const git_tree* directory(const std::string& path);
  /// The submodule that `path` lies in, or "".
  std::string submodule_around(const std::string& path);

 private:
  git_repository* mirror_;
  Tree root_;
  std::unordered_map<std::string, Tree> directories_;  // null: the base has none there
};

}  // namespace forge::git
