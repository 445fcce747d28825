#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include "orchestrator/base/guarded.h"
#include "orchestrator/base/stop.h"

namespace forge::adapters::claude_code {

/// Ends a program that does not end by itself: a Stop that fires with the caller's, and when a time from here is over.
class EndWatch {
 public:
  explicit EndWatch(const Stop& outer);
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;

  const Stop& stop() const { return stop_; }
  /// The program has said its last word: it may live that much longer. The first call counts.
  void expect_end_within(SteadyClock::duration time);
  /// From any thread.
  void end_now() { expect_end_at(SteadyClock::now()); }

 private:
  void expect_end_at(SteadyClock::time_point when);
  bool wait_for_end(const std::stop_token& token);

  std::stop_source source_;
  const Stop stop_;
  Guarded<std::optional<SteadyClock::time_point>> end_;
  std::stop_callback<std::function<void()>> outer_;
  std::jthread timer_;  // last: it uses the others
};

}  // namespace forge::adapters::claude_code
