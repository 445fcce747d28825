#include "orchestrator/httpd/connection.h"

#include "orchestrator/httpd/host_policy.h"

namespace forge::httpd {

Census::Ticket Census::enter(const std::string& address) {
  const bool by_address = !address.empty() && !is_loopback_name(address);
  auto counts = counts_->lock();
  if (counts->all >= most_) return {};
  if (by_address) {
    std::size_t& mine = counts->by_address[address];
    if (mine >= most_per_address_) return {};
    ++mine;
  }
  ++counts->all;
  // The pointee does not matter; what counts is that the last copy of the ticket leaves again.
  return {counts_.get(), [shared = counts_, address, by_address](void*) {
            auto left = shared->lock();
            --left->all;
            if (by_address && --left->by_address[address] == 0) left->by_address.erase(address);
          }};
}

BodyRoom::Ticket BodyRoom::enter(std::size_t bytes) {
  auto held = held_->lock();
  if (*held > 0 && (bytes > most_ || *held > most_ - bytes)) return {};
  *held += bytes;
  return {held_.get(), [shared = held_, bytes](void*) { *shared->lock() -= bytes; }};
}

std::size_t Census::size() { return counts_->lock()->all; }

bool WorkQueue::push(std::unique_ptr<Connection>& connection) {
  auto state = state_.lock();
  if (state->idle.empty()) {
    if (state->waiting.size() >= most_) return false;
    state->waiting.push_back(std::move(connection));
    return true;
  }
  Slot& slot = *state->idle.back();
  state->idle.pop_back();
  ++state->serving;
  ++state->busy;
  auto handed = slot.lock();
  *handed = std::move(connection);
  handed.notify_all();
  return true;
}

std::unique_ptr<Connection> WorkQueue::pop(const std::stop_token& token) {
  Slot slot;
  {
    auto state = state_.lock();
    if (!state->waiting.empty()) {
      std::unique_ptr<Connection> next = std::move(state->waiting.front());
      state->waiting.pop_front();
      ++state->serving;
      ++state->busy;
      return next;
    }
    state->idle.push_back(&slot);
  }
  slot.lock().wait(token, [](const auto& handed) { return handed != nullptr; });
  // The slot is out of reach before it dies, also when the end came while something was being handed over.
  auto state = state_.lock();
  std::erase(state->idle, &slot);
  return std::move(*slot.lock());
}

bool WorkQueue::has_free_worker() {
  auto state = state_.lock();
  return state->workers >= state->busy + state->waiting.size();
}

void WorkQueue::rest() { --state_.lock()->busy; }

void WorkQueue::expect_worker() { ++state_.lock()->workers; }

void WorkQueue::done() {
  auto state = state_.lock();
  --state->serving;
  state.notify_all();
}

bool WorkQueue::wait_idle(const Stop& stop) {
  auto state = state_.lock();
  return state.wait_until(stop.token(), stop.deadline(), [](const State& s) { return s.waiting.empty() && s.serving == 0; });
}

}  // namespace forge::httpd
