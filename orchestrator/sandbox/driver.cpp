#include "orchestrator/sandbox/driver.h"

#include <array>

namespace forge::sandbox {

std::string_view name_of(Ended ended) {
  static constexpr std::array<std::string_view, 8> kNames{"exited",       "timed_out", "out_of_memory", "killed",
                                                          "output_limit", "lifetime",  "evicted",       "driver_lost"};
  static_assert(kNames.size() == static_cast<std::size_t>(Ended::driver_lost) + 1);
  return kNames.at(static_cast<std::size_t>(ended));
}

std::string Captured::text() const {
  if (!truncated()) return head + tail;
  return head + "\n[... " + std::to_string(cut_bytes) + " bytes left out ...]\n" + tail;
}

}  // namespace forge::sandbox
