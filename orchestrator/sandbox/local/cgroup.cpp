#include "orchestrator/sandbox/local/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/sandbox/local/cgroup_files.h"

namespace forge::sandbox::local {
namespace {

constexpr std::int64_t kPeriodUs = 100'000;
constexpr std::int64_t kUsPerMilli = kPeriodUs / 1000;

Error no_limit(const std::string& what, const std::string& why) {
  return public_failure(ErrorCode::sandbox_unavailable, "the " + what + " cannot be enforced here: " + why);
}

/// Writes and reads back. The kernel rounds memory down to pages.
void set_limit(const std::string& file, std::int64_t value, std::int64_t tolerance, const std::string& what) {
  if (const int error = write_control(file, std::to_string(value)); error != 0) throw no_limit(what, file + ": " + errno_text(error));
  const std::int64_t held = read_number(file).value_or(-1);
  if (held > value || held < value - tolerance) throw no_limit(what, file + " holds " + std::to_string(held));
}

constexpr std::int64_t kPage = 64 << 10;  // the largest page size there is

/// A new group's memsw limit is above every memory limit, so that the memory limit comes first; the other order is refused.
void limit_memory_v1(const std::string& directory, std::int64_t bytes) {
  set_limit(directory + "/memory.limit_in_bytes", bytes, kPage, "memory limit");
  const std::string with_swap = directory + "/memory.memsw.limit_in_bytes";
  if (::access(with_swap.c_str(), F_OK) == 0) return set_limit(with_swap, bytes, kPage, "swap limit");
  if (has_swap()) throw no_limit("swap limit", "the kernel does not account for swap (boot option swapaccount=1)");
}

void limit_cpu_v1(const std::string& directory, std::int64_t millis) {
  set_limit(directory + "/cpu.cfs_period_us", kPeriodUs, 0, "cpu limit");
  set_limit(directory + "/cpu.cfs_quota_us", millis * kUsPerMilli, 0, "cpu limit");
}

void limit_v2(const std::string& directory, const GroupLimits& limits) {
  if (limits.memory_bytes > 0) {
    set_limit(directory + "/memory.max", limits.memory_bytes, kPage, "memory limit");
    if (::access((directory + "/memory.swap.max").c_str(), F_OK) == 0) {
      set_limit(directory + "/memory.swap.max", 0, 0, "swap limit");
    } else if (has_swap()) {
      throw no_limit("swap limit", "the kernel does not account for swap (boot option swapaccount=1)");
    }
  }
  if (limits.pids > 0) set_limit(directory + "/pids.max", limits.pids, 0, "process limit");
  if (limits.cpu_millis == 0) return;
  const std::string quota = std::to_string(limits.cpu_millis * kUsPerMilli) + " " + std::to_string(kPeriodUs);
  const int error = write_control(directory + "/cpu.max", quota);
  if (error != 0 || trim(read_control(directory + "/cpu.max")) != quota) throw no_limit("cpu limit", "cpu.max: " + errno_text(error));
}

void make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) < 0 && errno != EEXIST) throw no_limit("limits", "making " + path + ": " + errno_text(errno));
}

UniqueFd open_control(const std::string& path, int flags) { return checked_fd(::open(path.c_str(), flags | O_CLOEXEC), "opening " + path); }

}  // namespace

// Under v1 the launcher joins by itself before it makes the namespaces, so that everything is born limited; under v2 pid 1 is born into
// the directory, and the launcher stays outside.
std::unique_ptr<Cgroup> Cgroup::make(const CgroupLayout& layout, const std::string& name, const GroupLimits& limits) {
  std::unique_ptr<Cgroup> group(new Cgroup);
  group->limits_ = limits;
  const auto add = [&](const std::string& parent) {
    group->directories_.push_back(parent + "/" + name);
    make_directory(group->directories_.back());
    return group->directories_.back();
  };
  std::string memory;
  if (layout.kind == CgroupKind::v2) {
    memory = add(layout.unified);
    limit_v2(memory, limits);
  } else {
    if (limits.memory_bytes > 0) limit_memory_v1(memory = add(layout.memory), limits.memory_bytes);
    if (limits.pids > 0) set_limit(add(layout.pids) + "/pids.max", limits.pids, 0, "process limit");
    if (limits.cpu_millis > 0) limit_cpu_v1(add(layout.cpu), limits.cpu_millis);
    // One hierarchy may bear two controllers ("cpu,pids"): its directory is joined once.
    std::sort(group->directories_.begin(), group->directories_.end());
    group->directories_.erase(std::unique(group->directories_.begin(), group->directories_.end()), group->directories_.end());
    for (const std::string& directory : group->directories_) group->join_.push_back(open_control(directory + "/tasks", O_WRONLY));
    if (!layout.unified.empty()) add(layout.unified);
  }
  if (!memory.empty()) {
    const bool v2 = layout.kind == CgroupKind::v2;
    group->memory_events_ = open_control(memory + (v2 ? "/memory.events" : "/memory.oom_control"), O_RDONLY);
    group->memory_usage_ = open_control(memory + (v2 ? "/memory.current" : "/memory.usage_in_bytes"), O_RDONLY);
  }
  if (!layout.unified.empty()) {
    group->birth_ = open_control(layout.unified + "/" + name, O_RDONLY | O_DIRECTORY);
    group->kill_file_ = layout.unified + "/" + name + "/cgroup.kill";
  }
  return group;
}

std::vector<int> Cgroup::join_files() const {
  std::vector<int> files;
  for (const UniqueFd& file : join_) files.push_back(file.get());
  return files;
}

std::int64_t Cgroup::out_of_memory_kills() const {
  if (!memory_events_) return 0;
  return number_after(read_from_start(memory_events_.get()), "oom_kill ").value_or(0);
}

std::int64_t Cgroup::memory_bytes() const { return memory_usage_ ? number_after(read_from_start(memory_usage_.get()), "").value_or(0) : 0; }

bool Cgroup::kill() {
  if (kill_file_.empty()) return false;
  killed_ = true;
  return write_control(kill_file_, "1") == 0;
}

bool Cgroup::empty() const {
  return std::all_of(directories_.begin(), directories_.end(),
                     [](const std::string& directory) { return trim(read_control(directory + "/cgroup.procs")).empty(); });
}

bool Cgroup::remove() {
  birth_.reset();
  std::erase_if(directories_, [](const std::string& directory) { return ::rmdir(directory.c_str()) == 0 || errno == ENOENT; });
  return directories_.empty();
}

std::vector<std::string> parents_of(const CgroupLayout& layout) {
  std::vector<std::string> parents;
  for (const std::string* parent : {&layout.memory, &layout.pids, &layout.cpu, &layout.unified}) {
    if (!parent->empty() && std::find(parents.begin(), parents.end(), *parent) == parents.end()) parents.push_back(*parent);
  }
  return parents;
}

CgroupLayout instance_layout(const CgroupLayout& layout, const std::string& instance) {
  CgroupLayout below = layout;
  for (std::string* parent : {&below.memory, &below.pids, &below.cpu, &below.unified}) {
    if (!parent->empty()) *parent += "/forge-" + instance;
  }
  return below;
}

void make_instance_groups(const CgroupLayout& layout, const std::string& instance) {
  const CgroupLayout below = instance_layout(layout, instance);
  // Twice under v2: the instance's directory has to be offered the controllers, and then to offer them to its groups.
  if (layout.kind == CgroupKind::v2) hand_down_controllers(layout.unified);
  for (const std::string& parent : parents_of(below)) make_directory(parent);
  if (layout.kind == CgroupKind::v2) hand_down_controllers(below.unified);
}

bool remove_instance_groups(const std::vector<std::string>& parents, const Stop& stop) {
  bool clean = true;
  for (const std::string& parent : parents) clean = remove_group_tree(parent, stop) && clean;
  return clean;
}

}  // namespace forge::sandbox::local
