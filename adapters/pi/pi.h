#pragma once

#include <memory>

#include "adapters/adapter.h"
#include "orchestrator/egress/gateway.h"

namespace forge::adapters {

/// The adapter `pi`: Forge's own tool loop. It runs beside the engine, its tools act in the sandbox through the driver, its model is a
/// metered one. `gateway` must outlive the adapter.
std::unique_ptr<AgentAdapter> make_pi(const egress::Gateway& gateway);

}  // namespace forge::adapters
