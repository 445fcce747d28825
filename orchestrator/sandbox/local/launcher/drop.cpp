#include "orchestrator/sandbox/local/launcher/drop.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <cstring>

#include "orchestrator/base/fd.h"
#include "orchestrator/sandbox/local/launcher/step.h"

namespace forge::sandbox::local::launcher {
namespace {

constexpr int kLastCapability = 63;

void write_proc(const char* path, std::string_view text) {
  const UniqueFd file(static_cast<int>(must(::open(path, O_WRONLY | O_CLOEXEC), std::string("opening ") + path)));
  must(::write(file.get(), text.data(), text.size()), std::string("writing ") + path);
}

/// A hard limit can be missing from us even as root (CAP_SYS_RESOURCE): then the lower one of both holds.
void limit(int resource, std::uint64_t value, std::string_view what) {
  rlimit now{};
  must(::getrlimit(static_cast<__rlimit_resource>(resource), &now), what);
  const rlim_t most = std::min<rlim_t>(value, now.rlim_max);
  const rlimit wanted{most, most};
  must(::setrlimit(static_cast<__rlimit_resource>(resource), &wanted), what);
}

void set_limits(const ResourceLimits& limits) {
  // Not 0: the kernel hands the dump to a program of the host, run as root, whatever the limit is, when the host's core_pattern names one.
  // 1 is its word for "not even then", and too small for a file. The system call filter keeps a job from lowering it.
  limit(RLIMIT_CORE, 1, "limiting core files");
  limit(RLIMIT_NOFILE, limits.open_files, "limiting open files");
  limit(RLIMIT_FSIZE, limits.file_bytes, "limiting file sizes");
  limit(RLIMIT_STACK, limits.stack_bytes, "limiting stacks");
  limit(RLIMIT_NPROC, limits.processes, "limiting processes");
  limit(RLIMIT_SIGPENDING, limits.pending_signals, "limiting queued signals");
  limit(RLIMIT_MSGQUEUE, limits.queue_bytes, "limiting message queues");
}

/// The bounding set first, while CAP_SETPCAP is still there to do it with. Numbers that this kernel does not know answer EINVAL.
void drop_capabilities() {
  for (int capability = 0; capability <= kLastCapability; ++capability) {
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0 && errno != EINVAL) throw StepFailed("dropping the bounding set", errno);
  }
  must(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "clearing ambient capabilities");
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> none{};
  must(::syscall(SYS_capset, &header, none.data()), "dropping capabilities");
}

void install_filters(std::span<const char> filters) {
  while (!filters.empty()) {
    std::uint32_t bytes = 0;
    if (filters.size() < sizeof bytes) throw StepFailed("reading the system call filters", EINVAL);
    std::memcpy(&bytes, filters.data(), sizeof bytes);
    filters = filters.subspan(sizeof bytes);
    if (bytes > filters.size() || bytes % sizeof(sock_filter) != 0) throw StepFailed("reading the system call filters", EINVAL);
    std::vector<sock_filter> program(bytes / sizeof(sock_filter));
    std::memcpy(program.data(), filters.data(), bytes);
    filters = filters.subspan(bytes);
    const sock_fprog loaded{static_cast<unsigned short>(program.size()), program.data()};
    must(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &loaded), "installing the system call filter");
  }
}

}  // namespace

void become_namespace_root(const Identity& identity) {
  // A plain user may not leave its groups in a user namespace; inside they all show as nobody's.
  if (identity.pooled) must(::setgroups(0, nullptr), "leaving supplementary groups");
  must(::syscall(SYS_setresgid, 0, 0, 0), "becoming the namespace's group");
  must(::syscall(SYS_setresuid, 0, 0, 0), "becoming the namespace's user");
  // The change of identity made /proc/self unwritable for ourselves; the inner namespace's maps are still to be written.
  must(::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), "keeping /proc/self");
}

void enter_inner_namespace() {
  must(::unshare(CLONE_NEWUSER), "making the inner user namespace");
  write_proc("/proc/self/setgroups", "deny");
  const std::string map = std::to_string(kInsideId) + " 0 1";
  write_proc("/proc/self/uid_map", map);
  write_proc("/proc/self/gid_map", map);
  must(::syscall(SYS_setresgid, kInsideId, kInsideId, kInsideId), "becoming the job's group");
  must(::syscall(SYS_setresuid, kInsideId, kInsideId, kInsideId), "becoming the job's user");
}

void drop_everything(const ResourceLimits& limits, std::span<const char> filters, unsigned first_closed) {
  // The raw calls below act on this one thread, which is all there is; glibc's wrappers would signal others.
  must(::syscall(SYS_close_range, first_closed, UINT_MAX, 0), "closing descriptors");
  if (::setsid() < 0 && errno != EPERM) throw StepFailed("making a session", errno);  // EPERM: it leads one already
  ::umask(022);
  set_limits(limits);
  drop_capabilities();
  must(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "setting no_new_privs");
  // Nobody inside may look into pid 1 or its keepers, or reach the host through /proc/1/exe.
  must(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "hiding pid 1");
  must(::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "binding to the launcher's life");
  // Last: several of the calls above are not on the list.
  install_filters(filters);
}

}  // namespace forge::sandbox::local::launcher
