#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "orchestrator/base/guarded.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/domain/job.h"

namespace forge::egress {

/// What a cap counts over.
enum class Scope { run, job, day };

/// What the requests under way may cost at most, of all runs of one gateway: caps of a job and of a day are shared. Thread-safe.
///
/// A request that does not fit beside others waits until they have ended. One alone always fits: its estimate refuses nobody. Nobody is
/// overtaken by a later request that would take the room that it waits for, so that large ones get their turn; the earliest one waits for
/// requests under way alone, so that no two wait for each other.
class Reservations {
 public:
  /// What is left under a cap.
  struct Room {
    Scope scope = Scope::run;
    std::int64_t nano_usd = 0;
  };

  /// The place of one request: it waits, then is under way; given back with the object. An empty one holds nothing.
  class Held {
   public:
    Held() = default;
    Held(Held&& other) noexcept : of_(std::exchange(other.of_, nullptr)), number_(other.number_) {}
    Held& operator=(Held&& other) noexcept {
      release();
      of_ = std::exchange(other.of_, nullptr);
      number_ = other.number_;
      return *this;
    }
    ~Held() { release(); }

    void release();
    /// True when the request fits and is under way from now on. False when it must wait, or when something was given back after `seen`:
    /// then what was spent must be read again, because a reservation may have become costs in between.
    bool take(const std::vector<Room>& rooms, std::uint64_t seen);
    /// Until something is given back after `seen`. Throws cancelled, timed_out.
    void wait(std::uint64_t seen, const Stop& stop);

   private:
    friend class Reservations;
    Held(Reservations& of, std::uint64_t number) : of_(&of), number_(number) {}
    Reservations* of_ = nullptr;
    std::uint64_t number_ = 0;
  };

  /// A place behind all that came before. `nano_usd`: what the request may cost at most, above 0.
  Held line_up(const JobId& job, const RunId& run, std::int64_t nano_usd);
  /// How often something was given back.
  std::uint64_t given_back() { return state_.lock()->given_back; }
  /// Requests that wait for others to end.
  std::size_t waiting();

 private:
  struct Entry {
    std::uint64_t number = 0;
    JobId job;
    RunId run;
    std::int64_t nano_usd = 0;
    bool under_way = false;
  };
  struct State {
    std::vector<Entry> entries;  // in order of arrival
    std::uint64_t last = 0;
    std::uint64_t given_back = 0;
  };
  static bool fits(const State& state, const Entry& mine, const Room& room);

  Guarded<State> state_;
};

}  // namespace forge::egress
