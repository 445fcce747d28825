#include "adapters/claude_code/end_watch.h"

namespace forge::adapters::claude_code {

EndWatch::EndWatch(const Stop& outer)
    : stop_(source_.get_token(), outer.deadline()),
      outer_(outer.token(), [this] { source_.request_stop(); }),
      timer_([this](const std::stop_token& token) {
        if (wait_for_end(token)) source_.request_stop();
      }) {}

/// True when the time is over; false when `token` ended the wait.
bool EndWatch::wait_for_end(const std::stop_token& token) {
  auto end = end_.lock();
  if (!end.wait(token, [](const auto& when) { return when.has_value(); })) return false;
  while (SteadyClock::now() < **end) {
    const auto seen = **end;  // an earlier end may be set meanwhile
    end.wait_until(token, seen, [&](const auto& when) { return *when != seen; });
    if (token.stop_requested()) return false;
  }
  return true;
}

void EndWatch::expect_end_within(SteadyClock::duration time) { expect_end_at(SteadyClock::now() + time); }

void EndWatch::expect_end_at(SteadyClock::time_point when) {
  auto end = end_.lock();
  if (*end && **end <= when) return;
  *end = when;
  end.notify_all();
}

}  // namespace forge::adapters::claude_code
