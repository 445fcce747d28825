#include "orchestrator/base/stop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>

#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"

namespace forge {

using std::chrono::milliseconds;

namespace {

/// `from_now` after now; a duration like duration::max() means never instead of wrapping around.
SteadyClock::time_point time_after(SteadyClock::duration from_now) {
  const auto now = SteadyClock::now();
  return from_now > SteadyClock::time_point::max() - now ? SteadyClock::time_point::max() : now + from_now;
}

}  // namespace

Stop Stop::after(SteadyClock::duration from_now) { return Stop({}, time_after(from_now)); }

void Stop::check() const {
  if (cancelled()) throw Error(ErrorCode::cancelled, "cancelled");
  if (expired()) throw Error(ErrorCode::timed_out, "timed out");
}

Stop Stop::shorter(SteadyClock::duration at_most) const { return Stop(token_, std::min(deadline_, time_after(at_most))); }

milliseconds Stop::remaining() const {
  constexpr milliseconds kDay = std::chrono::hours(24);
  if (deadline_ == SteadyClock::time_point::max()) return kDay;
  // Rounded up: a zero for the last fraction would make poll() spin.
  const auto left = std::chrono::ceil<milliseconds>(deadline_ - SteadyClock::now());
  return std::clamp(left, milliseconds(0), kDay);
}

int Stop::poll_timeout_ms() const {
  if (deadline_ == SteadyClock::time_point::max()) return -1;
  return static_cast<int>(remaining().count());
}

struct StopWatch::Waker {
  explicit Waker(const std::stop_token& token)
      : event(checked_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "making an eventfd")), callback(token, [this] { wake(); }) {}
  void wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(event.get(), &one, sizeof one);
  }
  UniqueFd event;
  std::stop_callback<std::function<void()>> callback;  // after `event`: it may fire while it is being made
};

StopWatch::StopWatch(const Stop& stop) {
  if (stop.token().stop_possible()) waker_ = std::make_unique<Waker>(stop.token());
}
StopWatch::~StopWatch() = default;

int StopWatch::fd() const { return waker_ ? waker_->event.get() : -1; }

void pause(SteadyClock::duration duration, const Stop& stop) {
  const auto until = time_after(duration);
  const StopWatch watch(stop);
  while (SteadyClock::now() < until) {
    stop.check();
    const Stop nap = stop.shorter(until - SteadyClock::now());
    pollfd polled{watch.fd(), POLLIN, 0};
    ::poll(&polled, 1, nap.poll_timeout_ms());
  }
  stop.check();
}

}  // namespace forge
