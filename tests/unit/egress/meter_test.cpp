#include "orchestrator/egress/meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "orchestrator/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/fake_clock.h"
#include "tests/support/soon.h"
#include "tests/support/trace_recorder.h"
#include "tests/support/with_store.h"

namespace forge::egress {
namespace {

using test::code_of;
using test::soon;

// One token of input costs 1,000 nano-dollars, one of output 5,000.
constexpr const char* kMeterPrices = R"({"date": "2026-01-01", "source": "test", "unit": "nano-dollars per million tokens", "models": {
  "known/model": {"input": 1000000000, "output": 5000000000, "cache_read": 100000000, "cache_write": 1250000000}}})";
const std::string kKnown = "known/model";
const std::string kUnknown = "unknown/model";
// A request of no bytes counts as one token, at the price of a write into the cache.
constexpr std::int64_t kSmallest = 1250;

/// Meters over a real store that share their reservations.
class MeterTest : public testing::Test, protected test::WithStore<test::FakeClock> {
 protected:
  MeterTest() {
    prices_.add(kMeterPrices, "test");
    spec_.repository = "/repository";
    spec_.task = "work";
    spec_.model = kKnown;
  }

  /// Of the first run of a new job.
  std::unique_ptr<Meter> meter(const Meter::Caps& caps, std::optional<Price> fallback = {}) {
    const Job job = store_->insert_job(spec_, "tester", true);
    return meter_of(job, caps, std::move(fallback));
  }
  std::unique_ptr<Meter> meter_of(const Job& job, const Meter::Caps& caps, std::optional<Price> fallback = {}) {
    return std::make_unique<Meter>(*store_, clock_, trace_, job, *store_->run(job.id, 1), caps, prices_, std::move(fallback), under_way_);
  }

  /// Room for an answer of so many tokens.
  static Reservations::Held reserve(Meter& meter, std::int64_t output, const Stop& stop = soon()) {
    return meter.reserve({.model = kKnown, .request_bytes = 0, .most_output_tokens = output}, stop);
  }
  /// Room that must be there at once.
  static Reservations::Held reserve_at_once(Meter& meter, std::int64_t output) {
    std::stop_source stopped;
    stopped.request_stop();
    return reserve(meter, output, Stop(stopped.get_token()));
  }
  static bool must_wait(Meter& meter, std::int64_t output) {
    return code_of([&] { static_cast<void>(reserve_at_once(meter, output)); }) == "cancelled";
  }
  void await_waiting(std::size_t count) {
    const Stop stop = soon();
    while (under_way_.waiting() != count) forge::pause(std::chrono::milliseconds(1), stop);
  }

  models::PriceBook prices_;
  JobSpec spec_;
  test::TraceRecorder trace_;
  Reservations under_way_;
};

TEST_F(MeterTest, RefusesNoRequestThatIsAloneForWhatItMightCost) {
  const auto one = meter({.run_nano_usd = 1, .job_nano_usd = 1, .day_nano_usd = 1});
  static_cast<void>(reserve_at_once(*one, 1'000'000'000));
}

TEST_F(MeterTest, LetsRequestsPassTogetherUpToTheCapAndNoneAbove) {
  const auto one = meter({.run_nano_usd = 2 * (kSmallest + 5000)});
  const auto first = reserve_at_once(*one, 1);
  EXPECT_TRUE(must_wait(*one, 2));
  const auto second = reserve_at_once(*one, 1);
  EXPECT_TRUE(must_wait(*one, 0));
}

TEST_F(MeterTest, JudgesWhatWaitedByWhatWasReallySpent) {
  const auto one = meter({.run_nano_usd = 10'000});
  for (const char* expected : {"none", "budget_exhausted"}) {
    auto held = reserve(*one, 100);
    std::string told;
    std::jthread next([&] { told = code_of([&] { static_cast<void>(reserve(*one, 100)); }); });
    await_waiting(1);
    one->record("r", kKnown, {.output = 1});  // half of the cap each time
    held.release();
    next.join();
    EXPECT_EQ(told, expected);
  }
}

TEST_F(MeterTest, GivesThePlaceOfARequestBackThatWasCancelledWhileItWaited) {
  const auto one = meter({.run_nano_usd = 10'000});
  const auto held = reserve(*one, 1);
  EXPECT_TRUE(must_wait(*one, 100));
  EXPECT_EQ(under_way_.waiting(), 0U);
  static_cast<void>(reserve_at_once(*one, 0));
}

TEST_F(MeterTest, EndsAWaitAtItsDeadline) {
  const auto one = meter({.run_nano_usd = 10'000});
  const auto held = reserve(*one, 100);
  EXPECT_EQ(code_of([&] { static_cast<void>(reserve(*one, 100, Stop::after(std::chrono::milliseconds(1)))); }), "timed_out");
}

TEST_F(MeterTest, SharesTheDayAmongAllJobsAndARunWithNobody) {
  const auto one = meter({.run_nano_usd = 10'000, .day_nano_usd = 1'000'000'000});
  const auto other = meter({.run_nano_usd = 10'000, .day_nano_usd = 1'000'000'000});
  const auto held = reserve(*one, 100);
  static_cast<void>(reserve_at_once(*other, 100));
  const auto days = meter({.day_nano_usd = 10'000});
  EXPECT_TRUE(must_wait(*days, 100));
}

TEST_F(MeterTest, SharesTheJobAmongItsRuns) {
  const Job job = store_->insert_job(spec_, "tester", true);
  const auto one = meter_of(job, {.job_nano_usd = 10'000});
  const auto other = meter_of(job, {.job_nano_usd = 10'000});
  const auto held = reserve(*one, 100);
  EXPECT_TRUE(must_wait(*other, 100));
  static_cast<void>(reserve_at_once(*meter({.job_nano_usd = 10'000}), 100));
}

// Otherwise small requests without end could keep a large one waiting.
TEST_F(MeterTest, LetsNobodyOvertakeWhoWaitsForTheSameRoom) {
  const auto one = meter({.run_nano_usd = 20'000});
  auto first = reserve(*one, 1);
  std::jthread large([&] { EXPECT_EQ(code_of([&] { static_cast<void>(reserve(*one, 1000)); }), "none"); });
  await_waiting(1);
  EXPECT_TRUE(must_wait(*one, 1)) << "it would fit beside the first alone";
  first.release();
}

TEST_F(MeterTest, TakesTheLongestAnswerForARequestThatNamesNone) {
  const auto one = meter({.run_nano_usd = 2LL * 128'000 * 5000});
  const auto ask = [&](std::optional<std::int64_t> output) {
    std::stop_source stopped;
    stopped.request_stop();
    return one->reserve({.model = kKnown, .request_bytes = 0, .most_output_tokens = output}, Stop(stopped.get_token()));
  };
  const auto first = ask({});
  EXPECT_EQ(code_of([&] { static_cast<void>(ask({})); }), "cancelled");
  static_cast<void>(ask(127'000));
}

TEST_F(MeterTest, CountsTheBytesOfARequest) {
  const auto one = meter({.run_nano_usd = 1'000'000});
  const auto held = reserve(*one, 0);
  const auto ask = [&](std::size_t bytes) {
    std::stop_source stopped;
    stopped.request_stop();
    return one->reserve({.model = kKnown, .request_bytes = bytes, .most_output_tokens = 0}, Stop(stopped.get_token()));
  };
  EXPECT_EQ(code_of([&] { static_cast<void>(ask(4 * 1'000'000 / 1250)); }), "cancelled");
  static_cast<void>(ask(4 * 700'000 / 1250));
}

TEST_F(MeterTest, ReservesAtTheFallbackPriceAndNothingWithoutOne) {
  const Price fallback{.input = 0, .output = 5'000'000'000, .cache_read = 0, .cache_write = 0, .tiers = {}};
  const auto priced = meter({.run_nano_usd = 10'000}, fallback);
  const auto unpriced = meter({.run_nano_usd = 10'000});
  const auto ask = [&](Meter& meter) {
    std::stop_source stopped;
    stopped.request_stop();
    return meter.reserve({.model = kUnknown, .request_bytes = 0, .most_output_tokens = 100}, Stop(stopped.get_token()));
  };
  const auto first = ask(*priced);
  EXPECT_EQ(code_of([&] { static_cast<void>(ask(*priced)); }), "cancelled");
  const auto free = ask(*unpriced);
  static_cast<void>(ask(*unpriced));
}

}  // namespace
}  // namespace forge::egress
