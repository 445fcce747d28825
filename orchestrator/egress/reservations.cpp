#include "orchestrator/egress/reservations.h"

#include <algorithm>

namespace forge::egress {
namespace {

bool shares(const JobId& job, const RunId& run, const JobId& other_job, const RunId& other_run, Scope scope) {
  switch (scope) {
    case Scope::run: return run == other_run;
    case Scope::job: return job == other_job;
    case Scope::day: return true;
  }
  return true;
}

template <typename Entries>
auto entry_of(Entries& entries, std::uint64_t number) {
  return std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.number == number; });
}

}  // namespace

Reservations::Held Reservations::line_up(const JobId& job, const RunId& run, std::int64_t nano_usd) {
  auto state = state_.lock();
  const std::uint64_t number = ++state->last;
  state->entries.push_back({.number = number, .job = job, .run = run, .nano_usd = nano_usd, .under_way = false});
  return {*this, number};
}

std::size_t Reservations::waiting() {
  auto state = state_.lock();
  return static_cast<std::size_t>(
      std::count_if(state->entries.begin(), state->entries.end(), [](const Entry& entry) { return !entry.under_way; }));
}

// Subtracted one by one from what is left: a sum of estimates could overflow.
bool Reservations::fits(const State& state, const Entry& mine, const Room& room) {
  std::int64_t left = room.nano_usd;
  bool alone = true;
  for (const Entry& other : state.entries) {
    if (other.number == mine.number || !(other.under_way || other.number < mine.number)) continue;
    if (!shares(mine.job, mine.run, other.job, other.run, room.scope)) continue;
    alone = false;
    if (other.nano_usd > left) return false;
    left -= other.nano_usd;
  }
  return alone || mine.nano_usd <= left;
}

bool Reservations::Held::take(const std::vector<Room>& rooms, std::uint64_t seen) {
  auto state = of_->state_.lock();
  if (state->given_back != seen) return false;
  const auto mine = entry_of(state->entries, number_);
  mine->under_way = std::all_of(rooms.begin(), rooms.end(), [&](const Room& room) { return fits(*state, *mine, room); });
  return mine->under_way;
}

void Reservations::Held::wait(std::uint64_t seen, const Stop& stop) {
  auto state = of_->state_.lock();
  if (!state.wait_until(stop.token(), stop.deadline(), [&](const State& now) { return now.given_back != seen; })) stop.check();
}

void Reservations::Held::release() {
  if (of_ == nullptr) return;
  auto state = of_->state_.lock();
  state->entries.erase(entry_of(state->entries, number_));
  ++state->given_back;
  state.notify_all();
  of_ = nullptr;
}

}  // namespace forge::egress
