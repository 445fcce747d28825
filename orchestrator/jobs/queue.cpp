#include "orchestrator/jobs/queue.h"

#include <utility>

#include "orchestrator/base/error.h"

namespace forge::jobs {
namespace {

// A missed wake-up costs at most this; the queue also sees runs that another process inserted.
constexpr auto kPoll = std::chrono::seconds(5);
constexpr auto kKeeperTick = std::chrono::seconds(1);

}  // namespace

Queue::Queue(store::Store& store, const Clock& clock, Log& log, QueueOptions options, Work work)
    : store_(store), clock_(clock), log_(log), options_(options), work_(std::move(work)) {
  for (int i = 0; i < options_.concurrency; ++i) threads_.emplace_back([this](const std::stop_token& token) { worker(token); });
  if (options_.concurrency > 0) threads_.emplace_back([this](const std::stop_token& token) { keeper(token); });
}

Queue::~Queue() {
  drain(Stop::after(std::chrono::seconds(0)));
  for (auto& thread : threads_) thread.request_stop();
}

void Queue::wake() {
  auto state = state_.lock();
  ++state->wakes;
  state.notify_all();
}

bool Queue::stop_run(const RunId& run, Reason why) {
  // The lock is held while the stop is requested: the run cannot end and die in between. request() only wakes pollers.
  auto state = state_.lock();
  const auto found = state->live.find(run);
  if (found == state->live.end()) return false;
  found->second->stop.request(why);
  return true;
}

void Queue::drain(const Stop& stop) {
  auto state = state_.lock();
  state->draining = true;
  state.notify_all();
  const auto idle = [](const State& s) { return s.live.empty(); };
  if (state.wait_until(stop.token(), stop.deadline(), idle)) return;
  state->giving_up = true;
  state.notify_all();
  for (const auto& [run, live] : state->live) live->stop.request(Reason::interrupted);
  state.wait({}, idle);
}

bool Queue::draining() { return state_.lock()->draining; }

std::size_t Queue::live() { return state_.lock()->live.size(); }

bool Queue::wait_for_work(const std::stop_token& token, std::uint64_t& seen) {
  auto state = state_.lock();
  state.wait_until(token, SteadyClock::now() + kPoll, [&](const State& s) { return s.draining || s.wakes != seen; });
  seen = state->wakes;
  return !token.stop_requested() && !state->draining;
}

void Queue::worker(const std::stop_token& token) {
  std::uint64_t seen = 0;
  while (!token.stop_requested()) {
    try {
      if (state_.lock()->draining) return;
      if (const auto lease = store_.claim_run(clock_.now_ms() + options_.lease.count())) {
        perform(*lease, token);
        continue;
      }
    } catch (const Error& e) {
      log_.error("queue: no run could be claimed", {{"code", name_of(e.code())}, {"error", e.what()}});
    }
    if (!wait_for_work(token, seen)) return;
  }
}

/// Among the live runs while it exists.
class Queue::Registration {
 public:
  Registration(Guarded<State>& state, LiveRun& live) : state_(state), run_(live.lease.run) {
    auto locked = state_.lock();
    locked->live[run_] = &live;
    if (locked->draining) live.stop.request(Reason::interrupted);
  }
  ~Registration() {
    auto locked = state_.lock();
    locked->live.erase(run_);
    locked.notify_all();
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  Guarded<State>& state_;
  const RunId run_;
};

void Queue::perform(const store::Lease& lease, const std::stop_token& token) {
  store::RunEnd end{.reason = Reason::interrupted, .error = "the run could not be worked on; the server's log has the details"};
  try {
    const Job job = store_.job(lease.job.str());
    const auto run = store_.run(lease.job, lease.run_number);
    if (!run) throw Error(ErrorCode::corrupt, "a leased run is not in the store");
    LiveRun live(lease, job.spec);
    const Registration registration(state_, live);
    // A cancel between the claim and the line above found nobody to stop; the row remembers it.
    if (store_.job(lease.job.str()).cancel_requested) live.stop.request(Reason::cancelled);
    try {
      end = work_(job, *run, live);
    } catch (const std::exception& e) {
      // A run always ends: what the steps did not foresee (a full disk, a driver that is gone) is logged and becomes a failure.
      log_.error("a run failed unexpectedly", {{"job", job.id.str()}, {"run", run->number}, {"error", e.what()}});
      end.reason = live.stop.why().value_or(Reason::interrupted);
    }
    return write_end(lease, end, token);  // it lives until that is done: who drains waits for it
  } catch (const std::exception& e) {
    log_.error("queue: a claimed run could not be read", {{"job", lease.job.str()}, {"error", e.what()}});
  }
  write_end(lease, end, token);
}

/// Tries again until it is written, for a disk may be full for an hour: a run without an end is live for ever, and can neither be cancelled
/// nor tried again. Only the end of this process ends the attempts; the next start finds the run.
void Queue::write_end(const store::Lease& lease, const store::RunEnd& end, const std::stop_token& token) {
  const std::string job = lease.job.str();
  for (bool first = true;; first = false) {
    try {
      if (!store_.end_run(lease, end))
        log_.warn("the end of a run was not written: its lease is void", {{"job", job}, {"run", lease.run_number}});
      return;
    } catch (const Error& e) {
      if (first) log_.error("the end of a run cannot be written yet", {{"job", job}, {"run", lease.run_number}, {"error", e.what()}});
    }
    auto state = state_.lock();
    state.wait_until(token, SteadyClock::now() + options_.end_again, [](const State& s) { return s.giving_up; });
    if (state->giving_up || token.stop_requested()) break;
  }
  log_.error("the end of a run was not written; the next start ends it", {{"job", job}, {"run", lease.run_number}});
}

void Queue::keeper(const std::stop_token& token) {
  auto renew_at = SteadyClock::now() + options_.renew_every;
  while (true) {
    std::vector<store::Lease> held;
    {
      auto state = state_.lock();
      // Woken by the stop alone: the predicate never holds.
      state.wait_until(token, SteadyClock::now() + kKeeperTick, [](const State&) { return false; });
      if (token.stop_requested()) return;
      for (const auto& [run, live] : state->live) {
        held.push_back(live->lease);
        if (live->activity.silent_for() > live->stall_limit) live->stop.request(Reason::no_output);
      }
    }
    if (SteadyClock::now() < renew_at) continue;
    renew_at = SteadyClock::now() + options_.renew_every;
    for (const auto& lease : held) {
      try {
        if (!store_.renew_lease(lease, clock_.now_ms() + options_.lease.count())) stop_run(lease.run, Reason::interrupted);
      } catch (const Error& e) {
        log_.error("queue: a lease could not be renewed", {{"job", lease.job.str()}, {"error", e.what()}});
      }
    }
  }
}

}  // namespace forge::jobs
