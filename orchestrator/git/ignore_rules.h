#pragma once

#include <memory>
#include <set>
#include <string>

#include "orchestrator/git/base_tree.h"

namespace forge::git {

/// The ignore rules of a base commit: those of its .gitignore blobs, in every directory, and of nothing else. libgit2 reads such rules from
/// files only, so they are laid out in a private directory beside a private git directory; nothing of a sandbox is in there.
class IgnoreRules {
 public:
  /// `scratch` is a path that does not exist yet; it is made with the first question and removed by the destructor.
  IgnoreRules(git_repository* mirror, BaseTree& base, std::string scratch);
  ~IgnoreRules();
  IgnoreRules(const IgnoreRules&) = delete;
  IgnoreRules& operator=(const IgnoreRules&) = delete;

  bool ignores(const std::string& path);

 private:
  void prepare();
  void lay_out(const std::string& directory);

  git_repository* mirror_;
  BaseTree& base_;
  std::string scratch_;
  Repository rules_;                // null until the first question
  std::set<std::string> laid_out_;  // directories whose .gitignore is in the scratch directory
  bool any_ = false;                // a .gitignore was found at all
};

}  // namespace forge::git
