#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/domain/limits.h"

namespace forge::adapters {

// What every agent is told in the same words, whatever runs its loop.

/// Of the repository's own instructions; more is cut in the middle and said so.
inline constexpr std::size_t kMaxInstructionBytes = 32 << 10;

/// Of the verify commands, for the same reason; one string of a command line, which the whole may be, holds 128 KiB.
inline constexpr std::size_t kMaxChecksBytes = 32 << 10;

/// How an agent ends its work: its last words become the commit's message.
inline constexpr std::string_view kHowToEnd = R"(
# How to end
When the task is done, answer without a tool call. First a line of at most 72 characters in the imperative, as for a commit ("Fix rounding of negative totals"), then an empty line, then a few lines: what changed and why, how you checked it, what is left open. If the task cannot be done or needs no change, say so and why.
)";

/// What the network reaches, one line of a list.
std::string network_line(const NetworkPolicy& policy);
/// Turns and time, one line of a list.
std::string limits_line(const RunLimits& limits);
/// The verify commands: known from the start, an agent checks itself instead of learning it a round later. Empty for none.
std::string checks_section(const std::vector<std::string>& commands);
/// The repository's instructions, marked as coming from there. It stands last, so that nothing of ours stands behind a text that is not
/// ours. Empty for none.
std::string repository_section(std::string_view instructions);

}  // namespace forge::adapters
