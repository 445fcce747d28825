#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/sandbox/driver.h"
#include "orchestrator/sandbox/local/capture.h"
#include "orchestrator/sandbox/local/plan.h"
#include "orchestrator/sandbox/local/spool.h"
#include "orchestrator/sandbox/local/supervisor.h"

namespace forge::sandbox::local {

/// Environment of a command: `base` with the command's own variables over it. Throws invalid_argument for names that cannot be.
std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& base,
                                            const std::vector<std::pair<std::string, std::string>>& own);

/// One command inside, from the request to the moment when it is over and its output is read. Destroying one that still runs kills it.
class RunningCommand {
 public:
  /// Starts it. Throws invalid_argument (no argv, a NUL byte), unavailable (the sandbox is gone).
  RunningCommand(const Supervisor& supervisor, const Identity& identity, const CommandSpec& command, const std::vector<std::string>& env,
                 std::string spool_path);
  ~RunningCommand();
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  /// Waits for the end, time-out and `stop` included; on return no process of the command is left but background ones of a command that
  /// ended by itself. `ended` says exited, timed_out, killed (its keeper was killed from inside) or driver_lost (pid 1 is gone); who knows
  /// more refines it. Throws not_found, permission_denied and so on when it did not start.
  CommandResult finish(const Stop& stop);
  /// `stop` and not the command or its time-out ended the wait.
  bool stopped() const { return stopped_; }

 private:
  struct Stream {
    UniqueFd reader;
    Capture capture;
    bool is_stderr;
  };
  void send_request(const std::vector<std::string>& env, UniqueFd out, UniqueFd err, const UniqueFd& in, const UniqueFd& status);
  bool over() const { return wait_status_.has_value() || lost_; }
  template <typename Done>
  bool pump(Done done, SteadyClock::time_point until, const Stop* stop);
  void read_stream(Stream& stream, std::size_t most);
  void read_status();
  void end_by_ladder();
  void drain();
  CommandResult result();

  const Supervisor& supervisor_;
  const CommandSpec& command_;
  SteadyClock::time_point started_;
  Stream out_;
  Stream err_;
  UniqueFd status_;
  std::optional<Spool> spool_;
  std::optional<int> wait_status_;
  bool lost_ = false;       // the keeper or pid 1 went without a word
  bool none_left_ = false;  // the keeper said that it has no descendant any more
  bool stopped_ = false;
  bool timed_out_ = false;
};

/// Throws what a kNotStarted answer of a keeper means, as an error about `what` ("running 'make'").
[[noreturn]] void throw_not_started(const Packet& answer, const std::string& what);

}  // namespace forge::sandbox::local
