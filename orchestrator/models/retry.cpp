#include "orchestrator/models/retry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <random>
#include <utility>

#include "orchestrator/base/text.h"

namespace forge::models {
namespace {

using std::chrono::milliseconds;

constexpr double kMostSeconds = 1e7;  // keeps the sum in range; far above any wait that is obeyed

/// A number in units of `unit_ms`, fractions allowed; nothing for anything else, negative included.
std::optional<milliseconds> parse_amount(std::string_view text, double unit_ms) {
  text = trim(text);
  double amount = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), amount);
  if (failed != std::errc() || end != text.data() + text.size() || !(amount >= 0)) return {};
  return milliseconds(static_cast<std::int64_t>(std::min(amount, kMostSeconds) * unit_ms));
}

/// The finer header first; one that cannot be read counts as absent.
std::optional<milliseconds> demanded_wait(const net::HttpHead& head, std::int64_t now_ms) {
  if (const auto ms = head.header("retry-after-ms")) {
    if (const auto wait = parse_amount(*ms, 1)) return wait;
  }
  const auto after = head.header("retry-after");
  if (!after) return {};
  if (const auto wait = parse_amount(*after, 1000)) return wait;
  const auto date = net::parse_http_date(*after);
  if (!date) return {};
  return milliseconds(std::max<std::int64_t>(0, *date - now_ms));
}

/// Doubling, capped, then anything between nothing and that: clients that failed together do not come back together.
milliseconds jittered(const RetryPolicy& policy, int attempt) {
  milliseconds most = policy.first_delay;
  for (int i = 1; i < attempt && most < policy.longest_delay; ++i) most *= 2;
  most = std::min(most, policy.longest_delay);
  return milliseconds(static_cast<std::int64_t>(static_cast<double>(most.count()) * policy.random()));
}

/// The text is for clients: it was made of provider and status, and cleared of secrets, where it was made.
[[noreturn]] void give_up(const Failure& failure, const std::string& why) {
  throw public_failure(failure.code, why.empty() ? failure.message : failure.message + " (" + why + ")");
}

std::string seconds(milliseconds time) { return fmt::format("{:.3g} s", static_cast<double>(time.count()) / 1000); }

/// The pause before the next attempt; does not return when there is none.
milliseconds next_delay(const RetryPolicy& policy, const Failure& failure, int attempt, const Stop& stop) {
  if (!failure.retryable) give_up(failure, "");
  if (failure.retry_after && *failure.retry_after > policy.longest_demand) {
    give_up(failure, fmt::format("asks to wait {}, more than the {} that are waited", seconds(*failure.retry_after),
                                 seconds(policy.longest_demand)));
  }
  if (attempt >= policy.max_attempts) give_up(failure, fmt::format("gave up after {} attempts", attempt));
  const milliseconds delay = failure.retry_after ? *failure.retry_after : jittered(policy, attempt);
  if (delay >= stop.remaining()) give_up(failure, fmt::format("a wait of {} would outlast the time limit", seconds(delay)));
  return delay;
}

}  // namespace

RetryPolicy default_retries() {
  RetryPolicy policy;
  policy.pause = [](milliseconds delay, const Stop& stop) { forge::pause(delay, stop); };
  // Shared, because std::function copies what it holds and copies of a generator would repeat each other.
  auto generator = std::make_shared<std::mt19937_64>(std::random_device{}());
  policy.random = [generator] { return std::uniform_real_distribution<double>(0, 1)(*generator); };
  return policy;
}

bool is_retryable(int status) { return status == 408 || status == 409 || status == 429 || status >= 500; }

ErrorCode code_of_status(int status) {
  if (status == 401 || status == 403) return ErrorCode::unauthenticated;
  if (status == 413) return ErrorCode::context_overflow;
  return is_retryable(status) ? ErrorCode::unavailable : ErrorCode::invalid_argument;
}

Failure failure_of(const net::HttpHead& head, std::string message, std::int64_t now_ms) {
  Failure failure{.code = code_of_status(head.status),
                  .status = head.status,
                  .retryable = is_retryable(head.status),
                  .retry_after = demanded_wait(head, now_ms),
                  .message = std::move(message)};
  const std::string wish = lower_ascii(head.header("x-should-retry").value_or(""));
  if (wish == "true") failure.retryable = true;
  if (wish == "false") failure.retryable = false;
  return failure;
}

ModelResponse with_retries(const RetryPolicy& policy, ModelObserver& observer, const Stop& stop, const std::function<Attempt()>& attempt) {
  for (int number = 1;; ++number) {
    stop.check();
    Attempt result = attempt();
    if (auto* response = std::get_if<ModelResponse>(&result)) return std::move(*response);
    const Failure& failure = std::get<Failure>(result);
    const milliseconds delay = next_delay(policy, failure, number, stop);
    observer.retrying({.attempt = number, .delay_ms = delay.count(), .status = failure.status, .message = failure.message});
    policy.pause(delay, stop);
  }
}

}  // namespace forge::models
