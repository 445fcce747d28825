#pragma once

#include <vector>

#include "orchestrator/base/fd.h"
#include "orchestrator/sandbox/local/launcher/spec.h"

namespace forge::sandbox::local::launcher {

/// Makes the namespaces, sets the sandbox up in a child that becomes its pid 1, and watches over it until it ends. Returns the exit code
/// of the launcher. `fds` came with the spec, `control` leads to Forge. Throws StepFailed for what went wrong on this side; the child
/// reports its own failures to Forge.
int start(const Spec& spec, std::vector<UniqueFd> fds, const UniqueFd& control);

}  // namespace forge::sandbox::local::launcher
