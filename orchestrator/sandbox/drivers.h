#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/log.h"
#include "orchestrator/sandbox/driver.h"

namespace forge::sandbox {

/// What a driver is made of. The log outlives the driver.
struct DriverOptions {
  Policy policy = Policy::strict;
  std::string run_directory;  ///< "<data>/run", absolute; made when it does not exist
  std::string launcher;       ///< absolute path of `forge-sandbox`; empty: beside this program
  std::string cgroup_parent;  ///< directory below the top of each cgroup hierarchy for new groups ("/forge"); empty: found by itself
  Log& log;
};

/// The providers that `sandbox.provider` may name.
std::vector<std::string> driver_names();

/// A driver by its name. Throws sandbox_config for a name that is none, and names the nearest. The driver sweeps what dead instances left
/// in the run directory before it returns.
std::unique_ptr<SandboxDriver> make_driver(std::string_view name, const DriverOptions& options);

}  // namespace forge::sandbox
