#include "tools/excerpt.h"

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

}  // namespace

Excerpt excerpt_of(const sandbox::Captured& output) {
  HeadTail cut;
  if (!output.truncated()) {
    cut = cut_middle(output.head + output.tail, kMaxShownBytes, kMaxShownLines, kHeadShare);
  } else {
    cut.head = cut_middle(whole_lines_of_head(output.head), kHeadBytes, kHeadLines, 100).head;
    const HeadTail tail = cut_middle(whole_lines_of_tail(output.tail), kTailBytes, kTailLines, 0);
    cut.tail = tail.cut_bytes > 0 ? tail.tail : tail.head;
  }
  Excerpt excerpt;
  excerpt.cut_bytes = output.bytes - static_cast<std::int64_t>(cut.head.size() + cut.tail.size());
  excerpt.head = to_utf8(cut.head).text;
  excerpt.tail = to_utf8(cut.tail).text;
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
