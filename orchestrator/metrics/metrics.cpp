#include "orchestrator/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <exception>
#include <list>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"

namespace forge::metrics {
namespace {

using Samples = std::list<std::function<void()>>;

/// The library throws its own exceptions for names it refuses.
template <typename Make>
decltype(auto) making(const Family& family, Make&& make) {
  try {
    return std::forward<Make>(make)();
  } catch (const std::exception& e) {
    throw Error(ErrorCode::internal, "metric '" + family.name + "': " + e.what());
  }
}

}  // namespace

struct Registry::State {
  prometheus::Registry registry;
  // Shared with the handles of before_text(), which may outlive the registry.
  std::shared_ptr<Guarded<Samples>> samples = std::make_shared<Guarded<Samples>>();
};

void Counter::add(double amount) { counter_->Increment(amount); }
double Counter::value() const { return counter_->Value(); }
void Gauge::set(double value) { gauge_->Set(value); }
void Gauge::add(double amount) { gauge_->Increment(amount); }
double Gauge::value() const { return gauge_->Value(); }
void Histogram::observe(double value) { histogram_->Observe(value); }

const std::vector<double>& duration_buckets_s() {
  static const std::vector<double> buckets{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
  return buckets;
}

Registry::Registry() : state_(std::make_unique<State>()) {}
Registry::~Registry() = default;

Counter Registry::counter(const Family& family, const Labels& labels) {
  return making(family, [&] {
    return Counter(prometheus::BuildCounter().Name(family.name).Help(family.help).Register(state_->registry).Add(labels));
  });
}

Gauge Registry::gauge(const Family& family, const Labels& labels) {
  return making(family,
                [&] { return Gauge(prometheus::BuildGauge().Name(family.name).Help(family.help).Register(state_->registry).Add(labels)); });
}

Histogram Registry::histogram(const Family& family, const std::vector<double>& buckets, const Labels& labels) {
  return making(family, [&] {
    return Histogram(prometheus::BuildHistogram().Name(family.name).Help(family.help).Register(state_->registry).Add(labels, buckets));
  });
}

std::shared_ptr<void> Registry::before_text(std::function<void()> sample) {
  auto samples = state_->samples;
  auto list = samples->lock();
  const auto at = list->insert(list->end(), std::move(sample));
  return {static_cast<void*>(nullptr), [samples, at](void*) { samples->lock()->erase(at); }};
}

std::string Registry::text() {
  const Samples samples = *state_->samples->lock();  // copied: a sample may take its time
  for (const auto& sample : samples) sample();
  return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

}  // namespace forge::metrics
