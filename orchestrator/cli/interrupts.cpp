#include "orchestrator/cli/interrupts.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "orchestrator/base/error.h"
#include "orchestrator/cli/exit_code.h"

namespace forge::cli {
namespace {

// SIGHUP, too: a closed terminal must not leave a job running that nobody watches. What was ignored at the start stays so, as for every
// program: `nohup forge serve` lives on, and Ctrl-C does not reach what a script put into its background.
sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    sigaddset(&set, number);
  }
  return set;
}

}  // namespace

Interrupts::Interrupts() {
  const sigset_t set = handled_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  signals_ = checked_fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
  reset();
  thread_ = std::jthread([this](const std::stop_token& token) { listen(token); });
}

Interrupts::~Interrupts() {
  thread_.request_stop();
  thread_.join();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interrupts::handle(std::function<void()> first, int status) {
  auto action = action_.lock();
  action->first = std::move(first);
  action->second_status = status;
  action->seen = 0;
}

void Interrupts::reset() {
  handle([this] { request_stop(); }, kSignalBase + SIGINT);
}

void Interrupts::listen(const std::stop_token& token) {
  const Stop stop(token);
  try {
    while (true) {
      wait_ready(signals_.get(), POLLIN, stop);
      signalfd_siginfo info{};
      if (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) signalled();
    }
  } catch (const Error& e) {
    if (e.code() != ErrorCode::cancelled) throw;  // the destructor asked
  }
}

void Interrupts::signalled() {
  auto action = action_.lock();
  // At once: no destructor, nothing that could hang. What runs in sandboxes dies with this process.
  if (++action->seen > 1) ::_exit(action->second_status);
  // Under the lock, so that whoever takes its action back knows that it is not under way any more. Actions only wake others.
  action->first();
}

}  // namespace forge::cli
