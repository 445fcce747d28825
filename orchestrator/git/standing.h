#pragma once

#include <vector>

#include "orchestrator/git/base_tree.h"
#include "orchestrator/git/hunk_choice.h"

namespace forge::git {

/// Whether the choices make a tree. Throws conflict, naming the paths, when what is taken needs a place that is kept because a removal, a
/// new name or a change of type was not taken: the path itself, a file above it, files below it, or a name that differs in case only and
/// that head does not have beside it.
void check_standing(git_repository* mirror, const git_tree* base, const git_tree* head, const std::vector<FileChoice>& choices);

}  // namespace forge::git
