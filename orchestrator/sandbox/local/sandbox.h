#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "orchestrator/base/log.h"
#include "orchestrator/sandbox/driver.h"
#include "orchestrator/sandbox/local/cgroup.h"
#include "orchestrator/sandbox/local/launch.h"
#include "orchestrator/sandbox/local/plan.h"

namespace forge::sandbox::local {

/// What a sandbox is made of, and what it tells.
struct Parts {
  std::string id;
  Plan plan;
  std::unique_ptr<Cgroup> group;  ///< may be null under `degraded`
  std::string copied_tree;        ///< a copy of the work tree, removed with the sandbox; empty: the tree itself is used
  std::vector<std::string> enforced;
  std::vector<std::string> unenforced;
  /// Takes back the group and the identity when every process is gone; called once. `clean` is false when that could not be had.
  std::function<void(std::unique_ptr<Cgroup> group, bool clean)> on_release;
};

std::unique_ptr<Sandbox> make_sandbox(Parts parts, Launched launched, Log& log);

}  // namespace forge::sandbox::local
