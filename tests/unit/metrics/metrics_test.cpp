#include "orchestrator/metrics/metrics.h"

#include <gmock/gmock.h>

#include "orchestrator/base/error.h"

namespace forge::metrics {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Metrics, CountersOfOneNameAndLabelsAreOneSeries) {
  Registry registry;
  registry.counter({"forge_things_total", "Things."}, {{"kind", "a"}}).add();
  registry.counter({"forge_things_total", "Things."}, {{"kind", "a"}}).add(2);
  registry.counter({"forge_things_total", "Things."}, {{"kind", "b"}}).add();
  const std::string text = registry.text();
  EXPECT_THAT(text, HasSubstr("# HELP forge_things_total Things.\n# TYPE forge_things_total counter\n"));
  EXPECT_THAT(text, HasSubstr("forge_things_total{kind=\"a\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("forge_things_total{kind=\"b\"} 1\n"));
}

TEST(Metrics, GaugesGoUpAndDown) {
  Registry registry;
  Gauge gauge = registry.gauge({"forge_open", "Open."});
  gauge.set(5);
  gauge.add(-2);
  EXPECT_EQ(gauge.value(), 3);
  EXPECT_THAT(registry.text(), HasSubstr("forge_open 3\n"));
}

TEST(Metrics, HistogramsCountByUpperBound) {
  Registry registry;
  Histogram histogram = registry.histogram({"forge_wait_seconds", "Waits."}, {0.1, 1});
  histogram.observe(0.05);
  histogram.observe(0.5);
  histogram.observe(7);
  const std::string text = registry.text();
  EXPECT_THAT(text, HasSubstr("forge_wait_seconds_bucket{le=\"0.1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("forge_wait_seconds_bucket{le=\"1\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("forge_wait_seconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("forge_wait_seconds_count 3\n"));
}

TEST(Metrics, LabelValuesAreEscaped) {
  Registry registry;
  registry.counter({"forge_odd_total", "Odd."}, {{"path", "a\"b\nc\\"}}).add();
  EXPECT_THAT(registry.text(), HasSubstr(R"(path="a\"b\nc\\")"));
}

TEST(Metrics, SamplesAreTakenBeforeTheTextUntilTheirHandleDies) {
  Registry registry;
  Gauge gauge = registry.gauge({"forge_sampled", "Sampled."});
  int taken = 0;
  auto handle = registry.before_text([&] { gauge.set(++taken); });
  EXPECT_THAT(registry.text(), HasSubstr("forge_sampled 1\n"));
  handle.reset();
  EXPECT_THAT(registry.text(), HasSubstr("forge_sampled 1\n"));
  EXPECT_EQ(taken, 1);
}

TEST(Metrics, AHandleMayOutliveItsRegistry) {
  std::shared_ptr<void> handle;
  {
    Registry registry;
    handle = registry.before_text([] {});
  }
  handle.reset();
}

TEST(Metrics, AMalformedNameIsOurOwnFault) {
  Registry registry;
  EXPECT_THROW(registry.counter({"not a name", ""}), Error);
}

TEST(Metrics, AnEmptyRegistryHasNoText) {
  Registry registry;
  EXPECT_THAT(registry.text(), Not(HasSubstr("forge")));
}

}  // namespace
}  // namespace forge::metrics
