#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/stop.h"

namespace forge {

/// How a child ended: exactly one of the two is set.
struct Exit {
  std::optional<int> code;    ///< exit status, 0..255
  std::optional<int> signal;  ///< number of the signal that killed it
  bool ok() const { return code == 0; }
};

struct SpawnOptions {
  std::vector<std::string> argv;                  ///< argv[0] is an absolute path: nothing is searched
  std::vector<std::string> env;                   ///< "NAME=value"; the whole environment, nothing is inherited
  std::string cwd;                                ///< empty: the caller's
  std::vector<std::pair<int, int>> fds;           ///< {ours, number inside}; 0, 1, 2 default to /dev/null, all others are closed
  bool new_session = true;                        ///< setsid: no terminal of ours, own process group for kills
  std::optional<std::size_t> memory_limit_bytes;  ///< RLIMIT_AS
};

/// A child process, known by pidfd. Destroying a live one kills its group and reaps it. Signal mask and dispositions are the
/// defaults inside. Used by one thread at a time.
class Child {
 public:
  /// Throws not_found or permission_denied when argv[0] cannot be executed, or `cwd` not entered; busy when somebody still writes it.
  static Child spawn(const SpawnOptions& options);
  Child(Child&&) noexcept = default;
  Child& operator=(Child&&) noexcept;
  ~Child();

  pid_t pid() const { return pid_; }
  int pid_fd() const { return pid_fd_.get(); }
  /// Waits for the end; throws cancelled or timed_out when `stop` ends the wait: the child then still runs.
  Exit wait(const Stop& stop);
  /// SIGTERM to the group, `grace` for the child, SIGKILL to what is left of the group; returns when the child is reaped.
  Exit terminate(std::chrono::milliseconds grace);
  /// Signals the process group (or the process alone when it has no session of its own). Nothing when it has ended.
  void signal(int number);

 private:
  Child(pid_t pid, UniqueFd pid_fd, bool group) : pid_(pid), pid_fd_(std::move(pid_fd)), group_(group) {}
  pid_t pid_ = -1;
  UniqueFd pid_fd_;
  bool group_ = false;
  std::optional<Exit> exit_;
};

struct Output {
  Exit exit;
  std::string out;
  std::string err;
};

/// Runs a command to its end with bounded output (each of stdout and stderr; more throws limit_exceeded) and kills it when `stop` says so.
/// Ends with the command itself: what it left running in its group is killed, and output that comes later from elsewhere is not awaited.
/// A stop sends SIGTERM and, 2 s later, SIGKILL. `options.fds` must not name 0, 1 or 2; stdin is /dev/null when `input` is empty.
Output run_command(SpawnOptions options, std::string_view input, std::size_t max_output_bytes, const Stop& stop);

/// A pidfd of any process, close-on-exec: readable once it has ended. Throws not_found when there is none.
UniqueFd open_process(pid_t pid);

/// Start time of `pid` in clock ticks since boot, or nothing when there is no such process: with it a pid names one process for ever.
std::optional<unsigned long long> process_start_ticks(pid_t pid);

}  // namespace forge
