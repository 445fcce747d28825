#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/git/findings.h"
#include "orchestrator/git/handles.h"

namespace forge::git {

/// Changes to a tree, collected by path, then written from the bottom up: each directory once, with its removals and additions together, so
/// that a file may become a directory and the reverse. Paths were judged before (names.h).
class TreeEdit {
 public:
  /// The last word about a path counts.
  void put(const std::string& path, const git_oid& blob, git_filemode_t mode);
  void remove(const std::string& path);

  /// Writes the trees that `base` with these changes needs and returns the root's id. Removing what the base lacks does nothing. A name
  /// that libgit2 refuses, a path below a file, names that differ in case only, and bare repositories become findings. Trees written are
  /// appended to `written`.
  git_oid write(git_repository* mirror, const git_tree* base, Findings& findings, std::vector<git_oid>& written) const;

 private:
  struct Node {
    std::map<std::string, std::unique_ptr<Node>> children;
    bool removed = false;                // what the base has here goes
    std::optional<git_filemode_t> mode;  // set: a blob comes here
    git_oid blob{};
  };
  class Writer;

  Node& node_at(const std::string& path);

  Node root_;
};

}  // namespace forge::git
