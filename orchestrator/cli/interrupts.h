#pragma once

#include <csignal>
#include <functional>
#include <stop_token>
#include <thread>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/base/stop.h"

namespace forge::cli {

/// Turns SIGINT, SIGTERM and SIGHUP into calls. The first one does what the verb at work wants (by default: cancels `stop()`), the
/// second ends the process at once. Made before any other thread, so that all of them inherit the blocked signals.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  Stop stop() const { return Stop(source_.get_token()); }
  void request_stop() { source_.request_stop(); }
  /// From now on the first signal (counted anew) calls `first`, on a thread of its own, and the second exits with `status`. `first` must
  /// not block long, and must not call this object. The action before is not under way any more when this returns, and never called again.
  void handle(std::function<void()> first, int status);
  /// Back to the default.
  void reset();

 private:
  struct Action {
    std::function<void()> first;
    int second_status = 0;
    int seen = 0;
  };
  void listen(const std::stop_token& token);
  void signalled();

  sigset_t before_{};
  std::stop_source source_;
  Guarded<Action> action_;
  UniqueFd signals_;
  std::jthread thread_;  // last: it uses the rest
};

}  // namespace forge::cli
