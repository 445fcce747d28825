#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace forge::bench {

/// Durations of one candidate, in milliseconds.
class Samples {
 public:
  void add(std::chrono::steady_clock::duration duration) { ms_.push_back(std::chrono::duration<double, std::milli>(duration).count()); }
  void add_all(const Samples& others) { ms_.insert(ms_.end(), others.ms_.begin(), others.ms_.end()); }
  /// `share` 0.5 = median. 0 when there are none.
  double at(double share) const {
    if (ms_.empty()) return 0;
    std::vector<double> sorted = ms_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
  }
  double p50() const { return at(0.5); }
  double p95() const { return at(0.95); }
  std::size_t count() const { return ms_.size(); }

 private:
  std::vector<double> ms_;
};

}  // namespace forge::bench
