#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace forge::adapters::claude_code {

/// Cuts what a program prints into lines. A line over kMaxLineBytes is left out whole: a part of one cannot be read.
class LineReader {
 public:
  static constexpr std::size_t kMaxLineBytes = 16 << 20;

  /// Calls `take(std::string_view)` for each line that is complete now, without its end, valid UTF-8.
  template <typename Take>
  void add(std::string_view piece, Take take) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      keep(piece.substr(0, end));
      if (end == std::string_view::npos) return;
      piece.remove_prefix(end + 1);
      if (const std::string line = next(); !line.empty()) take(std::string_view(line));
    }
  }
  /// The last line, when it had no end; "" when there is none.
  std::string rest() { return next(); }
  /// Lines that were longer than the limit.
  std::size_t left_out() const { return left_out_; }

 private:
  void keep(std::string_view part);
  std::string next();

  std::string line_;
  bool too_long_ = false;
  std::size_t left_out_ = 0;
};

}  // namespace forge::adapters::claude_code
