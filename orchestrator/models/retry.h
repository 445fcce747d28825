#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "orchestrator/base/error.h"
#include "orchestrator/models/model.h"
#include "orchestrator/net/http_client.h"

namespace forge::models {

/// Why one attempt gave no response.
struct Failure {
  ErrorCode code = ErrorCode::unavailable;  ///< what complete() throws when there is no further attempt
  std::optional<int> status;                ///< of the HTTP answer, or what an error inside a stream stands for; nothing = no connection
  bool retryable = false;
  std::optional<std::chrono::milliseconds> retry_after;  ///< what the server demands
  std::string message;                                   ///< provider, status and the vendor's words, for people; holds no secret
};

using Attempt = std::variant<ModelResponse, Failure>;

/// The one place that decides whether and when a model is asked again.
struct RetryPolicy {
  int max_attempts = 6;
  std::chrono::milliseconds first_delay{1'000};  ///< doubled by each attempt
  std::chrono::milliseconds longest_delay{30'000};
  std::chrono::milliseconds longest_demand{60'000};                   ///< a server that wants more is not waited for
  std::function<void(std::chrono::milliseconds, const Stop&)> pause;  ///< throws as forge::pause does
  std::function<double()> random;                                     ///< uniform in [0, 1): full jitter
};

/// The policy with forge::pause and a seeded generator. Each model needs one of its own: the generator is not shared between threads.
RetryPolicy default_retries();

/// 408, 409, 429 and 5xx.
bool is_retryable(int status);
/// What complete() throws for an answer with that status.
ErrorCode code_of_status(int status);

/// A failure for an answer: retryable by its status and `x-should-retry`; `retry_after` from `retry-after-ms`, or `retry-after` in seconds
/// or as a date.
Failure failure_of(const net::HttpHead& head, std::string message, std::int64_t now_ms);

/// Runs `attempt` until it gives a response, a failure that is final, or the attempts are spent. Waits with full jitter, or exactly as long
/// as the server demands; a wait over `longest_demand`, or one that `stop`'s deadline would not let end, fails at once. Tells `observer`
/// each retry.
ModelResponse with_retries(const RetryPolicy& policy, ModelObserver& observer, const Stop& stop, const std::function<Attempt()>& attempt);

}  // namespace forge::models
