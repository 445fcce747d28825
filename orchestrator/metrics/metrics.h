#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

/// Numbers about Forge itself, in the text format of Prometheus. Names end in their unit; counters end in `_total`.
namespace forge::metrics {

using Labels = std::map<std::string, std::string>;

/// Only grows. Cheap to copy and to use from any thread; lives as long as its registry.
class Counter {
 public:
  void add(double amount = 1);
  double value() const;

 private:
  friend class Registry;
  explicit Counter(prometheus::Counter& counter) : counter_(&counter) {}
  prometheus::Counter* counter_;
};

/// Goes up and down.
class Gauge {
 public:
  void set(double value);
  void add(double amount);
  double value() const;

 private:
  friend class Registry;
  explicit Gauge(prometheus::Gauge& gauge) : gauge_(&gauge) {}
  prometheus::Gauge* gauge_;
};

/// Counts observations by size.
class Histogram {
 public:
  void observe(double value);

 private:
  friend class Registry;
  explicit Histogram(prometheus::Histogram& histogram) : histogram_(&histogram) {}
  prometheus::Histogram* histogram_;
};

/// Name and help text of one family of series, which differ by their labels.
struct Family {
  std::string name;
  std::string help;
};

/// Upper bounds in seconds from 1 ms to 10 s: for requests and steps.
const std::vector<double>& duration_buckets_s();

/// All series of one process; handed down by reference, there is no global one. Safe to use from any thread.
/// Asking again for the same name and labels gives the same series. Throws internal when a name is malformed or was made as another kind.
class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  Counter counter(const Family& family, const Labels& labels = {});
  Gauge gauge(const Family& family, const Labels& labels = {});
  Histogram histogram(const Family& family, const std::vector<double>& buckets, const Labels& labels = {});

  /// `sample` runs before each text(): for values that are read, not counted. It lives as long as the returned handle.
  std::shared_ptr<void> before_text(std::function<void()> sample);
  /// The text exposition, version 0.0.4.
  std::string text();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

inline constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace forge::metrics
