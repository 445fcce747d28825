#pragma once

#include <string_view>

#include "orchestrator/sandbox/local/plan.h"

namespace forge::sandbox::local::launcher {

/// What Forge sends first: the plan, and what the descriptors beside it are.
struct Spec {
  Plan plan;
  int group_files = 0;    ///< "tasks" files of cgroup v1 directories: the launcher writes itself into each
  bool group_v2 = false;  ///< then the directory of a v2 group to be born into
  bool filters = false;   ///< then the memory file with the seccomp programs
};

/// Throws bad_input-like errors; the sender is Forge, so that any error is ours.
Spec parse_spec(std::string_view json);

}  // namespace forge::sandbox::local::launcher
