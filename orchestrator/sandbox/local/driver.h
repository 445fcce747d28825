#pragma once

#include <memory>

#include "orchestrator/sandbox/drivers.h"

namespace forge::sandbox::local {

/// The driver `local`: sandboxes on this machine, from Linux namespaces, seccomp and cgroups, as root and as plain user.
/// Throws the errno of a run directory that cannot be made or locked.
std::unique_ptr<SandboxDriver> make_local_driver(const DriverOptions& options);

}  // namespace forge::sandbox::local
