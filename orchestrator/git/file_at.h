#pragma once

#include <optional>

#include "orchestrator/git/handles.h"
#include "orchestrator/git/review_trees.h"

namespace forge::git {

/// ReviewTrees::file() on a mirror.
FileAt file_at(const std::string& git_dir, const std::string& commit, const std::string& path, std::int64_t max_bytes);

/// What a tree has at a path; null when it has nothing there.
TreeEntry entry_at(const git_tree* tree, const std::string& path);
std::string blob_content(git_repository* mirror, const git_oid& id);
/// "100644" and so on.
std::string mode_text(unsigned mode);

}  // namespace forge::git
