#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "orchestrator/base/clock.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/httpd/message.h"

namespace forge::http {

/// Answers of requests that carried an Idempotency-Key, so that a client that did not hear the answer may ask again without doing the
/// thing twice. Kept in memory: 24 h, 1,000 keys, until the process ends.
class Idempotency {
 public:
  static constexpr std::size_t kKeys = 1000;
  static constexpr std::int64_t kLifetimeMs = 24LL * 60 * 60 * 1000;
  static constexpr std::size_t kKeyBytes = 200;

  explicit Idempotency(const Clock& clock) : clock_(clock) {}

  /// The answer that `make` gave for `key` before, or gives now. A second call while the first runs waits for it. An error of `make` is
  /// not kept. Throws conflict when `key` came with another `fingerprint`, bad_input for a key that is empty or too long.
  std::string once(const std::string& key, const std::string& fingerprint, const std::function<std::string()>& make, const Stop& stop);

 private:
  struct Entry {
    std::string fingerprint;
    std::int64_t since_ms = 0;
    std::optional<std::string> answer;  ///< nothing while the first call runs
  };
  struct State {
    std::map<std::string, Entry> entries;
    std::deque<std::string> order;  ///< of answered keys, the oldest first
  };
  void forget_old(State& state) const;

  const Clock& clock_;
  Guarded<State> state_;
};

/// The Idempotency-Key of the request; nothing when it has none. Throws bad_input for one that is empty or longer than kKeyBytes.
std::optional<std::string> idempotency_key(const httpd::Request& request);

}  // namespace forge::http
