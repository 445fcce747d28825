#include "tools/excerpt.h"

#include <algorithm>

#include "orchestrator/base/text.h"

namespace forge::tools {
namespace {

// The driver cuts by bytes alone; these hold for what it gives, too.
constexpr std::size_t kHeadLines = kMaxShownLines * kHeadShare / 100;
constexpr std::size_t kTailLines = kMaxShownLines - kHeadLines;
constexpr std::size_t kHeadBytes = kMaxShownBytes * kHeadShare / 100;
constexpr std::size_t kTailBytes = kMaxShownBytes - kHeadBytes;

/// Without the last line, which the driver's cut may have split; the whole when it is one line.
std::string_view whole_lines_of_head(std::string_view head) {
  const std::size_t newline = head.rfind('\n');
  return newline == std::string_view::npos ? head : head.substr(0, newline + 1);
}

/// Without the first line, for the same reason.
std::string_view whole_lines_of_tail(std::string_view tail) {
  const std::size_t newline = tail.find('\n');
  return newline == std::string_view::npos || newline + 1 == tail.size() ? tail : tail.substr(newline + 1);
}

/// Bytes of `raw` that `shown` does not show. Replacements are longer than what they stand for, so it may show "more".
std::int64_t lost(const std::string& raw, const std::string& shown) {
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(raw.size()) - static_cast<std::int64_t>(shown.size()));
}

}  // namespace

// Cleaned first and cut then: each byte that is no text becomes three, and the limit is on what the model gets.
Excerpt excerpt_of(const sandbox::Captured& output) {
  Excerpt excerpt;
  if (!output.truncated()) {
    const HeadTail cut = cut_middle(to_utf8(output.head + output.tail).text, kMaxShownBytes, kMaxShownLines, kHeadShare);
    return {cut.head, cut.tail, static_cast<std::int64_t>(cut.cut_bytes)};
  }
  excerpt.head = cut_middle(to_utf8(whole_lines_of_head(output.head)).text, kHeadBytes, kHeadLines, 100).head;
  const HeadTail tail = cut_middle(to_utf8(whole_lines_of_tail(output.tail)).text, kTailBytes, kTailLines, 0);
  excerpt.tail = tail.cut_bytes > 0 ? tail.tail : tail.head;
  excerpt.cut_bytes = output.cut_bytes + lost(output.head, excerpt.head) + lost(output.tail, excerpt.tail);
  return excerpt;
}

Page first_page(std::string_view text, std::size_t max_lines, std::size_t max_bytes) {
  Page page;
  while (page.bytes < text.size() && page.lines < max_lines) {
    const std::size_t newline = text.find('\n', page.bytes);
    const std::size_t end = newline == std::string_view::npos ? text.size() : newline + 1;
    if (end > max_bytes) return page;
    page.bytes = end;
    ++page.lines;
  }
  page.complete = page.bytes == text.size();
  return page;
}

}  // namespace forge::tools
