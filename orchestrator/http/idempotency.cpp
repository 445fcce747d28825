#include "orchestrator/http/idempotency.h"

#include "orchestrator/base/error.h"

namespace forge::http {

// Only answered keys stand in `order`: one whose call still runs is never forgotten.
void Idempotency::forget_old(State& state) const {
  while (!state.order.empty()) {
    const auto oldest = state.entries.find(state.order.front());
    const bool is_old = clock_.now_ms() - oldest->second.since_ms > kLifetimeMs;
    if (!is_old && state.order.size() <= kKeys) return;
    state.entries.erase(oldest);
    state.order.pop_front();
  }
}

std::string Idempotency::once(const std::string& key, const std::string& fingerprint, const std::function<std::string()>& make,
                              const Stop& stop) {
  // Under the lock only the bookkeeping; `make` runs outside, while its entry without an answer holds others back.
  {
    auto state = state_.lock();
    forget_old(*state);
    const auto settled = [&](const State& s) {
      const auto found = s.entries.find(key);
      return found == s.entries.end() || found->second.answer;
    };
    if (const auto found = state->entries.find(key); found != state->entries.end() && found->second.fingerprint != fingerprint)
      throw public_failure(ErrorCode::conflict, "the Idempotency-Key was used for another request");
    if (!state.wait_until(stop.token(), stop.deadline(), settled)) stop.check();
    const auto found = state->entries.find(key);
    if (found != state->entries.end()) return found->second.answer.value();
    state->entries[key] = {fingerprint, clock_.now_ms(), {}};
  }
  try {
    std::string answer = make();
    auto state = state_.lock();
    state->entries[key].answer = answer;
    state->order.push_back(key);
    state.notify_all();
    return answer;
  } catch (const std::exception&) {
    auto state = state_.lock();
    state->entries.erase(key);
    state.notify_all();
    throw;
  }
}

std::optional<std::string> idempotency_key(const httpd::Request& request) {
  const auto key = request.header("idempotency-key");
  if (!key) return {};
  if (key->empty() || key->size() > Idempotency::kKeyBytes) throw bad_input("", "the Idempotency-Key is not 1 to 200 bytes long");
  return std::string(*key);
}

}  // namespace forge::http
