#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "orchestrator/base/stop.h"
#include "orchestrator/git/handles.h"

namespace forge::git {

using Patch = std::unique_ptr<git_patch, FreeWith<git_patch_free>>;

/// Two trees of a mirror, compared: no file system, no attributes, no filters. Renames at 50 %, 3 context lines, Myers, whole ids.
struct TreeComparison {
  Repository mirror;
  Tree base;
  Tree head;
  TreeDiff diff;
};
/// Whether sections of binary files hold their content, which takes time to pack.
enum class BinaryContent { whole, none };
TreeComparison compare_trees(const std::string& git_dir, const std::string& base_tree, const std::string& head_tree, const Stop& stop);
/// The same of the trees of two commits. Throws as kept_commit() does.
TreeComparison compare_commits(const std::string& git_dir, const std::string& from, const std::string& to, BinaryContent binaries,
                               const Stop& stop);

/// A commit that reviews need. Throws not_found, with words for a client, when the mirror no longer holds it.
Commit kept_commit(git_repository* mirror, const std::string& id);
/// The same when the mirror itself may be gone.
Repository open_kept_mirror(const std::string& git_dir);

/// Calls `take` with each section of the patch: by path, but what is removed before what is renamed to its place, which git apply wants. A
/// section's lines are loaded while `take` runs, and not longer.
void for_each_patch(const TreeComparison& comparison, const Stop& stop, const std::function<void(git_patch*, const git_diff_delta&)>& take);

/// False for "Binary files differ" under a binary file that was only renamed: it makes git apply refuse the patch.
bool belongs_to_patch(const git_diff_delta& delta, const git_diff_line& line);
/// The line as the unified diff has it. libgit2 leaves blanks at the end of the function's name in a hunk's header; git does not.
void append_line(std::string& text, const git_diff_line& line);

/// Counts the bytes of a diff. Throws limit_exceeded, in words for a client, past `max_bytes`.
class DiffSize {
 public:
  explicit DiffSize(std::int64_t max_bytes) : max_bytes_(max_bytes) {}
  void add(std::size_t bytes);

 private:
  std::int64_t max_bytes_;
  std::int64_t bytes_ = 0;
};

}  // namespace forge::git
