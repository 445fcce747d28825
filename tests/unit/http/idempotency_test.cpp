#include "orchestrator/http/idempotency.h"

#include <gtest/gtest.h>

#include <thread>

#include "orchestrator/base/error.h"
#include "tests/support/fake_clock.h"

namespace forge::http {
namespace {

struct Counting {
  std::string operator()() { return "answer " + std::to_string(++calls); }
  int calls = 0;
};

TEST(Idempotency, GivesTheFirstAnswerAgain) {
  test::FakeClock clock;
  Idempotency idempotency(clock);
  Counting make;
  EXPECT_EQ(idempotency.once("k", "f", std::ref(make), {}), "answer 1");
  EXPECT_EQ(idempotency.once("k", "f", std::ref(make), {}), "answer 1");
  EXPECT_EQ(idempotency.once("other", "f", std::ref(make), {}), "answer 2");
}

TEST(Idempotency, AnotherRequestUnderTheKeyIsAConflict) {
  test::FakeClock clock;
  Idempotency idempotency(clock);
  Counting make;
  idempotency.once("k", "f", std::ref(make), {});
  EXPECT_THROW(idempotency.once("k", "g", std::ref(make), {}), Error);
}

TEST(Idempotency, AnErrorIsNotKept) {
  test::FakeClock clock;
  Idempotency idempotency(clock);
  Counting make;
  EXPECT_THROW(idempotency.once("k", "f", []() -> std::string { throw Error(ErrorCode::busy, "no"); }, {}), Error);
  EXPECT_EQ(idempotency.once("k", "f", std::ref(make), {}), "answer 1");
}

TEST(Idempotency, KeysAreForgottenByAgeAndByNumber) {
  test::FakeClock clock;
  Idempotency idempotency(clock);
  Counting make;
  idempotency.once("k", "f", std::ref(make), {});
  clock.advance_ms(Idempotency::kLifetimeMs + 1);
  EXPECT_EQ(idempotency.once("k", "f", std::ref(make), {}), "answer 2");
  for (std::size_t i = 0; i <= Idempotency::kKeys; ++i) idempotency.once(std::to_string(i), "f", std::ref(make), {});
  const int before = make.calls;
  idempotency.once("k", "f", std::ref(make), {});
  EXPECT_EQ(make.calls, before + 1);
}

TEST(Idempotency, CallsAtOnceMakeOneAnswer) {
  test::FakeClock clock;
  Idempotency idempotency(clock);
  std::atomic<int> calls{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      const auto make = [&] { return std::to_string(++calls); };
      EXPECT_EQ(idempotency.once("k", "f", make, Stop::after(std::chrono::seconds(50))), "1");
    });
  threads.clear();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace forge::http
