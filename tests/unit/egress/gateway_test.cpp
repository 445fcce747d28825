#include "orchestrator/egress/gateway.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/fake_clock.h"
#include "tests/support/model_recorder.h"
#include "tests/support/model_server.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"
#include "tests/support/trace_recorder.h"
#include "tests/support/with_store.h"

namespace forge::egress {
namespace {

using test::soon;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// One token of input costs 1,000 nano-dollars, one of output 5,000.
constexpr const char* kPrices = R"({"date": "2026-01-01", "source": "test", "unit": "nano-dollars per million tokens", "models": {
  "known/model": {"input": 1000000000, "output": 5000000000, "cache_read": 100000000, "cache_write": 1250000000}}})";

models::RetryPolicy no_waits() {
  models::RetryPolicy policy;
  policy.pause = [](std::chrono::milliseconds, const Stop& stop) { stop.check(); };
  policy.random = [] { return 0.5; };
  return policy;
}

/// A gateway over a real store and a scripted HTTP server: "known/model" has a price, "unknown/model" has none.
class GatewayTest : public testing::Test, protected test::WithStore<test::FakeClock> {
 protected:
  GatewayTest() {
    prices_.add(kPrices, "test");
    spec_.repository = "/repository";
    spec_.task = "work";
    spec_.model = "known/model";
  }

  void script(const std::string& json) { server_ = std::make_unique<test::ModelServer>(json); }

  Gateway& gateway() {
    if (!gateway_) {
      models::ModelSettings settings;
      for (const char* name : {"known", "unknown"})
        settings.providers.push_back({.name = name, .kind = models::ProviderKind::anthropic, .base_url = server_->url(), .api_key = "k"});
      factory_ = std::make_unique<models::ModelFactory>(settings, prices_, clock_, no_waits);
      gateway_ = std::make_unique<Gateway>(*factory_, prices_, *store_, clock_, *log_, options_);
    }
    return *gateway_;
  }

  struct Session {
    Job job;
    forge::Run run;
    std::unique_ptr<models::Model> model;
  };
  /// A job with one run, and its model.
  Session session() {
    Session session;
    session.job = store_->insert_job(spec_, "tester", true);
    session.run = *store_->run(session.job.id, 1);
    session.model = gateway().model_for(session.job, session.run, trace_);
    return session;
  }

  /// One call at the script's first step.
  models::ModelResponse call(Session& session, int turn = 1) {
    models::ModelRequest request;
    request.messages = {{models::Speaker::user, {models::TextBlock{"hello"}}}};
    request.turn = turn;
    return session.model->complete(request, observer_, soon());
  }

  std::unique_ptr<test::ModelServer> server_;
  models::PriceBook prices_;
  GatewayOptions options_;
  JobSpec spec_;
  test::TraceRecorder trace_;
  test::ModelRecorder observer_;
  std::unique_ptr<models::ModelFactory> factory_;
  std::unique_ptr<Gateway> gateway_;
};

constexpr const char* kOneStep = R"([{"text": "hi", "usage": {"input": 100, "output": 10, "cache_read": 1000, "cache_write": 8}}])";
constexpr std::int64_t kStepCost = 100 * 1000 + 10 * 5000 + 1000 * 100 + 8 * 1250;

TEST_F(GatewayTest, StoresUsageWithItsPriceAndTellsTheTrace) {
  script(kOneStep);
  Session one = session();
  EXPECT_EQ(call(one, 3).usage.cache_read, 1000);
  const auto rows = store_->usage_of_run(one.run.id);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].model, "known/model");
  EXPECT_EQ(rows[0].usage, (Usage{100, 10, 1000, 8}));
  EXPECT_EQ(rows[0].cost_nano_usd, kStepCost);
  const auto events = trace_.all();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].turn, 3);
  const auto& event = std::get<trace::Model>(events[0].data);
  EXPECT_EQ(event.model, "known/model");
  EXPECT_EQ(event.cost_nano_usd, kStepCost);
  EXPECT_EQ(event.stop_reason, "end_turn");
}

TEST_F(GatewayTest, LeavesTheCostOfAModelWithoutAPriceUnknown) {
  script(kOneStep);
  spec_.model = "unknown/model";
  Session one = session();
  call(one);
  EXPECT_EQ(store_->usage_of_run(one.run.id).at(0).cost_nano_usd, std::nullopt);
  EXPECT_EQ(store_->run(one.job.id, 1)->cost_nano_usd, std::nullopt);
  EXPECT_EQ(trace_.of<trace::Model>().at(0).cost_nano_usd, std::nullopt);
}

TEST_F(GatewayTest, CountsWhatADroppedAttemptWasBilled) {
  script(R"([{"text": "hi", "usage": {"input": 100, "output": 10}, "cut": true}])");
  Session one = session();
  EXPECT_EQ(test::code_of([&] { call(one); }), "unavailable");
  const auto rows = store_->usage_of_run(one.run.id);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_GT(rows[0].requests, 1);
  EXPECT_EQ(rows[0].usage.input, 100 * rows[0].requests);
  EXPECT_EQ(trace_.of<trace::Model>().at(0).stop_reason, "dropped");
}

TEST_F(GatewayTest, DoesNotTryAgainOnceDroppedAttemptsHaveSpentTheBudget) {
  script(R"([{"text": "hi", "usage": {"input": 100, "output": 10}, "cut": true}])");
  constexpr std::int64_t kAttemptCost = 100 * 1000 + 10 * 5000;
  spec_.budget_nano_usd = 2 * kAttemptCost;
  Session one = session();
  EXPECT_EQ(test::code_of([&] { call(one); }), "budget_exhausted");
  EXPECT_EQ(store_->usage_of_run(one.run.id).at(0).requests, 2);
  EXPECT_EQ(trace_.of<trace::Budget>().back().action, "stopped");
}

TEST_F(GatewayTest, WarnsAtEightyPercentAndStopsBeforeTheCallThatIsTooMuch) {
  script(kOneStep);
  spec_.budget_nano_usd = kStepCost * 5 / 2;  // 2.5 calls
  Session one = session();
  call(one);
  EXPECT_THAT(trace_.of<trace::Budget>(), IsEmpty());
  call(one);  // 80 % of 2.5 is 2
  ASSERT_THAT(trace_.of<trace::Budget>(), SizeIs(1));
  EXPECT_EQ(trace_.of<trace::Budget>()[0].action, "warned");
  EXPECT_EQ(trace_.of<trace::Budget>()[0].scope, "run");
  EXPECT_EQ(trace_.of<trace::Budget>()[0].spent_nano_usd, 2 * kStepCost);
  call(one);  // checked before the call: one response may pass the budget
  const auto error = test::error_of([&] { call(one); });
  EXPECT_EQ(error->code(), ErrorCode::budget_exhausted);
  EXPECT_THAT(error->client_text(), HasSubstr("the budget of the run is spent: $"));
  EXPECT_THAT(trace_.of<trace::Model>(), SizeIs(3));
  ASSERT_THAT(trace_.of<trace::Budget>(), SizeIs(2));
  EXPECT_EQ(trace_.of<trace::Budget>()[1].action, "stopped");
  EXPECT_EQ(trace_.of<trace::Budget>()[1].limit_nano_usd, kStepCost * 5 / 2);
}

TEST_F(GatewayTest, StopsAtTheBudgetExactlyAndNotBelow) {
  script(kOneStep);
  spec_.budget_nano_usd = kStepCost + 1;
  Session above = session();
  call(above);
  call(above);
  spec_.budget_nano_usd = kStepCost;
  Session at = session();
  call(at);
  EXPECT_EQ(test::code_of([&] { call(at); }), "budget_exhausted");
}

TEST_F(GatewayTest, CountsAllRunsOfAJob) {
  script(kOneStep);
  options_.job_nano_usd = 2 * kStepCost;
  Session one = session();
  call(one);
  store_->claim_run(clock_.now_ms() + 1000);
  store_->end_run({one.job.id, one.run.id, 1, 1}, {});
  Session second = one.job.id.empty() ? session() : Session{one.job, store_->insert_run(one.job.id, {}), nullptr};
  second.model = gateway().model_for(second.job, second.run, trace_);
  call(second);
  const auto error = test::error_of([&] { call(second); });
  EXPECT_THAT(error->client_text(), HasSubstr("the budget of the job is spent"));
}

// The sums of a job come from the store: where nothing reaches it any more, nobody waits for them.
TEST_F(GatewayTest, WaitsForNothingThatCannotBeKept) {
  script(kOneStep);
  const Session one = session();
  Reservations under_way;
  Meter meter(*store_, clock_, trace_, one.job, one.run, {.job_nano_usd = kStepCost}, prices_, {}, under_way);
  meter.count("r", "known/model", {100, 10, 1000, 8});
  meter.keep_no_more();
  EXPECT_EQ(test::code_of([&] { static_cast<void>(meter.reserve({.model = "known/model"}, soon())); }), "budget_exhausted");
}

TEST_F(GatewayTest, CountsAllJobsOfADayAndForgetsThemAtMidnight) {
  script(kOneStep);
  options_.day_nano_usd = 2 * kStepCost;
  clock_.set(1'767'225'600'000 + 24LL * 3600 * 1000 - 1000);  // one second before midnight, UTC
  Session one = session();
  Session other = session();
  call(one);
  call(other);
  EXPECT_THAT(test::error_of([&] { call(one); })->client_text(), HasSubstr("the budget of the day is spent"));
  clock_.advance_ms(1000);
  call(one);
}

TEST_F(GatewayTest, TakesAFallbackPriceForBudgetsButNotForTheCost) {
  script(kOneStep);
  spec_.model = "unknown/model";
  spec_.budget_nano_usd = 1;
  options_.fallback = Price{.input = 1'000'000'000, .output = 0, .cache_read = 0, .cache_write = 0, .tiers = {}};
  gateway().check(spec_);
  Session one = session();
  call(one);
  EXPECT_EQ(test::code_of([&] { call(one); }), "budget_exhausted");
  EXPECT_EQ(store_->usage_of_run(one.run.id).at(0).cost_nano_usd, std::nullopt);
}

TEST_F(GatewayTest, CountsOtherRunsAtTheFallbackPriceToo) {
  script(kOneStep);
  spec_.model = "unknown/model";
  options_.fallback = Price{.input = 1'000'000'000, .output = 0, .cache_read = 0, .cache_write = 0, .tiers = {}};
  options_.day_nano_usd = 2 * 100 * 1000;  // two calls
  Session one = session();
  Session other = session();
  call(one);
  call(other);
  EXPECT_THAT(test::error_of([&] { call(one); })->client_text(), HasSubstr("the budget of the day is spent"));
  clock_.advance_ms(24LL * 3600 * 1000);
  options_ = {.job_nano_usd = 100 * 1000, .fallback = options_.fallback};
  gateway_.reset();
  other.model = gateway().model_for(one.job, other.run, trace_);
  EXPECT_THAT(test::error_of([&] { call(other); })->client_text(), HasSubstr("the budget of the job is spent"));
}

TEST_F(GatewayTest, RefusesABudgetThatCouldNotBeKept) {
  script(kOneStep);
  spec_.model = "unknown/model";
  gateway().check(spec_);  // without a budget there is nothing to keep
  spec_.budget_nano_usd = 1;
  const auto error = test::error_of([&] { gateway().check(spec_); });
  EXPECT_EQ(error->field(), "model");
  EXPECT_THAT(error->hint(), HasSubstr("models.fallback_price"));
}

TEST_F(GatewayTest, RefusesHostsThatTheProxyWouldNotUnderstand) {
  script(kOneStep);
  spec_.network.allow_hosts = {"example.com", "*.example.com:8443"};
  gateway().check(spec_);
  for (const char* host : {"*", ":", "*.com*", "example.com:99999", "[::1", "localhost", "10.0.0.1"}) {
    spec_.network.allow_hosts = {"example.com", host};
    const auto error = test::error_of([&] { gateway().check(spec_); });
    ASSERT_TRUE(error) << host;
    EXPECT_EQ(error->field(), "network.allow_hosts[1]");
  }
}

TEST_F(GatewayTest, LetsAModelWithoutAPricePassWhenToldSo) {
  script(kOneStep);
  spec_.model = "unknown/model";
  spec_.budget_nano_usd = 1;
  options_.unpriced = Unpriced::allow;
  gateway().check(spec_);
  Session one = session();
  call(one);
  call(one);
}

TEST_F(GatewayTest, RefusesAModelThatIsNotToBeHad) {
  script(kOneStep);
  spec_.model = "nobody/model";
  EXPECT_EQ(test::code_of([&] { gateway().check(spec_); }), "invalid_argument");
  spec_.model = "scripted:" + (dir_ / "none.json").string();
  EXPECT_NE(test::code_of([&] { gateway().check(spec_); }), "none");
}

}  // namespace
}  // namespace forge::egress
