#include "orchestrator/base/from_base64.h"

#include <cstdint>

namespace forge {
namespace {

/// -1 for what is no digit.
int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

}  // namespace

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return {};
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const std::size_t missing = at + 4 == text.size() ? padding : 0;
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const int value = i < 4 - missing ? value_of(text[at + i]) : 0;
      if (value < 0) return {};
      bits = bits << 6 | static_cast<std::uint32_t>(value);
    }
    if (missing > 0 && (bits & ((1U << (8 * missing)) - 1)) != 0) return {};  // two texts must not mean the same bytes
    for (std::size_t i = 0; i < 3 - missing; ++i) bytes += static_cast<char>(bits >> (16 - 8 * i) & 0xff);
  }
  return bytes;
}

}  // namespace forge
