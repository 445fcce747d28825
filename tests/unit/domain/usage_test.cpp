#include "orchestrator/domain/usage.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/errors.h"

namespace forge {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kDollar = 1'000'000'000;

// 3, 15, 0.3 and 3.75 dollars per million tokens.
const Price kPrice{.input = 3 * kDollar, .output = 15 * kDollar, .cache_read = 300'000'000, .cache_write = 3'750'000'000, .tiers = {}};

Price tiered() {
  Price price = kPrice;
  price.tiers = {
      {.input_tokens_above = 100'000, .input = 6 * kDollar, .output = 30 * kDollar, .cache_read = 600'000'000, .cache_write = 7 * kDollar},
      {.input_tokens_above = 200'000, .input = 9 * kDollar, .output = 45 * kDollar, .cache_read = 900'000'000, .cache_write = 9 * kDollar}};
  return price;
}

TEST(Usages, AddUp) {
  Usage sum{.input = 1, .output = 2, .cache_read = 3, .cache_write = 4};
  sum += Usage{.input = 10, .output = 20, .cache_read = 30, .cache_write = 40};
  EXPECT_EQ(sum, (Usage{.input = 11, .output = 22, .cache_read = 33, .cache_write = 44}));
  EXPECT_EQ(sum.total(), 110);
  sum += Usage{.cache_write = 5, .cache_write_hour = 2};
  sum += Usage{.cache_write = 5, .cache_write_hour = 2};
  EXPECT_EQ(sum.cache_write_hour, 4);
  EXPECT_EQ(sum.total(), 120) << "they are counted once";
}

TEST(Usages, StayAtTheTopInsteadOfWrappingAround) {
  Usage sum{.input = kMost};
  sum += Usage{.input = 1, .output = 5};
  EXPECT_EQ(sum.input, kMost);
  EXPECT_EQ(sum.output, 5);
  sum += Usage{.output = kMost};
  EXPECT_EQ(sum.total(), kMost);
}

TEST(Costs, SumTheFourCounts) {
  EXPECT_EQ(cost_nano_usd({.input = 1000, .output = 2000, .cache_read = 3000, .cache_write = 4000}, kPrice),
            3'000'000 + 30'000'000 + 900'000 + 15'000'000);
  EXPECT_EQ(cost_nano_usd({}, kPrice), 0);
  EXPECT_EQ(cost_nano_usd({.input = 1'000'000}, kPrice), 3 * kDollar);
}

TEST(Costs, OfWritesForAnHourAreTwiceTheInput) {
  EXPECT_EQ(cost_nano_usd({.cache_write = 4000, .cache_write_hour = 1000}, kPrice), 3000 * 3750 + 1000 * 6000);
  EXPECT_EQ(cost_nano_usd({.cache_write = 150'000, .cache_write_hour = 150'000}, tiered()), 150'000 * 12'000LL);
  EXPECT_EQ(cost_nano_usd({.cache_write = 10, .cache_write_hour = 20}, kPrice), 10 * 6000) << "it is a part of what was written";
  EXPECT_EQ(cost_nano_usd({.cache_write_hour = -5}, kPrice), 0);
  EXPECT_EQ(cost_nano_usd({.cache_write = kMost, .cache_write_hour = kMost}, kPrice), kMost);
}

TEST(Costs, AreRoundedOnceAndHalfUp) {
  const Price cheap{.input = 1, .output = 1, .cache_read = 1, .cache_write = 1, .tiers = {}};
  EXPECT_EQ(cost_nano_usd({.input = 499'999}, cheap), 0);
  EXPECT_EQ(cost_nano_usd({.input = 500'000}, cheap), 1);
  EXPECT_EQ(cost_nano_usd({.input = 1'499'999}, cheap), 1);
  // Each count alone would round to 0; together they are one.
  EXPECT_EQ(cost_nano_usd({.input = 250'000, .output = 250'000, .cache_read = 250'000, .cache_write = 250'000}, cheap), 1);
}

TEST(Costs, TakeTheTierOfTheWholePrompt) {
  EXPECT_EQ(cost_nano_usd({.input = 100'000}, tiered()), 300'000'000) << "above, not at, the threshold";
  EXPECT_EQ(cost_nano_usd({.input = 100'001}, tiered()), 600'006'000) << "the whole request at the higher price";
  EXPECT_EQ(cost_nano_usd({.input = 1, .cache_read = 100'000}, tiered()), 60'006'000) << "what was cached counts";
  EXPECT_EQ(cost_nano_usd({.input = 1, .cache_write = 100'000}, tiered()), 700'006'000);
  EXPECT_EQ(cost_nano_usd({.input = 1, .output = 500'000}, tiered()), 7'500'003'000) << "what came out does not";
  EXPECT_EQ(cost_nano_usd({.input = 200'001}, tiered()), 1'800'009'000) << "the highest that fits";
}

TEST(Costs, DoNotOverflow) {
  EXPECT_EQ(cost_nano_usd({.input = 20'000'000'000}, {.input = 1000 * kDollar}), 20'000'000 * kDollar);
  const Price highest{.input = kMost, .output = kMost, .cache_read = kMost, .cache_write = kMost, .tiers = {}};
  EXPECT_EQ(cost_nano_usd({.input = kMost, .output = kMost, .cache_read = kMost, .cache_write = kMost}, highest), kMost);
  EXPECT_EQ(cost_nano_usd({.input = -5, .output = 1'000'000}, kPrice), 15 * kDollar) << "a count below zero earns nothing";
}

TEST(Dollars, AreWrittenWithFourToNineDigits) {
  EXPECT_EQ(format_usd(12'300'000), "$0.0123");
  EXPECT_EQ(format_usd(0), "$0.0000");
  EXPECT_EQ(format_usd(1), "$0.000000001");
  EXPECT_EQ(format_usd(12'345'600'000), "$12.3456");
  EXPECT_EQ(format_usd(12'345'670'000), "$12.34567");
  EXPECT_EQ(format_usd(-1'500'000'000), "-$1.5000");
  EXPECT_EQ(format_usd(kMost), "$9223372036.854775807");
  EXPECT_EQ(format_usd(std::numeric_limits<std::int64_t>::min()), "-$9223372036.854775808");
  EXPECT_EQ(format_usd({}), "unpriced");
}

TEST(Dollars, AreRead) {
  EXPECT_EQ(parse_usd("1.5", "b"), 1'500'000'000);
  EXPECT_EQ(parse_usd("0", "b"), 0);
  EXPECT_EQ(parse_usd("0.000000001", "b"), 1);
  EXPECT_EQ(parse_usd("1000000", "b"), 1'000'000 * kDollar);
  EXPECT_EQ(parse_usd("1000000.000", "b"), 1'000'000 * kDollar);
  EXPECT_EQ(parse_usd("007.25", "b"), 7'250'000'000);
}

TEST(Dollars, AreRefusedWithTheField) {
  for (const char* text : {"", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", " 1", "1 ", "$1", "0x1", "1.2.3", "nan", "0.0000000001",
                           "1000000.000000001", "1000001", "99999999999999999999999"}) {
    const auto error = test::error_of([&] { parse_usd(text, "budget"); });
    ASSERT_TRUE(error) << text;
    EXPECT_EQ(error->field(), "budget") << text;
    EXPECT_EQ(error->code(), ErrorCode::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace forge
