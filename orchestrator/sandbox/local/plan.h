#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forge::sandbox {
struct SandboxSpec;
}

namespace forge::sandbox::local {

/// One step of building the file tree of a sandbox, in order.
struct Mount {
  enum class Kind {
    directory,  ///< an empty directory, as read-only as the root
    link,       ///< symbolic link to `source`
    bind,       ///< `source` of the host, a directory or a file, with all that is mounted below it
    device,     ///< the device `source` of the host
    scratch,    ///< writable, on the capped memory file system of the sandbox
    overlay,    ///< the tree below, changes on the capped memory file system
    proc,       ///< fresh, other users' processes invisible
    terminals,  ///< fresh devpts
    read_only,  ///< what is already at `target`, made read-only; skipped where the kernel has no such file
    mask        ///< an empty file or directory over `target`; skipped where the kernel has no such file
  };
  Kind kind = Kind::directory;
  std::string target;  ///< absolute, inside
  std::string source;
  unsigned mode = 0755;
  bool read_only = false;
};

/// In a header, because the launcher is a program of its own.
inline std::string_view name_of(Mount::Kind kind) {
  constexpr std::array<std::string_view, 10> kNames{"directory", "link", "bind",      "device",    "scratch",
                                                    "overlay",   "proc", "terminals", "read_only", "mask"};
  static_assert(kNames.size() == static_cast<std::size_t>(Mount::Kind::mask) + 1);
  return kNames.at(static_cast<std::size_t>(kind));
}

/// Limits that a process inherits. Values are what setrlimit takes.
struct ResourceLimits {
  std::uint64_t open_files = 1024;
  std::uint64_t processes = 512;
  std::uint64_t file_bytes = 1ULL << 30;
  std::uint64_t stack_bytes = 64ULL << 20;
  // The kernel counts these two per user, and for whoever made the user namespace as well: without a limit of ours one job could use up
  // what all of root's programs on the machine may have together.
  std::uint64_t pending_signals = 4096;  ///< timers of POSIX count as well
  std::uint64_t queue_bytes = 128ULL << 10;
};

/// A sandbox's part of what the kernel has for the whole machine and no cgroup divides.
struct Shares {
  std::uint64_t inotify_instances = 32;  ///< of 128 that root has unless the host was told otherwise; .NET takes one per watched file
  std::uint64_t inotify_watches = 32'768;
  std::uint64_t terminals = 128;  ///< of 3072
};

/// What cgroups hold the sandbox to; 0 = not limited by cgroups here.
struct GroupLimits {
  std::int64_t memory_bytes = 0;
  std::int64_t pids = 0;
  std::int64_t cpu_millis = 0;
  bool operator==(const GroupLimits&) const = default;
};

/// Who the processes are outside; inside they are always user and group 1000.
struct Identity {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  bool pooled = false;  ///< an id of its own for this sandbox, given by root; else that of Forge
};

inline constexpr std::uint32_t kInsideId = 1000;

/// Processes of ours inside: the launcher, pid 1, keepers of commands. The job's own limit is lower by as many, so that a job that uses up
/// all of its processes can still be reached.
inline constexpr int kOwnProcesses = 8;

/// Everything the launcher does, as data: what a golden file shows.
struct Plan {
  std::string host_name = "sandbox";
  Identity identity;
  std::vector<std::string> namespaces{"user", "mount", "pid", "network", "ipc", "uts", "cgroup"};
  std::int64_t scratch_bytes = 0;
  std::int64_t scratch_inodes = 0;
  std::vector<Mount> mounts;
  std::string tree;       ///< host directory under the overlay; empty: none
  bool map_tree = false;  ///< show the tree's owner as the job's user (idmapped mount)
  ResourceLimits limits;
  Shares shares;
  GroupLimits group;
  std::string seccomp = "default";
  std::vector<int> ports;
  std::int64_t lifetime_ms = 0;
  std::vector<std::pair<std::string, std::string>> env;
};

/// What the plan needs to know of the host.
struct HostFacts {
  Identity identity;
  std::string etc_directory;           ///< the allow-listed copy of /etc
  std::vector<std::string> etc_bound;  ///< names below /etc that are bound from the host over it
  /// Entries of / beside /usr that programs expect: {"/bin", "usr/bin"} is a link, {"/lib64", ""} a directory of its own.
  std::vector<std::pair<std::string, std::string>> root_entries;
  bool memory_limit = false;  ///< what cgroups can enforce here
  bool pids_limit = false;
  bool cpu_limit = false;
};

/// Pure: the same input gives the same plan. Throws sandbox_config for a template or limits that make no sense.
Plan make_plan(const SandboxSpec& spec, const HostFacts& host);
/// The plan as the launcher reads it; `indent` as for dump().
std::string to_json(const Plan& plan, int indent = -1);

}  // namespace forge::sandbox::local
