#include "orchestrator/models/model.h"

#include <array>

namespace forge::models {
namespace {

constexpr std::array<std::string_view, 8> kStopReasonNames = {"end_turn",   "tool_use", "max_tokens",       "stop_sequence",
                                                              "pause_turn", "refusal",  "context_overflow", "other"};
static_assert(kStopReasonNames.size() == static_cast<std::size_t>(StopReason::other) + 1);

}  // namespace

std::string_view name_of(StopReason reason) { return kStopReasonNames.at(static_cast<std::size_t>(reason)); }

std::optional<StopReason> parse_stop_reason(std::string_view name) {
  for (std::size_t i = 0; i < kStopReasonNames.size(); ++i)
    if (kStopReasonNames[i] == name) return static_cast<StopReason>(i);
  return {};
}

}  // namespace forge::models
