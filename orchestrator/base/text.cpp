#include "orchestrator/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace forge {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

constexpr bool is_tail_byte(unsigned char byte) { return (byte & 0xc0) == 0x80; }

/// What may follow a lead byte (Unicode 15, table 3-7): the number of tail bytes and the range of the first of them.
struct Lead {
  std::size_t tails;
  unsigned char low;
  unsigned char high;
};

constexpr Lead lead_of(unsigned char byte) {
  if (byte >= 0xc2 && byte <= 0xdf) return {1, 0x80, 0xbf};
  if (byte == 0xe0) return {2, 0xa0, 0xbf};  // no overlong forms
  if (byte == 0xed) return {2, 0x80, 0x9f};  // no surrogates
  if (byte >= 0xe1 && byte <= 0xef) return {2, 0x80, 0xbf};
  if (byte == 0xf0) return {3, 0x90, 0xbf};
  if (byte >= 0xf1 && byte <= 0xf3) return {3, 0x80, 0xbf};
  if (byte == 0xf4) return {3, 0x80, 0x8f};  // nothing above U+10FFFF
  return {0, 0, 0};
}

struct Sequence {
  std::size_t length;  // bytes to take, at least 1: the whole character, or the longest part of one that is broken
  bool good;
};

Sequence sequence_at(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (byte(at) < 0x80) return {1, true};
  const Lead lead = lead_of(byte(at));
  if (lead.tails == 0) return {1, false};
  for (std::size_t i = 1; i <= lead.tails; ++i) {
    if (at + i >= bytes.size()) return {i, false};
    const bool fits = i == 1 ? byte(at + 1) >= lead.low && byte(at + 1) <= lead.high : is_tail_byte(byte(at + i));
    if (!fits) return {i, false};
  }
  return {lead.tails + 1, true};
}

// A character has at most three tail bytes; more of them in a row are broken text, where any place is as good.

/// Moves `at` back to the first byte of the character it stands in.
std::size_t back_to_character(std::string_view text, std::size_t at) {
  for (int steps = 0; steps < 3 && at > 0 && at < text.size() && is_tail_byte(static_cast<unsigned char>(text[at])); ++steps) --at;
  return at;
}

std::size_t forward_to_character(std::string_view text, std::size_t at) {
  for (int steps = 0; steps < 3 && at < text.size() && is_tail_byte(static_cast<unsigned char>(text[at])); ++steps) ++at;
  return at;
}

/// How many bytes of the beginning fit: whole lines, or a part of the first when not even that fits.
std::size_t head_length(std::string_view text, std::size_t max_bytes, std::size_t max_lines) {
  std::size_t end = 0;
  for (std::size_t lines = 0; lines < max_lines && end < text.size(); ++lines) {
    const auto newline = text.find('\n', end);
    const std::size_t next = newline == std::string_view::npos ? text.size() : newline + 1;
    if (next > max_bytes) return lines == 0 ? back_to_character(text, max_bytes) : end;
    end = next;
  }
  return end;
}

/// Where the end that fits begins: at a line, or inside the last when not even that fits.
std::size_t tail_begin(std::string_view text, std::size_t max_bytes, std::size_t max_lines) {
  std::size_t begin = text.size();
  for (std::size_t lines = 0; lines < max_lines && begin > 0; ++lines) {
    const auto newline = begin >= 2 ? text.rfind('\n', begin - 2) : std::string_view::npos;
    const std::size_t previous = newline == std::string_view::npos ? 0 : newline + 1;
    if (text.size() - previous > max_bytes) return lines == 0 ? forward_to_character(text, text.size() - max_bytes) : begin;
    begin = previous;
  }
  return begin;
}

/// `percent` of `whole` without the overflow of whole * percent.
std::size_t share_of(std::size_t whole, int percent) {
  return whole / 100 * static_cast<std::size_t>(percent) + whole % 100 * static_cast<std::size_t>(percent) / 100;
}

/// Levenshtein, with one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

/// ESC becomes ^[, as `cat -v` shows it.
void append_visible(std::string& text, char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte != 0x7f) {
    text += c;
    return;
  }
  text += '^';
  text += byte == 0x7f ? '?' : static_cast<char>(byte + 0x40);
}

/// Bytes of a control beyond ASCII at the beginning of `text`; 0 when it begins with none.
std::size_t bytes_of_hidden_control(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  // U+0080 to U+009F: some terminals obey them.
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) <= 0x9f) return 2;
  // U+202A to U+202E and U+2066 to U+2069 turn the text behind them around: a line would show other code than it holds.
  if (byte(0) != 0xe2) return 0;
  const bool embedding = byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae;
  const bool isolate = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
  return embedding || isolate ? 3 : 0;
}

}  // namespace

CleanText to_utf8(std::string_view bytes) {
  CleanText clean;
  clean.text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const Sequence sequence = sequence_at(bytes, at);
    if (sequence.good && bytes[at] != '\0') {
      clean.text += bytes.substr(at, sequence.length);
    } else {
      clean.text += kReplacement;
      ++clean.replaced;
    }
    at += sequence.length;
  }
  return clean;
}

bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const Sequence sequence = sequence_at(bytes, at);
    if (!sequence.good) return false;
    at += sequence.length;
  }
  return true;
}

HeadTail cut_middle(std::string_view text, std::size_t max_bytes, std::size_t max_lines, int head_share) {
  if (text.size() <= max_bytes && split_lines(text).size() <= max_lines) return {.head = std::string(text), .tail = {}};
  const int share = std::clamp(head_share, 0, 100);
  const std::size_t head_bytes = share_of(max_bytes, share);
  const std::size_t head_lines = share_of(max_lines, share);
  // The tail is looked for behind the head, so that the two never overlap.
  const std::size_t head = head_length(text, head_bytes, head_lines);
  const std::string_view rest = text.substr(head);
  const std::size_t begin = tail_begin(rest, max_bytes - head_bytes, max_lines - head_lines);
  return {.head = std::string(text.substr(0, head)),
          .tail = std::string(rest.substr(begin)),
          .cut_bytes = begin,
          .cut_lines = split_lines(rest.substr(0, begin)).size()};
}

std::string harmless(std::string_view text) {
  std::string safe;
  const std::string clean = to_utf8(text).text;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const std::size_t hidden = bytes_of_hidden_control(std::string_view(clean).substr(i));
    if (clean[i] == '\n' || clean[i] == '\t') {
      safe += clean[i];
    } else if (hidden > 0) {
      safe += "?";
      i += hidden - 1;
    } else if (clean[i] != '\r' || i + 1 >= clean.size() || clean[i + 1] != '\n') {
      append_visible(safe, clean[i]);
    }
  }
  return safe;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto newline = text.find('\n');
    lines.push_back(text.substr(0, newline));
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  }
  return lines;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  while (true) {
    const auto at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string human_bytes(std::size_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.95 would print as "1024.0".
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits.at(unit));
}

std::string human_duration_ms(long long ms) {
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 60'000) return fmt::format("{}.{} s", ms / 1000, ms % 1000 / 100);
  const long long seconds = ms / 1000;
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= group.size() ? kDigits[bits >> (18 - 6 * i) & 0x3f] : '=';
  }
  return text;
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xf];
  }
  return text;
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = word.size() / 3 + 1;
  for (const std::string& candidate : known) {
    // Words may come from a request and be megabytes long: at least the difference of the lengths has to be edited.
    const std::size_t shorter = std::min(word.size(), candidate.size());
    if (std::max(word.size(), candidate.size()) - shorter >= least) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

}  // namespace forge
