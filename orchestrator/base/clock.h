#pragma once

#include <cstdint>

namespace forge {

/// Wall time, injected so that tests can set it. Durations are measured with std::chrono::steady_clock instead.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Unix time in milliseconds.
  virtual std::int64_t now_ms() const = 0;
};

class SystemClock final : public Clock {
 public:
  std::int64_t now_ms() const override;
};

}  // namespace forge
