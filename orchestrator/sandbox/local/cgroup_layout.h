#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace forge::sandbox::local {

enum class CgroupKind { none, v1, hybrid, v2 };
std::string_view name_of(CgroupKind kind);

/// Where groups can be made: parent directories, empty where a controller is not to be had. With v2 one directory is all of them.
struct CgroupLayout {
  CgroupKind kind = CgroupKind::none;
  std::string memory;
  std::string pids;
  std::string cpu;
  std::string unified;  ///< the v2 directory: the limits' own under v2, without controllers beside v1 (hybrid: atomic kill)
  std::string why;      ///< for people: what is missing, when something is
  bool complete() const { return !memory.empty() && !pids.empty() && !cpu.empty(); }
};

/// What the host says: the texts of /proc/self/mountinfo and /proc/self/cgroup, and how to ask whether a directory takes new groups.
struct CgroupFacts {
  std::string mounts;
  std::string own;
  bool root = false;
  std::function<bool(const std::string& directory)> writable;
  std::function<std::string(const std::string& file)> read;     ///< "" when there is none
  std::function<bool(const std::string& directory)> delegated;  ///< systemd marked it as somebody else's to divide (Delegate=yes)
};

/// The directories for new groups: below the group of this process where that can be written; as root also at the top of the hierarchy,
/// and under v2 there first unless the own group was delegated: a session's group is not ours to divide.
/// `parent` names a directory below the top of each hierarchy instead ("/forge"); empty: as said. Pure.
CgroupLayout find_layout(const CgroupFacts& facts, const std::string& parent = {});
CgroupFacts read_cgroup_facts();

}  // namespace forge::sandbox::local
