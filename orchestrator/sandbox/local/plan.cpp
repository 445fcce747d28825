#include "orchestrator/sandbox/local/plan.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/sandbox/driver.h"

namespace forge::sandbox::local {
namespace {

using Kind = Mount::Kind;

constexpr std::int64_t kLeastMemory = 16LL << 20;
constexpr std::int64_t kLeastScratch = 1LL << 20;
constexpr std::int64_t kMostOpenFiles = 4096;

void check_range(const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw public_failure(ErrorCode::sandbox_config, std::string("the template's ") + what + " is " + std::to_string(value) +
                                                      "; it must be from " + std::to_string(least) + " to " + std::to_string(most));
}

/// One name below the folder, so that no file can cover anything else, and no link of the template can lead it elsewhere.
void check(const ReadOnlyFile& file) {
  const std::string_view name =
      file.target.starts_with(kFilesFolder) ? std::string_view(file.target).substr(kFilesFolder.size()) : std::string_view();
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string_view::npos)
    throw public_failure(ErrorCode::sandbox_config,
                         "a read-only file must stand right below " + std::string(kFilesFolder) + ", not at '" + file.target + "'");
  if (!file.source.starts_with('/'))
    throw public_failure(ErrorCode::sandbox_config, "the source of " + file.target + " is no absolute path: '" + file.source + "'");
}

void check(const SandboxSpec& spec) {
  const Template& contents = spec.contents;
  if (contents.kind != "host")
    throw public_failure(ErrorCode::sandbox_config,
                         "template '" + contents.name + "' is of kind '" + contents.kind + "'; the driver 'local' knows 'host'");
  const SandboxLimits& limits = contents.limits;
  check_range("memory_bytes", limits.memory_bytes, kLeastMemory, 1LL << 50);
  check_range("pids", limits.pids, 1, 4'000'000);
  check_range("cpu_millis", limits.cpu_millis, 10, 10'000'000);
  check_range("upper_bytes", limits.upper_bytes, kLeastScratch, 1LL << 50);
  check_range("upper_inodes", limits.upper_inodes, 100, 1LL << 40);
  check_range("open_files", limits.open_files, 16, kMostOpenFiles);
  for (const int port : spec.listener_ports) check_range("listener port", port, 1, 65535);
  for (const ReadOnlyFile& file : spec.files) check(file);
}

/// Pages of a memory file system count as memory of the job: a full disk has to answer "no space" before the job is killed for it.
std::int64_t scratch_bytes(const SandboxLimits& limits, const HostFacts& host) {
  if (!host.memory_limit) return limits.upper_bytes;
  return std::min(limits.upper_bytes, limits.memory_bytes / 4 * 3);
}

void add_system(std::vector<Mount>& mounts, const HostFacts& host) {
  mounts.push_back({.kind = Kind::bind, .target = "/usr", .source = "/usr", .read_only = true});
  for (const auto& [target, link] : host.root_entries) {
    if (link.empty()) {
      mounts.push_back({.kind = Kind::bind, .target = target, .source = target, .read_only = true});
    } else {
      mounts.push_back({.kind = Kind::link, .target = target, .source = link});
    }
  }
  mounts.push_back({.kind = Kind::bind, .target = "/etc", .source = host.etc_directory, .read_only = true});
  for (const std::string& name : host.etc_bound)
    mounts.push_back({.kind = Kind::bind, .target = "/etc/" + name, .source = "/etc/" + name, .read_only = true});
  mounts.push_back({.kind = Kind::directory, .target = "/run"});
  mounts.push_back({.kind = Kind::scratch, .target = "/tmp", .mode = 01777});
  mounts.push_back({.kind = Kind::link, .target = "/var/run", .source = "../run"});
  mounts.push_back({.kind = Kind::link, .target = "/var/tmp", .source = "../tmp"});
}

// Bound and not made: a device node cannot be made in a user namespace. No tty: there is no terminal to control.
void add_devices(std::vector<Mount>& mounts) {
  for (const char* name : {"null", "zero", "full", "random", "urandom"})
    mounts.push_back({.kind = Kind::device, .target = std::string("/dev/") + name, .source = std::string("/dev/") + name});
  mounts.push_back({.kind = Kind::terminals, .target = "/dev/pts"});
  mounts.push_back({.kind = Kind::link, .target = "/dev/ptmx", .source = "pts/ptmx"});
  mounts.push_back({.kind = Kind::scratch, .target = "/dev/shm", .mode = 01777});
  static constexpr std::array<std::pair<const char*, const char*>, 4> kLinks{
      {{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"}}};
  for (const auto& [name, to] : kLinks) mounts.push_back({.kind = Kind::link, .target = std::string("/dev/") + name, .source = to});
}

// Read-only and masked beyond what file modes do already: the job's user owns nothing there, but the kernel's checks have had gaps.
void add_proc(std::vector<Mount>& mounts) {
  mounts.push_back({.kind = Kind::proc, .target = "/proc"});
  for (const char* name : {"sys", "sysrq-trigger", "irq", "bus", "fs"})
    mounts.push_back({.kind = Kind::read_only, .target = std::string("/proc/") + name});
  for (const char* name : {"kcore", "keys", "timer_list", "sched_debug", "latency_stats", "acpi", "scsi"})
    mounts.push_back({.kind = Kind::mask, .target = std::string("/proc/") + name});
}

// The whole environment: nothing of the service's is inherited.
void add_environment(Plan& plan, const SandboxSpec& spec) {
  plan.env = {{"PATH", std::string(kPath)}, {"HOME", std::string(kHome)}, {"USER", "agent"}, {"LOGNAME", "agent"},
              {"SHELL", "/bin/bash"},       {"LANG", "C.UTF-8"},          {"TZ", "UTC"}};
  for (const auto& [name, value] : spec.env) {
    const auto same = [&name = name](const auto& pair) { return pair.first == name; };
    const auto old = std::find_if(plan.env.begin(), plan.env.end(), same);
    if (old == plan.env.end()) {
      plan.env.emplace_back(name, value);
    } else {
      old->second = value;
    }
  }
}

}  // namespace

Plan make_plan(const SandboxSpec& spec, const HostFacts& host) {
  check(spec);
  const SandboxLimits& limits = spec.contents.limits;
  Plan plan;
  plan.identity = host.identity;
  plan.scratch_bytes = scratch_bytes(limits, host);
  plan.scratch_inodes = limits.upper_inodes;
  add_system(plan.mounts, host);
  add_devices(plan.mounts);
  add_proc(plan.mounts);
  plan.mounts.push_back({.kind = Kind::scratch, .target = std::string(kHome)});
  plan.mounts.push_back({.kind = spec.tree ? Kind::overlay : Kind::scratch, .target = std::string(kWorkspace)});
  for (const ReadOnlyFile& file : spec.files)
    plan.mounts.push_back({.kind = Kind::bind, .target = file.target, .source = file.source, .read_only = true});
  if (spec.tree) plan.tree = spec.tree->directory;
  plan.map_tree = spec.tree && host.identity.pooled;
  plan.limits.open_files = static_cast<std::uint64_t>(limits.open_files);
  plan.limits.processes = static_cast<std::uint64_t>(limits.pids) + kOwnProcesses;
  plan.limits.file_bytes = static_cast<std::uint64_t>(plan.scratch_bytes);
  plan.group.memory_bytes = host.memory_limit ? limits.memory_bytes : 0;
  plan.group.pids = host.pids_limit ? limits.pids + kOwnProcesses : 0;
  plan.group.cpu_millis = host.cpu_limit ? limits.cpu_millis : 0;
  plan.ports = spec.listener_ports;
  plan.lifetime_ms = spec.lifetime.count();
  add_environment(plan, spec);
  return plan;
}

std::string to_json(const Plan& plan, int indent) {
  using Json = nlohmann::ordered_json;
  Json mounts = Json::array();
  for (const Mount& mount : plan.mounts) {
    Json one{{"kind", name_of(mount.kind)}, {"target", mount.target}};
    if (!mount.source.empty()) one["source"] = mount.source;
    if (mount.kind == Kind::scratch) one["mode"] = mount.mode;
    if (mount.read_only) one["read_only"] = true;
    mounts.push_back(std::move(one));
  }
  const Json all{
      {"host_name", plan.host_name},
      {"identity", {{"uid", plan.identity.uid}, {"gid", plan.identity.gid}, {"inside", kInsideId}, {"pooled", plan.identity.pooled}}},
      {"namespaces", plan.namespaces},
      {"scratch", {{"bytes", plan.scratch_bytes}, {"inodes", plan.scratch_inodes}}},
      {"mounts", std::move(mounts)},
      {"tree", {{"directory", plan.tree}, {"map_owner", plan.map_tree}}},
      {"rlimits",
       {{"core", 1},
        {"nofile", plan.limits.open_files},
        {"nproc", plan.limits.processes},
        {"fsize", plan.limits.file_bytes},
        {"stack", plan.limits.stack_bytes},
        {"sigpending", plan.limits.pending_signals},
        {"msgqueue", plan.limits.queue_bytes}}},
      {"shares",
       {{"inotify_instances", plan.shares.inotify_instances},
        {"inotify_watches", plan.shares.inotify_watches},
        {"terminals", plan.shares.terminals}}},
      {"cgroup", {{"memory_bytes", plan.group.memory_bytes}, {"pids", plan.group.pids}, {"cpu_millis", plan.group.cpu_millis}}},
      {"seccomp", plan.seccomp},
      {"ports", plan.ports},
      {"lifetime_ms", plan.lifetime_ms},
  };
  try {
    return all.dump(indent, ' ', false, Json::error_handler_t::strict);
  } catch (const Json::exception&) {
    throw public_failure(ErrorCode::sandbox_config, "a path of the sandbox's plan is not UTF-8");
  }
}

}  // namespace forge::sandbox::local
