#include "orchestrator/sandbox/local/launcher/start.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "orchestrator/sandbox/local/launcher/drop.h"
#include "orchestrator/sandbox/local/launcher/mounts.h"
#include "orchestrator/sandbox/local/launcher/network.h"
#include "orchestrator/sandbox/local/launcher/step.h"
#include "orchestrator/sandbox/local/launcher/supervisor.h"
#include "orchestrator/sandbox/local/wire.h"

namespace forge::sandbox::local::launcher {
namespace {

// One call for all of them: each namespace is made owned by the new user namespace, and a time namespace would give the job nothing.
constexpr unsigned long long kNamespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
constexpr int kControl = 3;  // what pid 1 keeps
constexpr int kLink = kControl + 1;
// Above every number that the launcher can have been given.
constexpr int kAboveAll = 64;

/// What came with the spec, by role.
struct Attached {
  std::vector<UniqueFd> group_files;
  UniqueFd group_v2;
  UniqueFd filters;
};

Attached sort_out(const Spec& spec, std::vector<UniqueFd> fds) {
  const std::size_t expected = static_cast<std::size_t>(spec.group_files) + (spec.group_v2 ? 1 : 0) + (spec.filters ? 1 : 0);
  if (fds.size() != expected) throw StepFailed("receiving descriptors", EBADMSG);
  Attached attached;
  auto next = fds.begin();
  for (int i = 0; i < spec.group_files; ++i) attached.group_files.push_back(std::move(*next++));
  if (spec.group_v2) attached.group_v2 = std::move(*next++);
  if (spec.filters) attached.filters = std::move(*next++);
  return attached;
}

/// "0" in a v1 `tasks` file moves the writing thread alone, which the kernel does without its global lock: moving another process by
/// number waits for a grace period of many milliseconds.
void join_groups(const std::vector<UniqueFd>& files) {
  for (const UniqueFd& file : files) must(::write(file.get(), "0", 1), "joining a cgroup");
}

void write_file(const std::string& path, std::string_view text) {
  const UniqueFd file(static_cast<int>(must(::open(path.c_str(), O_WRONLY | O_CLOEXEC), "opening " + path)));
  must(::write(file.get(), text.data(), text.size()), "writing " + path);
}

void write_maps(pid_t pid, const Identity& identity) {
  const std::string proc = "/proc/" + std::to_string(pid);
  // Without the right to set groups in our own namespace the kernel wants setgroups denied before a group is mapped.
  if (!identity.pooled) write_file(proc + "/setgroups", "deny");
  write_file(proc + "/uid_map", "0 " + std::to_string(identity.uid) + " 1");
  write_file(proc + "/gid_map", "0 " + std::to_string(identity.gid) + " 1");
}

std::vector<char> read_filters(const UniqueFd& file) {
  if (!file) return {};
  struct stat status {};
  must(::fstat(file.get(), &status), "reading the system call filters");
  std::vector<char> bytes(static_cast<std::size_t>(status.st_size));
  must(::pread(file.get(), bytes.data(), bytes.size(), 0), "reading the system call filters");
  return bytes;
}

/// False when the launcher is gone.
bool hear(int link) {
  char word = 0;
  ssize_t got = -1;
  do {
    got = ::read(link, &word, 1);
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

/// Moves the descriptors to `kControl` and the numbers after it, in order, over whatever is there. Returns the first number after them.
unsigned place(std::vector<int> kept) {
  for (int& fd : kept) fd = static_cast<int>(must(::fcntl(fd, F_DUPFD_CLOEXEC, kAboveAll), "placing descriptors"));
  int next = kControl;
  for (const int fd : kept) must(::dup3(fd, next++, O_CLOEXEC), "placing descriptors");
  return static_cast<unsigned>(next);
}

void tell_ready(unsigned first_passed, unsigned after_passed) {
  std::vector<int> passed;
  for (unsigned fd = first_passed; fd < after_passed; ++fd) passed.push_back(static_cast<int>(fd));
  send_message(kControl, pack(message::kReady), passed);
  for (const int fd : passed) ::close(fd);
}

/// The child's way from the host to pid 1 of a finished sandbox.
[[noreturn]] void become_init(const Spec& spec, const Attached& attached, UniqueFd tree, int control, const UniqueFd& link) {
  const Plan& plan = spec.plan;
  std::vector<UniqueFd> sources = open_sources(plan);
  if (!plan.tree.empty() && !plan.map_tree) tree = clone_whole_tree(plan.tree);
  const std::vector<char> filters = read_filters(attached.filters);
  if (!hear(link.get())) ::_exit(1);  // the maps are written from here on
  become_namespace_root(plan.identity);
  const UniqueFd upper = enter_tree(plan, std::move(sources), std::move(tree));
  must(::sethostname(plan.host_name.data(), plan.host_name.size()), "naming the host");
  raise_loopback();
  const std::vector<UniqueFd> listeners = open_listeners(plan.ports);
  enter_inner_namespace();

  // All that goes on to live is named here; drop_everything() closes the rest, whatever it may be.
  std::vector<int> kept{control, link.get()};
  if (upper) kept.push_back(upper.get());
  for (const UniqueFd& listener : listeners) kept.push_back(listener.get());
  const unsigned after = place(kept);
  drop_everything(plan.limits, filters, after);
  // A launcher that died before the death signal was set would not have been noticed.
  char unused = 0;
  if (::recv(kLink, &unused, 1, MSG_DONTWAIT | MSG_PEEK) == 0) ::_exit(1);
  tell_ready(kLink + 1, after);
  must(::send(kLink, "r", 1, MSG_NOSIGNAL), "reporting to the launcher");
  ::close(kLink);
  supervise(kControl);
}

void report(int control, const StepFailed& failure) {
  send_message(control, pack(message::kFailed, {failure.what(), std::to_string(failure.error())}));
}

[[noreturn]] void run_child(const Spec& spec, const Attached& attached, UniqueFd tree, int control, const UniqueFd& link) {
  try {
    become_init(spec, attached, std::move(tree), control, link);
  } catch (const StepFailed& e) {
    report(control, e);
  } catch (const std::exception& e) {
    send_message(control, pack(message::kFailed, {e.what(), "0"}));
  }
  ::_exit(1);
}

struct Init {
  pid_t pid = -1;
  UniqueFd pid_fd;
};

/// clone3 and not unshare: the child is pid 1 of its namespace from its first instruction, and under v2 a member of its group too, so that
/// no moment exists in which a limit does not hold.
Init clone_init(const Attached& attached) {
  int pid_fd = -1;
  clone_args args{};
  args.flags = kNamespaces | CLONE_PIDFD;
  args.pidfd = reinterpret_cast<std::uint64_t>(&pid_fd);
  args.exit_signal = SIGCHLD;
  if (attached.group_v2) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<std::uint64_t>(attached.group_v2.get());
  }
  const long pid = must(::syscall(SYS_clone3, &args, sizeof args), "making the namespaces");
  return {static_cast<pid_t>(pid), UniqueFd(pid > 0 ? pid_fd : -1)};
}

void map_tree(int tree, pid_t init) {
  const std::string path = "/proc/" + std::to_string(init) + "/ns/user";
  const UniqueFd map(static_cast<int>(must(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "opening the user namespace")));
  map_owner(tree, map.get());
}

/// Waits for the end of pid 1, of Forge, or of the time; then ends pid 1, and with it all in its namespace, and reaps it.
int watch(const Init& init, const UniqueFd& control, const UniqueFd& link, std::int64_t lifetime_ms) {
  bool ready = false;
  int code = kExitInitEnded;
  auto deadline = SteadyClock::time_point::max();
  while (true) {
    std::array<pollfd, 3> polled{pollfd{init.pid_fd.get(), POLLIN, 0}, pollfd{control.get(), POLLRDHUP, 0},
                                 pollfd{ready ? -1 : link.get(), POLLIN, 0}};
    const int count = ::poll(polled.data(), polled.size(), Stop({}, deadline).poll_timeout_ms());
    if (count < 0) continue;
    if (polled[0].revents != 0) break;
    if (polled[1].revents != 0) code = kExitClosed;
    if (count == 0) code = kExitLifetime;
    if (polled[1].revents != 0 || count == 0) break;
    ready = true;  // the link spoke, or its other end is gone and pid 1 ends any moment
    if (lifetime_ms > 0) deadline = SteadyClock::now() + std::chrono::milliseconds(lifetime_ms);
  }
  // Pid 1 is our child and unreaped: its number cannot have been given away. With it the kernel kills its namespace and waits for it.
  ::kill(init.pid, SIGKILL);
  while (::waitpid(init.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return code;
}

}  // namespace

int start(const Spec& spec, std::vector<UniqueFd> fds, const UniqueFd& control) {
  const Plan& plan = spec.plan;
  SocketPair link = make_socketpair(SOCK_STREAM);
  Init init;
  {
    Attached attached = sort_out(spec, std::move(fds));
    join_groups(attached.group_files);
    UniqueFd tree;
    if (plan.map_tree) tree = clone_tree(plan.tree);
    // Opened by us and inherited: the child will not be allowed to look into the service's private directories, nor to map owners.
    init = clone_init(attached);
    if (init.pid == 0) {
      link.ours.reset();
      run_child(spec, attached, std::move(tree), control.get(), link.theirs);
    }
    link.theirs.reset();
    write_maps(init.pid, plan.identity);
    if (plan.map_tree) map_tree(tree.get(), init.pid);
  }
  const std::array<int, 1> passed{init.pid_fd.get()};
  send_message(control.get(), pack(message::kInit), passed);
  must(::send(link.ours.get(), "g", 1, MSG_NOSIGNAL), "releasing pid 1");
  return watch(init, control, link.ours, plan.lifetime_ms);
}

}  // namespace forge::sandbox::local::launcher
