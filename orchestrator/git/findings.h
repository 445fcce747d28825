#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "orchestrator/git/repository_cache.h"

namespace forge::git {

/// Collects findings: each (kind, path) once, and of each kind the first few, with one more that counts the rest.
class Findings {
 public:
  void add(const std::string& kind, const std::string& path, const std::string& message);
  /// In the order they came.
  std::vector<CommitBuilder::Finding> all() const;

 private:
  std::vector<CommitBuilder::Finding> found_;
  std::map<std::string, std::set<std::string>> told_;  // by kind, the paths in found_
  std::map<std::string, std::size_t> untold_;          // by kind, how many were not kept
};

}  // namespace forge::git
