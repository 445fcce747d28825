#include "orchestrator/base/clock.h"

#include <chrono>

namespace forge {

std::int64_t SystemClock::now_ms() const {
  using std::chrono::duration_cast, std::chrono::milliseconds, std::chrono::system_clock;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace forge
