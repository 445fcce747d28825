#pragma once

#include <vector>

#include "orchestrator/base/fd.h"
#include "orchestrator/sandbox/local/wire.h"

namespace forge::sandbox::local::launcher {

/// The process beside each command, in a child of pid 1: starts it, gathers its orphans (as subreaper), reports its end, kills on request
/// whatever descends from it. When Forge has closed its end and background processes are left, it keeps emptying their output, so that
/// they do not die of a closed pipe. Never returns.
[[noreturn]] void keep(const Packet& request, std::vector<UniqueFd> fds, int control);

}  // namespace forge::sandbox::local::launcher
