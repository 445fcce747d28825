#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/stop.h"

namespace forge::git {

/// What lies in a finished tree on disk.
struct WrittenTree {
  std::int64_t bytes = 0;  ///< content, each file rounded up to what a disk gives it
  std::int64_t files = 0;
  std::vector<std::string> submodules;    ///< "path at 1234abcd": an empty directory stands there
  std::vector<std::string> lfs_pointers;  ///< paths
  std::vector<std::string> skipped;       ///< "path: why": a name that must not be made
};

/// A tree already on disk, made by write_tree() from the same mirror: files that did not change become hard links to it.
struct NearTree {
  std::string tree;
  std::string directory;
  std::vector<std::string> lfs_pointers;
};

struct TreeLimits {
  std::int64_t max_entries = 2'000'000;
  std::int64_t max_bytes = 10LL << 30;
};

/// Lays `tree` of `git_dir` out in the new directory `directory`: blobs as they are, files 0644 or 0755, directories 0755, symbolic links
/// as links, an empty directory for a submodule. Safe for any tree: nothing is written through a link, no name leads out. Throws
/// limit_exceeded (too many files, no space), corrupt (objects are missing), cancelled, timed_out.
WrittenTree write_tree(const std::string& git_dir, const std::string& tree, const std::string& directory,
                       const std::optional<NearTree>& near, const TreeLimits& limits, const Stop& stop);

}  // namespace forge::git
