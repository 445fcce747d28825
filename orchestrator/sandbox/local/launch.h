#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/process.h"
#include "orchestrator/sandbox/local/cgroup.h"
#include "orchestrator/sandbox/local/plan.h"
#include "orchestrator/sandbox/local/supervisor.h"

namespace forge::sandbox::local {

/// A sandbox that is ready: its launcher, pid 1, and what was passed out.
struct Launched {
  Child launcher;
  Supervisor supervisor;
  UniqueFd upper;                   ///< O_PATH, none without a work tree
  std::vector<UniqueFd> listeners;  ///< in the order of the plan's ports
};

/// Starts the launcher at `path` with the plan and waits until the sandbox is ready. `group` may be null, `filters` is a sealed file.
/// Throws sandbox_unavailable with the step that failed and what to do about it (field "tree" when the tree's owner cannot be mapped, so
/// that a copy of it would do); cancelled, timed_out.
Launched launch(const std::string& path, const Plan& plan, const Cgroup* group, int filters, const Stop& stop);

}  // namespace forge::sandbox::local
