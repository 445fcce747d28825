#pragma once

#include <memory>
#include <string>
#include <vector>

#include "orchestrator/base/log.h"
#include "orchestrator/sandbox/driver.h"
#include "orchestrator/sandbox/local/holding.h"
#include "orchestrator/sandbox/local/launch.h"
#include "orchestrator/sandbox/local/plan.h"

namespace forge::sandbox::local {

/// What a sandbox is made of, and what it tells.
struct Parts {
  std::string id;
  Plan plan;
  std::unique_ptr<Holding> holding;  ///< given back when every process is gone; its group may be null under `degraded`
  std::vector<std::string> enforced;
  std::vector<std::string> unenforced;
};

std::unique_ptr<Sandbox> make_sandbox(Parts parts, Launched launched, Log& log);

}  // namespace forge::sandbox::local
