#pragma once

#include <atomic>
#include <cstdint>

#include "orchestrator/base/clock.h"

namespace forge::test {

/// Wall time that stands still until a test moves it. Safe to read from other threads.
class FakeClock final : public Clock {
 public:
  /// Starts at 2026-01-01 00:00:00 UTC unless told otherwise.
  explicit FakeClock(std::int64_t now_ms = 1'767'225'600'000) : now_ms_(now_ms) {}

  std::int64_t now_ms() const override { return now_ms_.load(); }
  void set(std::int64_t now_ms) { now_ms_ = now_ms; }
  void advance_ms(std::int64_t by_ms) { now_ms_ += by_ms; }

 private:
  std::atomic<std::int64_t> now_ms_;
};

}  // namespace forge::test
