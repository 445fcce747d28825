#include "orchestrator/sandbox/local/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "orchestrator/base/error.h"
#include "orchestrator/base/process.h"
#include "orchestrator/base/text.h"
#include "orchestrator/sandbox/local/remedy.h"
#include "orchestrator/sandbox/local/wire.h"

namespace forge::sandbox::local {
namespace {

constexpr auto kProbeTime = std::chrono::seconds(20);

struct Facility {
  std::string_view probe;  ///< name in the launcher's output
  std::string_view shown;
  bool required;
};

constexpr std::array<Facility, 15> kFacilities{{
    {"user", "user namespaces", true},
    {"mount", "mount namespaces", true},
    {"pid", "pid namespaces", true},
    {"network", "network namespaces", true},
    {"ipc", "ipc namespaces", true},
    {"uts", "uts namespaces", true},
    {"cgroup", "cgroup namespaces", true},
    {"mount_calls", "mounts by descriptor", true},
    {"overlay", "overlay on a memory file system", true},
    {"proc", "own /proc", true},
    {"terminals", "own /dev/pts", true},
    {"seccomp", "seccomp filters", true},
    {"id_map", "idmapped mounts", false},
    {"landlock", "landlock", false},
    {"loop", "loop devices", false},
}};

Capability row_of(const Facility& facility, const std::vector<Finding>& findings) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& one) { return one.name == facility.probe; });
  Capability row{.name = std::string(facility.shown), .required = facility.required};
  if (found == findings.end()) {
    row.detail = "the probe did not answer";
  } else if (found->error == 0) {
    row.available = true;
    row.detail = found->detail.empty() ? "works" : found->detail;
  } else {
    row.detail = std::generic_category().message(found->error);
  }
  if (!row.available) row.remedy = remedy_for(facility.probe);
  return row;
}

Capability limit_row(const char* name, const std::string& directory, const CgroupLayout& layout, const std::string& why_not) {
  Capability row{.name = std::string(name) + " limit", .available = !directory.empty() && why_not.empty(), .required = true};
  if (row.available) {
    row.detail = "cgroup " + std::string(name_of(layout.kind)) + " in " + directory;
  } else {
    row.detail = why_not.empty() ? layout.why : why_not;
    row.remedy = remedy_for("limits");
  }
  return row;
}

}  // namespace

std::vector<Finding> parse_probe(std::string_view text) {
  std::vector<Finding> findings;
  for (const std::string_view line : split_lines(text)) {
    const std::vector<std::string> fields = split(line, '\t');
    const auto error = fields.size() == 3 ? number_in(fields[1]) : std::nullopt;
    if (error) findings.push_back({fields[0], static_cast<int>(*error), fields[2]});
  }
  return findings;
}

CapabilityReport make_report(const std::vector<Finding>& findings, const CgroupLayout& layout, const std::string& why_no_limits,
                             bool pooled_ids, Policy policy) {
  CapabilityReport report{.driver = "local"};
  for (const Facility& facility : kFacilities) report.rows.push_back(row_of(facility, findings));
  // Without namespaces there is no sandbox under any policy; limits alone may be left out when that was configured.
  const bool isolated =
      std::all_of(report.rows.begin(), report.rows.end(), [](const Capability& row) { return row.available || !row.required; });
  report.rows.push_back(limit_row("memory", layout.memory, layout, why_no_limits));
  report.rows.push_back(limit_row("process", layout.pids, layout, why_no_limits));
  report.rows.push_back(limit_row("cpu", layout.cpu, layout, why_no_limits));
  Capability kill{.name = "atomic kill", .available = !layout.unified.empty()};
  kill.detail = kill.available ? "cgroup.kill in " + layout.unified : "by the end of the pid namespace";
  report.rows.push_back(kill);
  Capability ids{.name = "user id per sandbox", .available = pooled_ids};
  ids.detail = pooled_ids ? "from 2,000,000 up" : "sandboxes run as the user of Forge";
  if (!pooled_ids) ids.remedy = "run Forge as root to give each sandbox an id of its own";
  report.rows.push_back(ids);
  const bool limited = layout.complete() && why_no_limits.empty();
  report.usable = isolated && (limited || policy == Policy::degraded);
  return report;
}

std::string describe_missing(const CapabilityReport& report) {
  std::vector<std::pair<std::string, std::string>> reasons;  // why, and the names of what is missing for it
  std::vector<std::string> remedies;
  for (const Capability& row : report.rows) {
    if (row.available || !row.required) continue;
    const auto known = std::find_if(reasons.begin(), reasons.end(), [&](const auto& one) { return one.first == row.detail; });
    if (known == reasons.end()) {
      reasons.emplace_back(row.detail, row.name);
    } else {
      known->second += ", " + row.name;
    }
    const bool told = std::find(remedies.begin(), remedies.end(), row.remedy) != remedies.end();
    if (!told && !row.remedy.empty()) remedies.push_back(row.remedy);
  }
  std::string text;
  for (const auto& [why, names] : reasons) text += (text.empty() ? "" : "; ") + names + ": " + why;
  return remedies.empty() ? text : fmt::format("{}. To do: {}", text, fmt::join(remedies, "; "));
}

std::vector<Finding> run_probe(const std::string& launcher, const std::string& directory, const Stop& stop) {
  SpawnOptions options;
  options.argv = {launcher, "--probe", directory};
  try {
    const Output output = run_command(options, "", 64 << 10, stop.shorter(kProbeTime));
    return parse_probe(output.out);
  } catch (Error& e) {
    if (e.code() == ErrorCode::cancelled) throw;
    throw public_failure(ErrorCode::sandbox_unavailable, "the sandbox launcher " + launcher + " did not run: " + e.what());
  }
}

}  // namespace forge::sandbox::local
