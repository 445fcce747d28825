#include "orchestrator/models/retry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "orchestrator/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/model_recorder.h"

namespace forge::models {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using test::error_of;
using test::ModelRecorder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Failure failed(int status, std::optional<milliseconds> retry_after = {}) {
  return {.code = code_of_status(status),
          .status = status,
          .retryable = is_retryable(status),
          .retry_after = retry_after,
          .message = "vendor answered " + std::to_string(status)};
}

/// A policy whose pauses pass at once and are noted.
struct Paced {
  std::vector<milliseconds> pauses;
  RetryPolicy policy;
  explicit Paced(double random = 0.5) {
    policy.pause = [this](milliseconds delay, const Stop&) { pauses.push_back(delay); };
    policy.random = [random] { return random; };
  }
};

/// Gives the failures in order, then a response.
std::function<Attempt()> failing(std::deque<Failure> failures) {
  return [failures = std::move(failures)]() mutable -> Attempt {
    if (failures.empty()) return ModelResponse{};
    Failure next = failures.front();
    failures.pop_front();
    return next;
  };
}

TEST(Retry, KnowsWhichStatusesMayPass) {
  for (const int status : {408, 409, 429, 500, 502, 503, 504, 529, 599}) EXPECT_TRUE(is_retryable(status)) << status;
  for (const int status : {301, 400, 401, 402, 403, 404, 413, 422}) EXPECT_FALSE(is_retryable(status)) << status;
}

TEST(Retry, MapsStatusesToCodes) {
  EXPECT_EQ(code_of_status(401), ErrorCode::unauthenticated);
  EXPECT_EQ(code_of_status(403), ErrorCode::unauthenticated);
  EXPECT_EQ(code_of_status(400), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of_status(404), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of_status(413), ErrorCode::context_overflow);
  EXPECT_EQ(code_of_status(429), ErrorCode::unavailable);
  EXPECT_EQ(code_of_status(529), ErrorCode::unavailable);
}

Failure answer(int status, std::vector<net::HttpHeader> headers) {
  constexpr std::int64_t kNow = 784111777000;  // Sun, 06 Nov 1994 08:49:37 GMT
  return failure_of({.status = status, .headers = std::move(headers)}, "m", kNow);
}

TEST(Retry, ReadsEachFormOfRetryAfter) {
  EXPECT_EQ(answer(429, {}).retry_after, std::nullopt);
  EXPECT_EQ(answer(429, {{"Retry-After", "2"}}).retry_after, 2s);
  EXPECT_EQ(answer(429, {{"retry-after", " 0.25 "}}).retry_after, 250ms);
  EXPECT_EQ(answer(429, {{"retry-after-ms", "150"}, {"retry-after", "9"}}).retry_after, 150ms);
  EXPECT_EQ(answer(429, {{"retry-after-ms", "soon"}, {"retry-after", "9"}}).retry_after, 9s);
  EXPECT_EQ(answer(429, {{"retry-after", "Sun, 06 Nov 1994 08:49:42 GMT"}}).retry_after, 5s);
  EXPECT_EQ(answer(429, {{"retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"}}).retry_after, 0ms);
  EXPECT_EQ(answer(429, {{"retry-after", "later"}}).retry_after, std::nullopt);
  EXPECT_EQ(answer(429, {{"retry-after", "-3"}}).retry_after, std::nullopt);
  EXPECT_GT(answer(429, {{"retry-after", "1e300"}}).retry_after, 24h);
}

TEST(Retry, LetsTheServerDecideWhetherToComeBack) {
  EXPECT_FALSE(answer(529, {{"x-should-retry", "false"}}).retryable);
  EXPECT_TRUE(answer(400, {{"X-Should-Retry", "true"}}).retryable);
  EXPECT_TRUE(answer(529, {{"x-should-retry", "maybe"}}).retryable);
}

TEST(Retry, DoublesTheJitteredDelayUpToItsCap) {
  Paced paced(0.5);
  paced.policy.max_attempts = 8;
  ModelRecorder heard;
  with_retries(paced.policy, heard, Stop(), failing(std::deque<Failure>(7, failed(529))));
  EXPECT_THAT(paced.pauses, ElementsAre(500ms, 1s, 2s, 4s, 8s, 15s, 15s));
}

TEST(Retry, JittersOverTheWholeRange) {
  Paced none(0.0);
  ModelRecorder heard;
  with_retries(none.policy, heard, Stop(), failing({failed(500)}));
  EXPECT_THAT(none.pauses, ElementsAre(0ms));
  const RetryPolicy real = default_retries();
  for (int i = 0; i < 100; ++i) {
    const double value = real.random();
    EXPECT_GE(value, 0.0);
    EXPECT_LT(value, 1.0);
  }
}

TEST(Retry, TellsEachRetryBeforeItsPause) {
  Paced paced;
  ModelRecorder heard;
  with_retries(paced.policy, heard, Stop(), failing({failed(429, 7s), failed(529)}));
  ASSERT_EQ(heard.retries.size(), 2U);
  EXPECT_EQ(heard.retries[0].attempt, 1);
  EXPECT_EQ(heard.retries[0].delay_ms, 7000);
  EXPECT_EQ(heard.retries[0].status, 429);
  EXPECT_EQ(heard.retries[1].attempt, 2);
  EXPECT_EQ(heard.retries[1].message, "vendor answered 529");
  EXPECT_THAT(paced.pauses, ElementsAre(7s, 1s));
}

TEST(Retry, FailsAtOnceWhenTheFailureIsFinal) {
  Paced paced;
  ModelRecorder heard;
  const auto error = error_of([&] { with_retries(paced.policy, heard, Stop(), failing({failed(401)})); });
  EXPECT_EQ(error->code(), ErrorCode::unauthenticated);
  EXPECT_EQ(error->client_text(), "vendor answered 401");
  EXPECT_TRUE(paced.pauses.empty());
  EXPECT_TRUE(heard.retries.empty());
}

TEST(Retry, GivesUpWhenTheAttemptsAreSpent) {
  Paced paced;
  paced.policy.max_attempts = 3;
  ModelRecorder heard;
  const auto error = error_of([&] { with_retries(paced.policy, heard, Stop(), failing(std::deque<Failure>(9, failed(529)))); });
  EXPECT_EQ(error->code(), ErrorCode::unavailable);
  EXPECT_EQ(error->client_text(), "vendor answered 529 (gave up after 3 attempts)");
  EXPECT_EQ(paced.pauses.size(), 2U);
}

TEST(Retry, WaitsAMinuteForAServerAndNoLonger) {
  ModelRecorder heard;
  Paced paced;
  with_retries(paced.policy, heard, Stop(), failing({failed(429, 60s)}));
  EXPECT_THAT(paced.pauses, ElementsAre(60s));
  const auto error = error_of([&] { with_retries(paced.policy, heard, Stop(), failing({failed(429, 61s)})); });
  EXPECT_EQ(error->code(), ErrorCode::unavailable);
  EXPECT_EQ(error->client_text(), "vendor answered 429 (asks to wait 61 s, more than the 60 s that are waited)");
}

TEST(Retry, DoesNotStartAWaitThatTheDeadlineWouldEnd) {
  ModelRecorder heard;
  Paced paced;
  const auto error = error_of([&] { with_retries(paced.policy, heard, Stop::after(5s), failing({failed(429, 30s)})); });
  EXPECT_EQ(error->code(), ErrorCode::unavailable);
  EXPECT_THAT(error->client_text(), HasSubstr("a wait of 30 s would outlast the time limit"));
  EXPECT_TRUE(paced.pauses.empty());
}

TEST(Retry, EndsItsPauseWhenCancelled) {
  std::stop_source source;
  RetryPolicy policy = default_retries();
  policy.first_delay = std::chrono::hours(1);
  policy.longest_delay = std::chrono::hours(1);
  ModelRecorder heard;
  const auto cancel_then_fail = [&]() -> Attempt {
    source.request_stop();
    return failed(500);
  };
  EXPECT_EQ(test::code_of([&] { with_retries(policy, heard, Stop(source.get_token()), cancel_then_fail); }), "cancelled");
}

TEST(Retry, MakesNoAttemptAfterACancel) {
  std::stop_source source;
  source.request_stop();
  Paced paced;
  ModelRecorder heard;
  bool tried = false;
  const auto attempt = [&]() -> Attempt {
    tried = true;
    return ModelResponse{};
  };
  EXPECT_EQ(test::code_of([&] { with_retries(paced.policy, heard, Stop(source.get_token()), attempt); }), "cancelled");
  EXPECT_FALSE(tried);
}

}  // namespace
}  // namespace forge::models
