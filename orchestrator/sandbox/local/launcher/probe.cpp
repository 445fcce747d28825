#include "orchestrator/sandbox/local/launcher/probe.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>

#include "orchestrator/base/fd.h"
#include "orchestrator/sandbox/local/launcher/step.h"

extern "C" {
int mount(const char* source, const char* target, const char* type, unsigned long flags, const void* data) noexcept;
}

namespace forge::sandbox::local::launcher {
namespace {

constexpr unsigned long kPrivateAll = (1UL << 18) | (1UL << 14);  // MS_PRIVATE | MS_REC

/// Runs `attempt` in a child, which may leave its namespaces in any state. Returns the errno that it failed with.
int try_in_child(const std::function<void()>& attempt) {
  const pid_t pid = ::fork();
  if (pid < 0) return errno;
  if (pid == 0) {
    try {
      attempt();
    } catch (const StepFailed& e) {
      ::_exit(e.error());
    }
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

void print(const char* name, int error, const std::string& detail = {}) { std::printf("%s\t%d\t%s\n", name, error, detail.c_str()); }

void write_file(const char* path, const std::string& text) {
  const UniqueFd file(static_cast<int>(must(::open(path, O_WRONLY | O_CLOEXEC), path)));
  must(::write(file.get(), text.data(), text.size()), path);
}

/// A user namespace whose root is the caller, and `more` namespaces with it.
void enter(int more) {
  const std::string uid = "0 " + std::to_string(::geteuid()) + " 1";
  const std::string gid = "0 " + std::to_string(::getegid()) + " 1";
  must(::unshare(CLONE_NEWUSER | more), "unshare");
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", uid);
  write_file("/proc/self/gid_map", gid);
}

void enter_mounts(int more = 0) {
  enter(CLONE_NEWNS | more);
  must(::mount(nullptr, "/", nullptr, kPrivateAll, nullptr), "private");
}

void mount_scratch() { must(::mount("tmpfs", "/usr", "tmpfs", 0, "size=1m"), "tmpfs"); }

void try_overlay() {
  enter_mounts();
  mount_scratch();
  must(::chdir("/usr"), "chdir");
  for (const char* name : {"lower", "lower/gone", "upper", "work", "merged"}) must(::mkdir(name, 0755), name);
  must(
      ::mount("overlay", "merged", "overlay", 0, "lowerdir=lower,upperdir=upper,workdir=work,userxattr,redirect_dir=nofollow,metacopy=off"),
      "overlay");
  // A directory made anew needs the opaque mark, an extended attribute that memory file systems took only lately (kernel 6.6).
  must(::rmdir("merged/gone"), "rmdir");
  must(::mkdir("merged/gone", 0755), "mkdir");
  char mark = 0;
  must(::getxattr("upper/gone", "user.overlay.opaque", &mark, 1), "opaque");
}

void try_proc() {
  enter_mounts(CLONE_NEWPID);
  const int error = try_in_child([] { must(::mount("proc", "/proc", "proc", 0, "hidepid=invisible"), "proc"); });
  if (error != 0) throw StepFailed("proc", error);
}

void try_terminals() {
  enter_mounts();
  must(::mount("devpts", "/usr", "devpts", 0, "newinstance,ptmxmode=0666"), "devpts");
}

void try_mount_calls() {
  enter_mounts();
  const UniqueFd tree(static_cast<int>(must(::syscall(SYS_open_tree, AT_FDCWD, "/usr", OPEN_TREE_CLONE | AT_RECURSIVE), "open_tree")));
  mount_attr attr{};
  attr.attr_set = MOUNT_ATTR_RDONLY;
  must(::syscall(SYS_mount_setattr, tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr), "mount_setattr");
}

void try_id_map(const char* directory) {
  Pipe ready = make_pipe();
  Pipe done = make_pipe();
  const pid_t holder = ::fork();
  if (holder == 0) {
    // Its own copy would keep the pipe open: a parent that failed has to be seen as its end.
    done.write.reset();
    char byte = 0;
    if (::unshare(CLONE_NEWUSER) == 0 && ::write(ready.write.get(), "r", 1) == 1) must(::read(done.read.get(), &byte, 1), "wait");
    ::_exit(0);
  }
  ready.write.reset();
  char byte = 0;
  if (::read(ready.read.get(), &byte, 1) != 1) throw StepFailed("unshare", EPERM);
  const std::string proc = "/proc/" + std::to_string(holder);
  write_file((proc + "/uid_map").c_str(), "0 2000000 1");
  write_file((proc + "/gid_map").c_str(), "0 2000000 1");
  const UniqueFd map(static_cast<int>(must(::open((proc + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC), "namespace")));
  const UniqueFd tree(static_cast<int>(must(::syscall(SYS_open_tree, AT_FDCWD, directory, OPEN_TREE_CLONE), "open_tree")));
  mount_attr attr{};
  attr.attr_set = MOUNT_ATTR_IDMAP;
  attr.userns_fd = static_cast<unsigned>(map.get());
  const long result = ::syscall(SYS_mount_setattr, tree.get(), "", AT_EMPTY_PATH, &attr, sizeof attr);
  const int error = errno;
  [[maybe_unused]] const ssize_t told = ::write(done.write.get(), "d", 1);
  if (result < 0) throw StepFailed("mount_setattr", error);
}

void try_seccomp() {
  const unsigned action = SECCOMP_RET_ERRNO;
  must(::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action), "seccomp");
}

}  // namespace

int probe(const char* directory) {
  std::setvbuf(stdout, nullptr, _IOFBF, 1 << 16);
  print("user", try_in_child([] { enter(0); }));
  print("mount", try_in_child([] {
          enter_mounts();
          mount_scratch();
        }));
  print("pid", try_in_child([] { enter(CLONE_NEWPID); }));
  print("network", try_in_child([] { enter(CLONE_NEWNET); }));
  print("ipc", try_in_child([] { enter(CLONE_NEWIPC); }));
  print("uts", try_in_child([] { enter(CLONE_NEWUTS); }));
  print("cgroup", try_in_child([] { enter(CLONE_NEWCGROUP); }));
  print("mount_calls", try_in_child(try_mount_calls));
  print("overlay", try_in_child(try_overlay));
  print("proc", try_in_child(try_proc));
  print("terminals", try_in_child(try_terminals));
  print("seccomp", try_in_child(try_seccomp));
  print("id_map", try_in_child([directory] { try_id_map(directory); }));
  const long landlock = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  print("landlock", landlock < 0 ? errno : 0, landlock < 0 ? "" : "ABI " + std::to_string(landlock));
  const UniqueFd loop(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  print("loop", loop ? 0 : errno);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace forge::sandbox::local::launcher
