#include "tools/nearest_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "orchestrator/base/text.h"
#include "tools/occurrences.h"

namespace forge::tools {
namespace {

constexpr std::size_t kMaxLines = 100'000;
constexpr std::size_t kMaxComparedBytes = 200;  // of one line
constexpr std::size_t kMaxShown = 3;
constexpr std::size_t kMaxShownBlock = 20;  // lines of a block that agrees but for blanks
constexpr int kLeastSimilarity = 50;        // percent; below it a line is no help

using Lines = std::vector<std::string_view>;

/// A bound on the work: a model that misses in a huge file learns more from reading it again.
Lines lines_of(std::string_view text) {
  Lines lines = split_lines(text);
  if (lines.size() > kMaxLines) lines.resize(kMaxLines);
  return lines;
}

/// Without blank lines at both ends: they differ most easily.
Lines trimmed_block(std::string_view wanted) {
  Lines lines = lines_of(wanted);
  while (!lines.empty() && trim(lines.back()).empty()) lines.pop_back();
  const auto first = std::find_if(lines.begin(), lines.end(), [](std::string_view line) { return !trim(line).empty(); });
  lines.erase(lines.begin(), first);
  return lines;
}

/// Index of the first line of `text` from which on all lines of `block` agree once blanks at their ends are ignored.
std::optional<std::size_t> find_but_for_blanks(const Lines& text, const Lines& block, const Stop& stop) {
  if (block.empty()) return {};
  const auto trimmed = [](Lines lines) {
    for (std::string_view& line : lines) line = trim(line);
    return lines;
  };
  const std::vector<std::size_t> found = occurrences(trimmed(text), trimmed(block), stop);
  if (found.empty()) return {};
  return found.front();
}

/// Pairs of neighbouring bytes of a line, counted: two lines are as similar as the share of pairs that they have in common.
class Pairs {
 public:
  explicit Pairs(std::string_view line) : size_(pairs_in(line)) { add(line, 1); }

  /// 0 to 100.
  int similarity(std::string_view line) {
    const std::size_t other = pairs_in(line);
    if (size_ + other == 0) return 0;
    std::size_t common = 0;
    for (std::size_t i = 0; i < other; ++i)
      if (counts_[pair_at(line, i)]-- > 0) ++common;
    add(line, 1);
    return static_cast<int>(200 * common / (size_ + other));
  }

 private:
  static std::size_t pairs_in(std::string_view line) { return std::min(line.size(), kMaxComparedBytes) - (line.empty() ? 0 : 1); }
  static std::size_t pair_at(std::string_view line, std::size_t i) {
    return static_cast<unsigned char>(line[i]) * std::size_t{256} + static_cast<unsigned char>(line[i + 1]);
  }
  void add(std::string_view line, std::int16_t by) {
    for (std::size_t i = 0; i < pairs_in(line); ++i) counts_[pair_at(line, i)] = static_cast<std::int16_t>(counts_[pair_at(line, i)] + by);
  }

  std::vector<std::int16_t> counts_ = std::vector<std::int16_t>(65536);
  std::size_t size_;
};

struct Similar {
  std::size_t line;  // index
  int percent;
};

/// The best first; equals in the order of the file.
std::vector<Similar> most_similar(const Lines& text, std::string_view wanted) {
  Pairs pairs(trim(wanted));
  std::vector<Similar> found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int percent = pairs.similarity(trim(text[i]));
    if (percent >= kLeastSimilarity) found.push_back({i, percent});
  }
  std::stable_sort(found.begin(), found.end(), [](const Similar& a, const Similar& b) { return a.percent > b.percent; });
  if (found.size() > kMaxShown) found.resize(kMaxShown);
  return found;
}

/// "12: text", of a long line the beginning.
std::string numbered(const Lines& text, std::size_t index) {
  return fmt::format("\n{}: {}", index + 1, to_utf8(text[index].substr(0, kMaxComparedBytes)).text);
}

/// The line that tells most: short ones ("}") resemble many.
std::string_view longest(const Lines& lines) {
  return *std::max_element(lines.begin(), lines.end(), [](std::string_view a, std::string_view b) { return a.size() < b.size(); });
}

}  // namespace

std::string describe_nearest(std::string_view text, std::string_view wanted, const Stop& stop) {
  const Lines lines = lines_of(text);
  const Lines block = trimmed_block(wanted);
  if (const auto at = find_but_for_blanks(lines, block, stop)) {
    std::string shown = block.size() == 1 ? fmt::format("Line {} agrees but for blanks", *at + 1)
                                          : fmt::format("Lines {}-{} agree but for blanks", *at + 1, *at + block.size());
    shown += " at the beginning or end of lines:";
    for (std::size_t i = 0; i < std::min(block.size(), kMaxShownBlock); ++i) shown += numbered(lines, *at + i);
    return shown;
  }
  if (block.empty()) return "It holds only blanks: add the lines around them.";
  const std::vector<Similar> similar = most_similar(lines, longest(block));
  if (similar.empty()) return "No line resembles it: read the file again.";
  std::string shown = "The nearest lines are:";
  for (const Similar& one : similar) shown += numbered(lines, one.line);
  return shown;
}

}  // namespace forge::tools
