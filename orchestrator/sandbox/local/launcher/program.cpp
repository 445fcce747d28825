#include "orchestrator/sandbox/local/launcher/program.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>

#include "orchestrator/base/fd.h"
#include "orchestrator/sandbox/local/launcher/step.h"
#include "orchestrator/sandbox/local/plan.h"

namespace forge::sandbox::local::launcher {
namespace {

constexpr std::array<const char*, 3> kSearched{"/usr/local/bin/", "/usr/bin/", "/bin/"};
constexpr int kLastSignal = 64;
constexpr int kFirstSpare = 10;
constexpr std::size_t kFirstArgument = 3;  // after flags, directory and count

/// Laid out before the child is born: it shares our memory until it executes, and so allocates nothing.
struct Start {
  std::vector<std::string> programs;  ///< candidates, tried in order
  std::vector<char*> argv;
  std::vector<char*> env;
  const char* cwd = nullptr;
  std::array<int, 3> streams{};
  rlimit processes{};
  volatile int error = 0;
  const char* volatile step = nullptr;
};

Start lay_out(const Packet& request) {
  const std::vector<std::string>& fields = request.fields;
  const auto count = fields.size() < kFirstArgument ? std::nullopt : number_in(fields[2]);
  if (!count || *count < 1 || static_cast<std::size_t>(*count) > fields.size() - kFirstArgument)
    throw StepFailed("reading a request", EINVAL);
  Start start;
  start.cwd = fields[1].c_str();
  for (std::size_t i = kFirstArgument; i < fields.size(); ++i) {
    auto& list = i < kFirstArgument + static_cast<std::size_t>(*count) ? start.argv : start.env;
    list.push_back(const_cast<char*>(fields[i].c_str()));
  }
  start.argv.push_back(nullptr);
  start.env.push_back(nullptr);
  const std::string& name = fields[kFirstArgument];
  if (name.find('/') != std::string::npos) {
    start.programs.push_back(name);
  } else {
    for (const char* directory : kSearched) start.programs.push_back(directory + name);
  }
  return start;
}

void reset_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number <= kLastSignal; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// First above the numbers inside, so that no source is overwritten before it was placed.
bool place_streams(const Start& start) {
  std::array<int, 3> parked{};
  for (int i = 0; i < 3; ++i) {
    const int source = start.streams[static_cast<std::size_t>(i)];
    parked[static_cast<std::size_t>(i)] = source < 0 ? ::open("/dev/null", O_RDWR | O_CLOEXEC) : ::fcntl(source, F_DUPFD, kFirstSpare);
  }
  for (int i = 0; i < 3; ++i) {
    if (::dup2(parked[static_cast<std::size_t>(i)], i) < 0) return false;
  }
  return ::syscall(SYS_close_range, 3, UINT_MAX, 0) == 0;
}

void become(Start& start) {
  start.step = "placing descriptors";
  ::setsid();
  if (!place_streams(start)) return;
  start.step = "entering the directory";
  if (::chdir(start.cwd) < 0) return;
  start.step = "finding the program";
  ::setrlimit(RLIMIT_NPROC, &start.processes);
  reset_signals();
  // As a shell does: "not there" in one directory does not hide "not allowed" in another.
  int worst = ENOENT;
  for (const std::string& program : start.programs) {
    ::execve(program.c_str(), start.argv.data(), start.env.data());
    if (errno != ENOENT && errno != ENOTDIR) worst = errno;
  }
  errno = worst;
}

}  // namespace

pid_t start_program(const Packet& request, int in, int out, int err) {
  Start start = lay_out(request);
  // Lower than ours by what we need ourselves; the limit cannot be raised again without a capability.
  must(::getrlimit(RLIMIT_NPROC, &start.processes), "reading the process limit");
  start.processes.rlim_cur = start.processes.rlim_max = std::max<rlim_t>(start.processes.rlim_cur, kOwnProcesses + 1) - kOwnProcesses;
  start.streams = {in, out, err < 0 ? out : err};
  // Not fork: the child only places descriptors and executes, and what went wrong comes back through the shared memory.
  const pid_t pid = ::vfork();
  if (pid == 0) {
    become(start);
    start.error = errno;
    ::_exit(127);
  }
  must(pid, "starting a command");
  if (start.error == 0) return pid;
  ::waitpid(pid, nullptr, 0);
  throw StepFailed(start.step, start.error);
}

}  // namespace forge::sandbox::local::launcher
