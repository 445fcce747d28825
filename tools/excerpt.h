#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "orchestrator/sandbox/driver.h"

namespace forge::tools {

/// What a model is shown of one output or file.
inline constexpr std::size_t kMaxShownBytes = 50 << 10;
inline constexpr std::size_t kMaxShownLines = 2000;
/// Percent of the room that the head of a command's output gets. Failures stand at the end, what began them at the top.
inline constexpr int kHeadShare = 20;

/// Output of a command as a model gets it: whole, or head and tail at line borders.
struct Excerpt {
  std::string head;
  std::string tail;  ///< empty when nothing was cut
  std::int64_t cut_bytes = 0;
};

/// At most kMaxShownBytes and kMaxShownLines, whatever the driver kept. Valid UTF-8.
Excerpt excerpt_of(const sandbox::Captured& output);

/// The first whole lines of `text` that fit both limits.
struct Page {
  std::size_t lines = 0;
  std::size_t bytes = 0;  ///< length of these lines, with their ends
  bool complete = false;  ///< nothing is left after them
};
/// `lines` is 0 with `complete` false when the first line alone is over `max_bytes`.
Page first_page(std::string_view text, std::size_t max_lines, std::size_t max_bytes);

}  // namespace forge::tools
