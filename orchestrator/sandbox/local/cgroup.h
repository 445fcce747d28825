#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "orchestrator/base/fd.h"
#include "orchestrator/sandbox/local/cgroup_layout.h"
#include "orchestrator/sandbox/local/plan.h"

namespace forge::sandbox::local {

/// The cgroups of one sandbox: one directory per v1 controller, or one v2 directory, or both (hybrid). Limits are written and read back
/// when the group is made; what the kernel did not take is an error, so that no limit is reported that does not hold.
class Cgroup {
 public:
  /// Throws sandbox_unavailable.
  static std::unique_ptr<Cgroup> make(const CgroupLayout& layout, const std::string& name, const GroupLimits& limits);
  ~Cgroup() = default;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  const GroupLimits& limits() const { return limits_; }
  /// v1 `tasks` files: a thread that writes "0" joins.
  std::vector<int> join_files() const;
  /// The v2 directory to be born into, or -1.
  int birth_directory() const { return birth_.get(); }

  /// Processes that the kernel killed here for want of memory since the group was made.
  std::int64_t out_of_memory_kills() const;
  /// Bytes in use now; 0 without a memory group.
  std::int64_t memory_bytes() const;
  /// Kills every process at one moment where v2 can (false elsewhere: then the pid namespace has to be ended).
  bool kill();
  /// After kill() a group must not be used again: kernels that count kills take the next process that is born into it for a late one of the
  /// killed, and kill it too (seen on 6.18).
  bool reusable() const { return !killed_; }
  /// No process is in any of the directories. A zombie still counts until it is reaped.
  bool empty() const;
  /// Removes the directories; false while the kernel still finds somebody in them.
  bool remove();

 private:
  Cgroup() = default;
  std::vector<std::string> directories_;
  std::vector<UniqueFd> join_;
  UniqueFd birth_;
  UniqueFd memory_events_;  // memory.oom_control or memory.events
  UniqueFd memory_usage_;
  std::string kill_file_;
  bool killed_ = false;
  GroupLimits limits_;
};

/// `layout` with the instance's own directory as parent in each hierarchy; none where `layout` has none.
CgroupLayout instance_layout(const CgroupLayout& layout, const std::string& instance);
/// Makes these directories. Under v2 it hands the controllers down, and moves this process into a leaf of its own where they cannot be
/// handed down past it. Throws sandbox_unavailable.
void make_instance_groups(const CgroupLayout& layout, const std::string& instance);
/// Kills what lives in the instance's directories and removes them. `parents` of an instance's layout,
/// or as a dead instance wrote them down. Never throws; false when something was left.
bool remove_instance_groups(const std::vector<std::string>& parents, const Stop& stop);
/// The distinct parents of a layout.
std::vector<std::string> parents_of(const CgroupLayout& layout);

}  // namespace forge::sandbox::local
