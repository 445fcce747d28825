#include "orchestrator/jobs/run_stop.h"

#include <algorithm>

namespace forge::jobs {

void RunStop::request(Reason why) {
  {
    auto requested = requested_.lock();
    if (*requested) return;
    *requested = why;
  }
  source_.request_stop();
}

std::optional<Reason> RunStop::why() {
  if (const auto requested = *requested_.lock()) return requested;
  if (SteadyClock::now() >= deadline_) return Reason::timeout;
  return {};
}

void Activity::listen(bool on) {
  auto state = state_.lock();
  state->last = SteadyClock::now();
  state->listening = on;
}

void Activity::touch() { state_.lock()->last = SteadyClock::now(); }

void Activity::tool_started() {
  auto state = state_.lock();
  state->last = SteadyClock::now();
  ++state->tools;
}

void Activity::tool_ended() {
  auto state = state_.lock();
  state->last = SteadyClock::now();
  state->tools = std::max(0, state->tools - 1);
}

SteadyClock::duration Activity::silent_for() {
  auto state = state_.lock();
  const bool counts = state->listening && state->tools == 0;
  return counts ? SteadyClock::now() - state->last : SteadyClock::duration::zero();
}

}  // namespace forge::jobs
