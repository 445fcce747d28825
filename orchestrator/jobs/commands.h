#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/stop.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/domain/trace.h"
#include "orchestrator/sandbox/driver.h"

namespace forge::jobs {

/// Output kept of one setup or verify command, for the trace and for the agent.
inline constexpr std::size_t kCommandOutputBytes = 50 << 10;

/// Runs the setup commands in order and stops at the first that fails: returns what went wrong, "" when all passed.
std::string run_setup(const std::vector<std::string>& commands, sandbox::Sandbox& sandbox, TraceSink& trace, const Stop& stop);

struct Verdict {
  std::vector<VerifyResult> results;
  std::string feedback;  ///< for the agent: each failed command with its output; empty when all passed
};
/// Runs every verify command, also after one failed: the agent gets all failures at once.
Verdict run_verify(const std::vector<std::string>& commands, int round, sandbox::Sandbox& sandbox, TraceSink& trace, const Stop& stop);

}  // namespace forge::jobs
