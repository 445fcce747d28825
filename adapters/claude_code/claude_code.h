#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "adapters/adapter.h"
#include "orchestrator/egress/gateway.h"

namespace forge::adapters {

struct ClaudeCodeOptions {
  std::string program;  ///< the executable on this machine; looked for again at each use, so that an installation needs no restart
  std::string remedy;   ///< what to do when it is not there
};

/// The adapter `claude-code`: the command line program of that name, inside the sandbox, without a key and without a network but its way
/// to the model. `gateway` must outlive the adapter.
std::unique_ptr<AgentAdapter> make_claude_code(const egress::Gateway& gateway, ClaudeCodeOptions options);

}  // namespace forge::adapters
