#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/cli/console.h"
#include "orchestrator/domain/trace.h"

namespace forge::cli {

struct TraceTextOptions {
  Paint paint;
  std::size_t width = 100;       ///< columns of a line that is cut
  std::size_t output_lines = 6;  ///< of a tool's or command's output; 0 = all that the trace holds
  bool thinking = false;
};

/// An event as lines for people, without line breaks; nothing for what says nothing to them. All text of strangers is harmless().
std::vector<std::string> trace_lines(const TraceEvent& event, const TraceTextOptions& options);

/// What a run has come to, summed up from its events: for a status line.
struct RunTally {
  std::optional<JobState> state;
  int turn = 0;
  std::int64_t tokens = 0;
  std::int64_t cost_nano_usd = 0;
  bool unpriced = false;  ///< some request had no price
  bool ended = false;     ///< the terminal event was seen
  void add(const TraceEvent& event);
  /// "running, turn 3, 12.3k tokens, $0.0123"
  std::string text() const;
};

/// 950, "1.2k", "3.4M"
std::string short_count(std::int64_t count);

}  // namespace forge::cli
