#include "orchestrator/base/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstring>
#include <string_view>

#include "orchestrator/base/error.h"

// The child runs in our memory until it calls execve: no sanitizer may instrument it, and it calls nothing but raw system calls.
#define FORGE_CHILD_SIDE __attribute__((no_sanitize("address", "thread", "undefined"), noinline))

// glibc's clone() under its other name: ThreadSanitizer takes a call of `clone` for a fork, and marks the memory that we share.
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);  // NOLINT(bugprone-reserved-identifier)

namespace forge {
namespace {

constexpr std::size_t kChildStackBytes = 64 << 10;
constexpr int kLastSignal = 64;

struct Placement {
  int ours;
  int inside;
  int parked;  // where the child keeps `ours` while the numbers inside are filled
};

/// Descriptor numbers, both included.
struct Gap {
  unsigned first;
  unsigned last;
};

/// Where the child stood when a system call failed.
enum class ChildStep { session, descriptors, directory, memory_limit, execute };

/// All the child needs, laid out before it is born, so that it never allocates; what went wrong comes back through the same memory.
struct ChildPlan {
  char* const* argv = nullptr;
  char* const* env = nullptr;
  const char* cwd = nullptr;
  Placement* placements = nullptr;
  std::size_t placement_count = 0;
  const Gap* gaps = nullptr;
  std::size_t gap_count = 0;
  int first_free = 0;  // above every number inside
  bool new_session = false;
  const rlimit* memory_limit = nullptr;
  volatile int failed_errno = 0;
  volatile ChildStep step = ChildStep::session;
};

/// SIG_DFL for every signal and an empty mask: what the program would find in a fresh shell. The all-zero kernel structure means SIG_DFL.
FORGE_CHILD_SIDE void reset_signals() {
  const std::array<unsigned long, 4> default_action{};
  for (int number = 1; number <= kLastSignal; ++number)
    ::syscall(SYS_rt_sigaction, number, default_action.data(), nullptr, sizeof(unsigned long));
  const unsigned long nothing = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &nothing, nullptr, sizeof nothing);
}

/// Parks every source above the numbers inside first: a source may bear the number of another target.
FORGE_CHILD_SIDE bool place_descriptors(ChildPlan* plan) {
  for (std::size_t i = 0; i < plan->placement_count; ++i) {
    Placement* one = plan->placements + i;
    one->parked = static_cast<int>(::syscall(SYS_fcntl, one->ours, F_DUPFD_CLOEXEC, plan->first_free));
    if (one->parked < 0) return false;
  }
  for (std::size_t i = 0; i < plan->placement_count; ++i) {
    const Placement* one = plan->placements + i;
    if (::syscall(SYS_dup3, one->parked, one->inside, 0) < 0) return false;
  }
  for (std::size_t i = 0; i < plan->gap_count; ++i) {
    if (::syscall(SYS_close_range, plan->gaps[i].first, plan->gaps[i].last, CLOSE_RANGE_CLOEXEC) < 0) return false;
  }
  return true;
}

/// Everything between birth and execve, in this order: the session before anything can be signalled, the memory limit last but the
/// signals, because it already counts for us.
FORGE_CHILD_SIDE bool become(ChildPlan* plan) {
  plan->step = ChildStep::session;
  if (plan->new_session && ::syscall(SYS_setsid) < 0) return false;
  plan->step = ChildStep::descriptors;
  if (!place_descriptors(plan)) return false;
  plan->step = ChildStep::directory;
  if (plan->cwd != nullptr && ::syscall(SYS_chdir, plan->cwd) < 0) return false;
  plan->step = ChildStep::memory_limit;
  if (plan->memory_limit != nullptr && ::syscall(SYS_prlimit64, 0, RLIMIT_AS, plan->memory_limit, nullptr) < 0) return false;
  reset_signals();
  plan->step = ChildStep::execute;
  return ::syscall(SYS_execve, plan->argv[0], plan->argv, plan->env) >= 0;
}

FORGE_CHILD_SIDE int child_main(void* argument) {
  auto* plan = static_cast<ChildPlan*>(argument);
  become(plan);
  plan->failed_errno = errno;
  ::syscall(SYS_exit_group, 127);
  return 127;
}

/// Blocks every signal of this thread while it lives: a handler of ours must not run in the child, which shares our memory.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

/// Pointers for execve; valid as long as `texts`. A NUL would cut an argument short without a word.
std::vector<char*> c_strings(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    if (text.find('\0') != std::string::npos)
      throw Error(ErrorCode::invalid_argument, "an argument or variable of a command holds a NUL byte");
    pointers.push_back(const_cast<char*>(text.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// The asked descriptors, and /dev/null for those of 0, 1, 2 that nobody asked for; sorted by the number inside.
std::vector<Placement> placements_of(const SpawnOptions& options, int null_fd) {
  std::vector<Placement> all;
  for (const auto& [ours, inside] : options.fds) all.push_back({ours, inside, -1});
  for (int standard = 0; standard <= 2; ++standard) {
    const bool asked = std::any_of(options.fds.begin(), options.fds.end(), [&](const auto& pair) { return pair.second == standard; });
    if (!asked) all.push_back({null_fd, standard, -1});
  }
  std::sort(all.begin(), all.end(), [](const Placement& a, const Placement& b) { return a.inside < b.inside; });
  const auto same = [](const Placement& a, const Placement& b) { return a.inside == b.inside; };
  if (std::adjacent_find(all.begin(), all.end(), same) != all.end() || all.front().inside < 0)
    throw Error(ErrorCode::internal, "descriptors of a command are numbered twice or below zero");
  return all;
}

/// Every number that is not one of the (sorted) numbers inside.
std::vector<Gap> gaps_between(const std::vector<Placement>& placements) {
  std::vector<Gap> gaps;
  unsigned next = 0;
  for (const Placement& one : placements) {
    const auto taken = static_cast<unsigned>(one.inside);
    if (taken > next) gaps.push_back({next, taken - 1});
    next = taken + 1;
  }
  gaps.push_back({next, UINT_MAX});
  return gaps;
}

/// The failed step in words, for the error that the caller sees.
std::string describe(ChildStep step, const SpawnOptions& options) {
  switch (step) {
    case ChildStep::session: return "making a session for '" + options.argv[0] + "'";
    case ChildStep::descriptors: return "placing descriptors for '" + options.argv[0] + "'";
    case ChildStep::directory: return "entering the directory '" + options.cwd + "'";
    case ChildStep::memory_limit: return "limiting the memory of '" + options.argv[0] + "'";
    case ChildStep::execute: return "executing '" + options.argv[0] + "'";
  }
  return "starting a command";
}

/// For children whose end interests nobody: the destructor and a failed start. Must not throw.
void reap_silently(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Exit exit_of(int status) {
  if (WIFSIGNALED(status)) return {.code = {}, .signal = WTERMSIG(status)};
  return {.code = WEXITSTATUS(status), .signal = {}};
}

Exit reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw system_failure("reaping a child", errno);
  }
  return exit_of(status);
}

}  // namespace

Child Child::spawn(const SpawnOptions& options) {
  if (options.argv.empty() || !options.argv[0].starts_with('/'))
    throw Error(ErrorCode::internal, "a command needs an absolute path as its first argument");
  // All that can fail or allocate happens here, before there is a child.
  const UniqueFd null_fd = checked_fd(::open("/dev/null", O_RDWR | O_CLOEXEC), "opening /dev/null");
  const std::vector<char*> argv = c_strings(options.argv);
  const std::vector<char*> env = c_strings(options.env);
  std::vector<Placement> placements = placements_of(options, null_fd.get());
  const std::vector<Gap> gaps = gaps_between(placements);
  const rlimit memory_limit{options.memory_limit_bytes.value_or(0), options.memory_limit_bytes.value_or(0)};

  ChildPlan plan;
  plan.argv = argv.data();
  plan.env = env.data();
  plan.cwd = options.cwd.empty() ? nullptr : options.cwd.c_str();
  plan.placements = placements.data();
  plan.placement_count = placements.size();
  plan.gaps = gaps.data();
  plan.gap_count = gaps.size();
  plan.first_free = placements.back().inside + 1;
  plan.new_session = options.new_session;
  plan.memory_limit = options.memory_limit_bytes ? &memory_limit : nullptr;

  std::vector<char> stack(kChildStackBytes);
  int pid_fd = -1;
  pid_t pid = -1;
  int clone_errno = 0;
  {
    const SignalsBlocked blocked;
    // CLONE_VFORK: this thread stands still until the child has its own memory or is gone, so `plan` and `stack` outlive its use of them.
    pid = ::__clone(child_main, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &plan, &pid_fd);
    clone_errno = errno;
  }
  if (pid < 0) throw system_failure("starting '" + options.argv[0] + "'", clone_errno);
  UniqueFd owned(pid_fd);
  if (plan.failed_errno != 0) {
    reap_silently(pid);
    throw system_failure(describe(plan.step, options), plan.failed_errno);
  }
  return Child(pid, std::move(owned), options.new_session);
}

Child& Child::operator=(Child&& other) noexcept {
  if (this == &other) return *this;
  Child old(std::move(*this));  // its destructor ends what we had
  pid_ = other.pid_;
  pid_fd_ = std::move(other.pid_fd_);
  group_ = other.group_;
  exit_ = other.exit_;
  return *this;
}

Child::~Child() {
  if (!pid_fd_ || exit_) return;
  signal(SIGKILL);
  reap_silently(pid_);
}

Exit Child::wait(const Stop& stop) {
  if (exit_) return *exit_;
  wait_ready(pid_fd_.get(), POLLIN, stop);
  exit_ = reap(pid_);
  return *exit_;
}

Exit Child::terminate(std::chrono::milliseconds grace) {
  if (exit_) return *exit_;
  signal(SIGTERM);
  const auto until = SteadyClock::now() + grace;
  pollfd ended{pid_fd_.get(), POLLIN, 0};
  while (SteadyClock::now() < until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - SteadyClock::now());
    if (::poll(&ended, 1, static_cast<int>(std::max<long long>(left.count(), 0))) > 0) break;
  }
  // Also when the leader went in time: until it is reaped its group's number is still ours, and others may live in the group.
  signal(SIGKILL);
  exit_ = reap(pid_);
  return *exit_;
}

void Child::signal(int number) {
  if (exit_ || !pid_fd_) return;
  // Safe by number: the child is not reaped yet, so neither its pid nor its group can belong to others.
  if (group_) {
    ::kill(-pid_, number);
  } else {
    ::syscall(SYS_pidfd_send_signal, pid_fd_.get(), number, nullptr, 0);
  }
}

UniqueFd open_process(pid_t pid) {
  // The wrapper of glibc 2.36 is declared without C linkage.
  return checked_fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)), "opening process " + std::to_string(pid));
}

std::optional<unsigned long long> process_start_ticks(pid_t pid) {
  const UniqueFd file(::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  std::array<char, 4096> buffer{};
  const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
  if (got <= 0) return {};
  std::string_view text(buffer.data(), static_cast<std::size_t>(got));
  // The name in parentheses may hold anything, also blanks and parentheses; field 3 follows the last one, start time is field 22.
  const auto name_end = text.rfind(") ");
  if (name_end == std::string_view::npos) return {};
  text.remove_prefix(name_end + 2);
  for (int field = 3; field < 22; ++field) {
    const auto blank = text.find(' ');
    if (blank == std::string_view::npos) return {};
    text.remove_prefix(blank + 1);
  }
  unsigned long long ticks = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), ticks).ec != std::errc()) return {};
  return ticks;
}

}  // namespace forge
