#pragma once

#include <vector>

#include "orchestrator/base/fd.h"

namespace forge::sandbox::local::launcher {

/// Brings the loopback interface of this (fresh) network namespace up: many test suites need it.
void raise_loopback();

/// One listening socket on 127.0.0.1 per port, to be accepted on outside.
std::vector<UniqueFd> open_listeners(const std::vector<int>& ports);

}  // namespace forge::sandbox::local::launcher
