#include "orchestrator/sandbox/local/cgroup_layout.h"

#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>

#include "orchestrator/base/text.h"

namespace forge::sandbox::local {
namespace {

/// One mounted hierarchy: where it is, which part of it is mounted, which controllers it has ("" for v2).
struct Hierarchy {
  std::string mount_point;
  std::string mount_root;
  std::string options;
  bool v2 = false;
};

std::string unescape(const std::string& field) {
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '\\' && i + 3 < field.size()) {
      out += static_cast<char>((field[i + 1] - '0') * 64 + (field[i + 2] - '0') * 8 + (field[i + 3] - '0'));
      i += 3;
    } else {
      out += field[i];
    }
  }
  return out;
}

std::vector<Hierarchy> hierarchies(const std::string& mounts) {
  std::vector<Hierarchy> found;
  for (const std::string_view line : split_lines(mounts)) {
    const std::vector<std::string> fields = split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 10 || fields.end() - dash < 4) continue;
    const std::string& type = *(dash + 1);
    if (type != "cgroup" && type != "cgroup2") continue;
    found.push_back({unescape(fields[4]), unescape(fields[3]), *(dash + 3), type == "cgroup2"});
  }
  return found;
}

bool has_controller(const Hierarchy& hierarchy, const std::string& controller) {
  const std::vector<std::string> options = split(hierarchy.options, ',');
  return !hierarchy.v2 && std::find(options.begin(), options.end(), controller) != options.end();
}

/// Path of this process in the hierarchy of `controller` ("" for v2), from the text of /proc/self/cgroup.
std::string own_path(const std::string& own, const std::string& controller) {
  for (const std::string_view line : split_lines(own)) {
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::vector<std::string> names = split(line.substr(first + 1, second - first - 1), ',');
    const bool match = controller.empty() ? second == first + 1 : std::find(names.begin(), names.end(), controller) != names.end();
    if (match) return std::string(line.substr(second + 1));
  }
  return "/";
}

/// The directory of `path` under this mount; the mount may show only a part of the hierarchy.
std::string directory_of(const Hierarchy& hierarchy, std::string path) {
  if (hierarchy.mount_root != "/" && path.starts_with(hierarchy.mount_root)) path.erase(0, hierarchy.mount_root.size());
  if (path.empty() || path == "/" || path.starts_with("/..")) return hierarchy.mount_point;
  return hierarchy.mount_point + path;
}

/// The best parent for new groups in this hierarchy, or "".
std::string parent_in(const Hierarchy& hierarchy, const CgroupFacts& facts, const std::string& controller, const std::string& parent) {
  if (!parent.empty()) {
    const std::string named = hierarchy.mount_point + parent;
    return facts.writable(named) ? named : "";
  }
  std::string own = directory_of(hierarchy, own_path(facts.own, controller));
  if (facts.writable(own)) return own;
  return facts.root && facts.writable(hierarchy.mount_point) ? hierarchy.mount_point : "";
}

std::string own_directory(const Hierarchy& hierarchy, const CgroupFacts& facts) { return directory_of(hierarchy, own_path(facts.own, "")); }

bool offers_all(const CgroupFacts& facts, const std::string& directory) {
  const std::vector<std::string> offered = split(trim(facts.read(directory + "/cgroup.controllers")), ' ');
  const std::array<const char*, 3> needed{"memory", "pids", "cpu"};
  return std::all_of(needed.begin(), needed.end(),
                     [&](const char* name) { return std::find(offered.begin(), offered.end(), name) != offered.end(); });
}

/// The v2 directory that offers every controller, or "".
std::string v2_parent(const Hierarchy& hierarchy, const CgroupFacts& facts, const std::string& parent) {
  const std::string own = own_directory(hierarchy, facts);
  std::vector<std::string> candidates{own};
  if (facts.root) candidates = facts.delegated(own) ? std::vector{own, hierarchy.mount_point} : std::vector{hierarchy.mount_point, own};
  if (!parent.empty()) candidates = {hierarchy.mount_point + parent};
  for (const std::string& candidate : candidates) {
    if (facts.writable(candidate) && offers_all(facts, candidate)) return candidate;
  }
  return {};
}

std::string explain(const CgroupLayout& layout, bool any) {
  if (layout.complete()) return {};
  if (!any) return "no cgroup hierarchy is mounted";
  std::string missing;
  for (const auto& [name, directory] : {std::pair{"memory", &layout.memory}, {"pids", &layout.pids}, {"cpu", &layout.cpu}}) {
    if (directory->empty()) missing += (missing.empty() ? "" : ", ") + std::string(name);
  }
  return "no cgroup directory that this user may write for: " + missing;
}

}  // namespace

std::string_view name_of(CgroupKind kind) {
  static constexpr std::array<std::string_view, 4> kNames{"none", "v1", "hybrid", "v2"};
  static_assert(kNames.size() == static_cast<std::size_t>(CgroupKind::v2) + 1);
  return kNames.at(static_cast<std::size_t>(kind));
}

CgroupLayout find_layout(const CgroupFacts& facts, const std::string& parent) {
  const std::vector<Hierarchy> all = hierarchies(facts.mounts);
  CgroupLayout layout;
  for (const Hierarchy& hierarchy : all) {
    if (!hierarchy.v2) {
      if (has_controller(hierarchy, "memory")) layout.memory = parent_in(hierarchy, facts, "memory", parent);
      if (has_controller(hierarchy, "pids")) layout.pids = parent_in(hierarchy, facts, "pids", parent);
      if (has_controller(hierarchy, "cpu")) layout.cpu = parent_in(hierarchy, facts, "cpu", parent);
      continue;
    }
    layout.unified = v2_parent(hierarchy, facts, parent);
    if (layout.unified.empty()) {
      layout.unified = parent_in(hierarchy, facts, "", parent);  // good for the atomic kill beside v1
      continue;
    }
    layout.kind = CgroupKind::v2;
    layout.memory = layout.pids = layout.cpu = layout.unified;
    return layout;
  }
  const bool any_v1 = !layout.memory.empty() || !layout.pids.empty() || !layout.cpu.empty();
  if (any_v1) layout.kind = layout.unified.empty() ? CgroupKind::v1 : CgroupKind::hybrid;
  if (!any_v1) layout.unified.clear();
  layout.why = explain(layout, !all.empty());
  return layout;
}

CgroupFacts read_cgroup_facts() {
  const auto whole = [](const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  };
  return {.mounts = whole("/proc/self/mountinfo"),
          .own = whole("/proc/self/cgroup"),
          .root = ::geteuid() == 0,
          .writable = [](const std::string& directory) { return ::access(directory.c_str(), W_OK | X_OK) == 0; },
          .read = whole,
          .delegated =
              [](const std::string& directory) {
                char mark = 0;
                return ::getxattr(directory.c_str(), "user.delegate", &mark, 1) == 1 ||
                       ::getxattr(directory.c_str(), "trusted.delegate", &mark, 1) == 1;
              }};
}

}  // namespace forge::sandbox::local
