#pragma once

#include <string>

#include "orchestrator/git/handles.h"

namespace forge::git {

struct Resolved {
  std::string ref;     ///< as the remote names it, "refs/heads/main"; empty for a commit id
  std::string commit;  ///< 40 hex digits
  std::string tree;
};

/// The name a transfer has to ask for beside branches and tags: `base` when it is another whole reference ("refs/pull/7/head"), else "".
std::string named_ref(const std::string& base);

/// Finds `base` in an up-to-date mirror: "" or "HEAD", a whole reference, a branch, a tag (peeled), a full or abbreviated commit id, in
/// this order. `repository` is for the errors: not_found names the nearest branches; invalid_argument for an ambiguous id, a tag of
/// something else than a commit, or a HEAD that points at nothing.
Resolved resolve_base(git_repository* mirror, const std::string& base, const std::string& repository);

}  // namespace forge::git
