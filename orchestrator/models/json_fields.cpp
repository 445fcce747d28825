#include "orchestrator/models/json_fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"

namespace forge::models {

using nlohmann::json;

const json* field(const json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(std::string(key));
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

std::string text_field(const json& object, std::string_view key) {
  const json* value = field(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::optional<std::int64_t> count_field(const json& object, std::string_view key) {
  // Above any real count, and so low that a provider which tells nonsense does not make the sums of a day overflow.
  constexpr double kMost = 1e9;
  const json* value = field(object, key);
  if (value == nullptr || !value->is_number()) return {};
  return static_cast<std::int64_t>(std::clamp(value->get<double>(), 0.0, kMost));
}

json parse_event(std::string_view data) {
  try {
    return parse_json(data, "an event of the stream");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    throw Error(ErrorCode::unavailable, error.what());
  }
}

bool is_strict_object(std::string_view arguments) {
  if (arguments.empty()) return true;
  try {
    return parse_json(arguments, "arguments").is_object();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    return false;
  }
}

}  // namespace forge::models
