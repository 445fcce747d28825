#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "orchestrator/git/base_tree.h"
#include "orchestrator/git/ignore_pattern.h"

namespace forge::git {

/// The ignore rules of a base commit: those of its .gitignore blobs, in every directory, and of nothing else. Read from the object
/// database, and matched by ourselves: libgit2 reads such rules from files only, and some patterns would hold it for ever
/// (ignore_pattern.h).
class IgnoreRules {
 public:
  IgnoreRules(git_repository* mirror, BaseTree& base) : mirror_(mirror), base_(base) {}

  /// Whether git would ignore a new file at `path`.
  bool ignores(const std::string& path);

 private:
  struct Directory {
    bool ignored = false;  ///< then all below is, whatever its own rules say
    std::vector<IgnorePattern> patterns;
  };
  const Directory& directory(const std::string& path);
  std::vector<IgnorePattern> read(const std::string& directory);
  bool judge(const std::string& path, bool is_directory);

  git_repository* mirror_;
  BaseTree& base_;
  std::unordered_map<std::string, Directory> directories_;
};

}  // namespace forge::git
