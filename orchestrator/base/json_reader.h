#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forge {

/// Reads one JSON object: required and optional fields by name and type. Errors are bad_input whose field is the JSON path
/// ("limits.max_turns"), say what was expected and what was found. `finish()` refuses unknown keys and names the nearest known one.
class JsonReader {
 public:
  /// Throws bad_input when `object` is not an object. `object` must outlive the reader.
  explicit JsonReader(const nlohmann::json& object, std::string path = {});

  std::string text(std::string_view key);
  std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most);
  std::optional<std::string> optional_text(std::string_view key);
  std::optional<std::int64_t> optional_integer(std::string_view key, std::int64_t least, std::int64_t most);
  std::optional<double> optional_number(std::string_view key);
  std::optional<bool> optional_flag(std::string_view key);
  /// Absent = empty.
  std::vector<std::string> texts(std::string_view key, std::size_t max_items);
  /// The value itself, or null pointer when absent or null.
  const nlohmann::json* find(std::string_view key);
  /// "limits.max_turns" for `key`.
  std::string path_of(std::string_view key) const;
  /// Call last: throws bad_input for a key that nobody asked for.
  void finish() const;

 private:
  const nlohmann::json& object_;
  std::string path_;
  std::vector<std::string> asked_;
};

/// Strict parse: bad_input with the byte offset; `max_depth` (64) guards the stack; duplicate keys are refused.
nlohmann::json parse_json(std::string_view text, std::string_view what);
/// Deepest nesting of JSON from outside that is read at all: copying and printing a value needs the stack once for each level.
inline constexpr std::size_t kMaxLenientDepth = 256;
/// Whether arrays and objects of JSON text stand in each other more than `levels` deep. Reads brackets and strings only.
bool nested_deeper_than(std::string_view text, std::size_t levels);
/// For what others wrote: null when it is not JSON, or nested deeper than kMaxLenientDepth. Of a key that stands twice the last one counts.
nlohmann::json parse_leniently(std::string_view text);
/// Compact, non-UTF-8 replaced rather than thrown.
std::string dump_json(const nlohmann::json& value);

}  // namespace forge
