#pragma once

#include <cstdint>
#include <string>

#include "adapters/pi/transcript.h"
#include "orchestrator/models/model.h"

namespace forge::adapters::pi {

/// Room for the next response, kept free of the model's window; a quarter of a small window.
inline constexpr std::int64_t kReserveTokens = 16'384;
/// What stays word for word when the rest becomes a summary; half of what a small window has room for.
inline constexpr std::int64_t kKeepTokens = 20'000;

/// When the conversation must become shorter, and how. `window` is the model's, 0 = unknown: then nothing is due before the model refuses.
struct CompactionPlan {
  explicit CompactionPlan(std::int64_t window);
  bool due(std::int64_t context_tokens) const { return limit > 0 && context_tokens > limit; }

  std::int64_t reserve = kReserveTokens;
  std::int64_t keep = kKeepTokens;
  std::int64_t limit = 0;  ///< tokens of a request; 0 = unknown
};

/// What the model is asked to write the summary of everything before `first_kept` with: no tools, one message.
models::ModelRequest summary_request(const Transcript& transcript, std::size_t first_kept, const CompactionPlan& plan);

/// The text that takes the place of what was summed up: the task word for word (cut when very long), then the summary.
std::string summary_message(const std::string& task, const std::string& summary);

}  // namespace forge::adapters::pi
