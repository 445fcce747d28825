#pragma once

#include <string>

#include "orchestrator/base/stop.h"
#include "orchestrator/sandbox/local/plan.h"

namespace forge::sandbox::local {

/// Copies the tree `from` (trusted: a checkout of ours) to the new directory `to`, owned by `owner`; modes are kept, hard links are not.
/// Special files are left out. Throws the errno of what failed, cancelled, timed_out; `to` may then be there in part.
void copy_tree(const std::string& from, const std::string& to, const Identity& owner, const Stop& stop);

}  // namespace forge::sandbox::local
