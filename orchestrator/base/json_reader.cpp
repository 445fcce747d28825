#include "orchestrator/base/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxJsonDepth = 64;

/// What stands there instead, for people; never the value itself, which may be long or secret.
std::string_view found(const json& value) {
  switch (value.type()) {
    case json::value_t::null: return "null";
    case json::value_t::object: return "an object";
    case json::value_t::array: return "an array";
    case json::value_t::string: return "a string";
    case json::value_t::boolean: return "a boolean";
    case json::value_t::number_integer:
    case json::value_t::number_unsigned: return "an integer";
    case json::value_t::number_float: return "a number with a fraction";
    case json::value_t::binary:
    case json::value_t::discarded: break;
  }
  return "something else";
}

Error wrong_type(std::string path, std::string_view expected, const json& value) {
  return bad_input(std::move(path), fmt::format("expected {}, found {}", expected, found(value)));
}

std::int64_t integer_in(const json& value, const std::string& path, std::int64_t least, std::int64_t most) {
  const std::string range = fmt::format("an integer from {} to {}", least, most);
  if (!value.is_number_integer()) throw wrong_type(path, range, value);
  // nlohmann keeps numbers above INT64_MAX unsigned, and get<int64>() would wrap them.
  const bool too_large = value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
  if (too_large || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
    throw bad_input(path, fmt::format("expected {}, found {}", range, value.dump()));
  return value.get<std::int64_t>();
}

std::string text_in(const json& value, const std::string& path) {
  if (!value.is_string()) throw wrong_type(path, "a string", value);
  return value.get<std::string>();
}

/// What a strict parse refuses beyond the grammar: depth and duplicate keys.
class Strictness {
 public:
  explicit Strictness(std::string_view what) : what_(what) {}

  bool operator()(int, json::parse_event_t event, json& parsed) {
    using Event = json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (keys_.size() >= kMaxJsonDepth) throw bad_input("", fmt::format("{} is nested deeper than {} levels", what_, kMaxJsonDepth));
      keys_.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      keys_.pop_back();
    } else if (event == Event::key && !keys_.back().insert(parsed.get_ref<const std::string&>()).second) {
      throw bad_input("",
                      fmt::format("{} has the key '{}' twice in one object", what_, parsed.get_ref<const std::string&>().substr(0, 80)));
    }
    return true;
  }

 private:
  std::string_view what_;
  std::vector<std::set<std::string>> keys_;  // of each open object or array, the outermost first
};

/// The quote that closes the string which begins at `at`; the end of the text when none does.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at, text.size());
}

}  // namespace

JsonReader::JsonReader(const json& object, std::string path) : object_(object), path_(std::move(path)) {
  if (!object_.is_object()) throw wrong_type(path_, "an object", object_);
}

std::string JsonReader::path_of(std::string_view key) const { return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key); }

const json* JsonReader::find(std::string_view key) {
  // Remembered also when absent: finish() must know every name that is allowed.
  asked_.emplace_back(key);
  const auto it = object_.find(asked_.back());
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

std::string JsonReader::text(std::string_view key) {
  const json* value = find(key);
  if (value == nullptr) throw bad_input(path_of(key), "expected a string, found nothing");
  return text_in(*value, path_of(key));
}

std::int64_t JsonReader::integer(std::string_view key, std::int64_t least, std::int64_t most) {
  const json* value = find(key);
  if (value == nullptr) throw bad_input(path_of(key), fmt::format("expected an integer from {} to {}, found nothing", least, most));
  return integer_in(*value, path_of(key), least, most);
}

std::optional<std::string> JsonReader::optional_text(std::string_view key) {
  const json* value = find(key);
  if (value == nullptr) return {};
  return text_in(*value, path_of(key));
}

std::optional<std::int64_t> JsonReader::optional_integer(std::string_view key, std::int64_t least, std::int64_t most) {
  const json* value = find(key);
  if (value == nullptr) return {};
  return integer_in(*value, path_of(key), least, most);
}

std::optional<double> JsonReader::optional_number(std::string_view key) {
  const json* value = find(key);
  if (value == nullptr) return {};
  if (!value->is_number()) throw wrong_type(path_of(key), "a number", *value);
  return value->get<double>();
}

std::optional<bool> JsonReader::optional_flag(std::string_view key) {
  const json* value = find(key);
  if (value == nullptr) return {};
  if (!value->is_boolean()) throw wrong_type(path_of(key), "true or false", *value);
  return value->get<bool>();
}

std::vector<std::string> JsonReader::texts(std::string_view key, std::size_t max_items) {
  const json* value = find(key);
  if (value == nullptr) return {};
  if (!value->is_array()) throw wrong_type(path_of(key), "an array of strings", *value);
  if (value->size() > max_items)
    throw bad_input(path_of(key), fmt::format("expected at most {} items, found {}", max_items, value->size()));
  std::vector<std::string> all;
  for (const json& item : *value) all.push_back(text_in(item, fmt::format("{}[{}]", path_of(key), all.size())));
  return all;
}

void JsonReader::finish() const {
  for (const auto& [key, value] : object_.items()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    const std::string near = nearest(key, asked_);
    throw bad_input(path_of(key.substr(0, 80)), "unknown field", near.empty() ? "" : "did you mean '" + near + "'?");
  }
}

json parse_json(std::string_view text, std::string_view what) {
  // "Unexpected end at byte 1" would be true and of no help.
  if (trim(text).empty()) throw bad_input("", fmt::format("{} is empty where JSON was expected", what));
  Strictness strictness(what);
  try {
    return json::parse(text, [&](int depth, json::parse_event_t event, json& parsed) { return strictness(depth, event, parsed); });
  } catch (const json::parse_error& error) {
    throw bad_input("", fmt::format("{} is not valid JSON (byte {})", what, error.byte));
  } catch (const json::exception& error) {  // a number too large for a double
    throw bad_input("", fmt::format("{} is not valid JSON ({})", what, error.what()));
  }
}

bool nested_deeper_than(std::string_view text, std::size_t levels) {
  std::size_t depth = 0;
  for (std::size_t at = 0; (at = text.find_first_of("\"[]{}", at)) != std::string_view::npos; ++at) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
    } else if (c == '[' || c == '{') {
      if (++depth > levels) return true;
    } else if (depth > 0) {
      --depth;
    }
  }
  return false;
}

json parse_leniently(std::string_view text) {
  if (nested_deeper_than(text, kMaxLenientDepth)) return {};
  json parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return {};
  return parsed;
}

std::string dump_json(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace forge
