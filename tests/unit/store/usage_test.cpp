#include "tests/unit/store/store_fixture.h"

namespace forge::store {
namespace {

using testing::SizeIs;
using testing::StartsWith;

template <typename Backend>
class StoredUsage : public StoreTest<Backend> {
 protected:
  void use(const RunId& run, const std::string& model, const Usage& usage, std::optional<std::int64_t> cost) {
    this->store().add_usage({.run = run, .request_id = "r", .model = model, .usage = usage, .cost_nano_usd = cost, .price_hash = "p"});
  }
};
TYPED_TEST_SUITE(StoredUsage, Backends);

constexpr Usage kOne{.input = 1, .output = 20, .cache_read = 300, .cache_write = 4000};

TYPED_TEST(StoredUsage, IsSummedInTheRunByModelAndByJob) {
  const Lease lease = this->claimed();
  EXPECT_EQ(this->store().run(lease.job, 1)->cost_nano_usd, 0);
  this->use(lease.run, "a/x", kOne, 10);
  this->use(lease.run, "a/y", kOne, 5);
  this->use(lease.run, "a/x", kOne, 1);
  const Run live = this->store().run(lease.job, 1).value();
  EXPECT_EQ(live.usage, (Usage{.input = 3, .output = 60, .cache_read = 900, .cache_write = 12000}));
  EXPECT_EQ(live.cost_nano_usd, 16);
  ASSERT_TRUE(this->store().end_run(lease, {.reason = Reason::completed}));
  EXPECT_EQ(this->store().run(lease.job, 1)->cost_nano_usd, 16);
  const std::vector<ModelCost> models = this->store().usage_of_run(lease.run);
  ASSERT_THAT(models, SizeIs(2));
  EXPECT_EQ(models[0].model, "a/x");
  EXPECT_EQ(models[0].requests, 2);
  EXPECT_EQ(models[0].cost_nano_usd, 11);
  EXPECT_EQ(models[0].usage.output, 40);
  const Run second = this->store().insert_run(lease.job, {});
  this->use(second.id, "a/x", kOne, 100);
  EXPECT_EQ(this->store().spending_of_job(lease.job), (Spending{.priced_nano_usd = 116, .unpriced = {}}));
  EXPECT_EQ(this->store().spending_of_job(this->queued().id), Spending{});
}

TYPED_TEST(StoredUsage, WithoutAPriceMakesTheSumUnknownAndNotZero) {
  const Lease lease = this->claimed();
  this->use(lease.run, "a/x", kOne, 10);
  this->use(lease.run, "b/unpriced", kOne, {});
  this->use(lease.run, "a/x", kOne, 10);
  EXPECT_EQ(this->store().run(lease.job, 1)->cost_nano_usd, std::nullopt);
  EXPECT_EQ(this->store().run(lease.job, 1)->usage.input, 3);
  const std::vector<ModelCost> models = this->store().usage_of_run(lease.run);
  EXPECT_EQ(models.at(0).cost_nano_usd, 20);
  EXPECT_EQ(models.at(1).cost_nano_usd, std::nullopt);
  EXPECT_EQ(this->store().spending_of_job(lease.job), (Spending{.priced_nano_usd = 20, .unpriced = kOne}));
  EXPECT_EQ(this->store().spending_since(0), (Spending{.priced_nano_usd = 20, .unpriced = kOne}));
}

TYPED_TEST(StoredUsage, IsSummedSinceATime) {
  const Lease lease = this->claimed();
  this->use(lease.run, "a/x", kOne, 1);
  this->clock_.advance_ms(10);
  this->use(lease.run, "a/x", kOne, 2);
  EXPECT_EQ(this->store().spending_since(this->clock_.now_ms()).priced_nano_usd, 2);
  EXPECT_EQ(this->store().spending_since(this->clock_.now_ms() - 10).priced_nano_usd, 3);
  EXPECT_EQ(this->store().spending_since(this->clock_.now_ms() + 1).priced_nano_usd, 0);
}

TYPED_TEST(StoredUsage, IsSummedByDayRepositoryAndModel) {
  const Lease lease = this->claimed();
  const std::string repository = this->store().job(lease.job.str()).spec.repository;
  const Day day = this->clock_.now_ms() / kDayMs;
  this->use(lease.run, "a/cheap", kOne, 1);
  this->use(lease.run, "a/dear", kOne, 50);
  this->use(lease.run, "a/dear", kOne, {});
  this->clock_.advance_ms(kDayMs);
  this->use(lease.run, "a/cheap", kOne, 2);
  const auto row = [&](Day at, const std::string& model, std::int64_t cost) {
    return SpendingRow{.day = at, .repository = repository, .model = model, .requests = 1, .usage = kOne, .priced_nano_usd = cost};
  };
  SpendingRow dear = row(day, "a/dear", 50);
  dear.requests = 2;
  dear.unpriced_requests = 1;
  dear.usage += kOne;
  EXPECT_EQ(this->store().spending_of_days({.first = day, .last = day + 1}, 9),
            (std::vector<SpendingRow>{row(day + 1, "a/cheap", 2), dear, row(day, "a/cheap", 1)}));
  EXPECT_THAT(this->store().spending_of_days({.first = day + 1, .last = day + 1}, 9), SizeIs(1)) << "both ends belong to it, and no more";
  EXPECT_THAT(this->store().spending_of_days({.first = day + 2, .last = day + 9}, 9), SizeIs(0));
}

TYPED_TEST(StoredUsage, IsSummedUpToSoManyRowsAndNotOneMore) {
  const Lease lease = this->claimed();
  const Day day = this->clock_.now_ms() / kDayMs;
  for (const char* model : {"a/x", "a/y", "a/z"}) this->use(lease.run, model, kOne, 1);
  EXPECT_THAT(this->store().spending_of_days({.first = day, .last = day}, 3), SizeIs(3));
  EXPECT_THAT(error_of([&] { this->store().spending_of_days({.first = day, .last = day}, 2); }), StartsWith("invalid_argument: "));
}

TYPED_TEST(StoredUsage, OfAnUnknownRunIsNotFound) {
  EXPECT_THAT(error_of([&] { this->use(RunId("01jgfq2k00000000000000000a"), "m", kOne, 1); }), StartsWith("not_found"));
}

}  // namespace
}  // namespace forge::store
