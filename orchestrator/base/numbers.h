#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace forge {

/// "12,345", for people.
std::string grouped_digits(std::int64_t number);

/// "1 file", "2 files", "12,345 files", for people; for nouns that take an s.
std::string counted(std::integral auto count, std::string_view noun) {
  std::string text = grouped_digits(static_cast<std::int64_t>(count)) + " ";
  text += noun;
  return count == 1 ? text : text + "s";
}

}  // namespace forge
