#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

/// Private to domain: names of enums, in the order of their values, both ways.
namespace forge {

template <std::size_t N>
using EnumNames = std::array<std::string_view, N>;

template <typename Enum, std::size_t N>
std::string_view name_in(const EnumNames<N>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

template <typename Enum, std::size_t N>
std::optional<Enum> value_in(const EnumNames<N>& names, std::string_view name) {
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return {};
  return static_cast<Enum>(found - names.begin());
}

}  // namespace forge
