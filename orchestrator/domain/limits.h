#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forge {

/// Resources of a sandbox: fixed by its template, never resized, all hard.
struct SandboxLimits {
  std::int64_t memory_bytes = 2LL << 30;
  std::int64_t pids = 512;
  std::int64_t cpu_millis = 1000;        ///< 1000 = one core
  std::int64_t upper_bytes = 1LL << 30;  ///< what may be written to the root and the work tree
  std::int64_t upper_inodes = 250'000;
  std::int64_t open_files = 1024;
};

/// Where a run must stop. Each end has its own reason.
struct RunLimits {
  std::int64_t max_turns = 50;
  std::int64_t time_limit_s = 1800;
  std::int64_t stall_limit_s = 300;
  std::int64_t max_tokens = 20'000'000;  ///< sum of all four counts
  std::int64_t verify_rounds = 2;
};

/// What sandboxes may reach: nothing, or the named hosts through the proxy. "*.example.com" matches below example.com.
struct NetworkPolicy {
  std::vector<std::string> allow_hosts;
  bool any() const { return !allow_hosts.empty(); }
};

}  // namespace forge
