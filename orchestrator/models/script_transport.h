#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "orchestrator/models/script.h"
#include "orchestrator/models/transport.h"

namespace forge::models {

/// Transports that play one script in the place of a server: .../v1/messages and .../chat/completions are answered with the step whose
/// number is the number of assistant messages in the request; past the end, and for other paths, with an error. What the script counts
/// (`times` of an error) is counted over all transports of one call.
std::function<std::unique_ptr<Transport>()> make_script_transports(std::vector<ScriptStep> steps);

}  // namespace forge::models
