#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace forge::bench {

/// VmRSS of this process in KiB.
inline std::int64_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6));
  return 0;
}

}  // namespace forge::bench
