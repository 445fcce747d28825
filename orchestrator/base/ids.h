#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace forge {

/// An id: UUIDv7 printed as 26 characters of Crockford base32, lower case, so that text order is time order.
/// `Tag` keeps job, run and sandbox ids apart at compile time.
template <typename Tag>
class Id {
 public:
  Id() = default;
  explicit Id(std::string text) : text_(std::move(text)) {}
  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }
  auto operator<=>(const Id&) const = default;

 private:
  std::string text_;
};

using JobId = Id<struct JobTag>;
using RunId = Id<struct RunTag>;
using SandboxId = Id<struct SandboxTag>;
using TokenId = Id<struct TokenTag>;

/// A new UUIDv7 as 26 characters; ids made by one process grow strictly, also within one millisecond.
std::string new_id_text(std::int64_t now_ms);

template <typename IdType>
IdType new_id(std::int64_t now_ms) {
  return IdType(new_id_text(now_ms));
}

/// The whole id (26 characters) in the alphabet of ids.
bool is_id_text(std::string_view text);
/// 6 to 26 characters of that alphabet: what a person may type instead of a whole id.
bool is_id_prefix(std::string_view text);

}  // namespace forge
