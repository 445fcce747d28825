#pragma once

#include <functional>
#include <string>
#include <vector>

#include "orchestrator/base/stop.h"
#include "orchestrator/egress/address.h"

namespace forge::egress {

/// Addresses of a name, in the order to try them. Throws not_found when there are none, cancelled, timed_out.
using Resolve = std::function<std::vector<Address>(const std::string& host, const Stop& stop)>;

/// Asks the machine's own resolver in a child process: a name server that does not answer then never holds a thread past `stop`.
Resolve system_resolver();

}  // namespace forge::egress
