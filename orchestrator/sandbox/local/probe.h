#pragma once

#include <string>
#include <string_view>

#include "orchestrator/sandbox/driver.h"
#include "orchestrator/sandbox/local/cgroup_layout.h"

namespace forge::sandbox::local {

/// What one try of the launcher's probe said.
struct Finding {
  std::string name;
  int error = 0;  ///< errno, 0 = works
  std::string detail;
};
/// Lines of name, tab, errno, tab, detail; others are left out.
std::vector<Finding> parse_probe(std::string_view text);

/// The report from what was found; pure. `why_no_limits`: empty when limits really could be set on a group made for the purpose.
CapabilityReport make_report(const std::vector<Finding>& findings, const CgroupLayout& layout, const std::string& why_no_limits,
                             bool pooled_ids, Policy policy);

/// What of the required rows is missing, why, and what to do about it, on one line: each reason and each remedy once.
std::string describe_missing(const CapabilityReport& report);

/// Runs the launcher's probe. Throws sandbox_unavailable when it does not run.
std::vector<Finding> run_probe(const std::string& launcher, const std::string& directory, const Stop& stop);

}  // namespace forge::sandbox::local
