#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>

namespace forge {

using SteadyClock = std::chrono::steady_clock;

/// Why and when a blocking call must end: one value, two reasons (somebody asked, the deadline passed), always passed down.
class Stop {
 public:
  /// Never stops. For cleanup use `Stop::after` instead.
  Stop() = default;
  Stop(std::stop_token token, SteadyClock::time_point deadline) : token_(std::move(token)), deadline_(deadline) {}
  explicit Stop(std::stop_token token) : token_(std::move(token)) {}
  /// A deadline alone, from now: what cleanup gets, which must not inherit a cancelled token.
  static Stop after(SteadyClock::duration from_now);

  /// Throws cancelled or timed_out.
  void check() const;
  bool cancelled() const { return token_.stop_requested(); }
  bool expired() const { return SteadyClock::now() >= deadline_; }
  /// Same token, nearer deadline.
  Stop shorter(SteadyClock::duration at_most) const;
  const std::stop_token& token() const { return token_; }
  SteadyClock::time_point deadline() const { return deadline_; }
  /// Zero when expired; a day at most.
  std::chrono::milliseconds remaining() const;
  /// `remaining()` for poll(): rounded up, so that a wait never spins on the last fraction of a millisecond.
  int poll_timeout_ms() const;

 private:
  std::stop_token token_;
  SteadyClock::time_point deadline_ = SteadyClock::time_point::max();
};

/// A descriptor that becomes readable when the token of a Stop is cancelled, for use in poll(). Deadlines are poll's time-out.
class StopWatch {
 public:
  explicit StopWatch(const Stop& stop);
  ~StopWatch();
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;
  /// -1 (which poll ignores) when the token can never be cancelled.
  int fd() const;

 private:
  struct Waker;
  std::unique_ptr<Waker> waker_;
};

/// Waits for `duration`, or throws as `stop.check()` does when that comes first. The only pause Forge knows.
void pause(SteadyClock::duration duration, const Stop& stop);

}  // namespace forge
