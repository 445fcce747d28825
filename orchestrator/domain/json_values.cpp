#include "orchestrator/domain/json_values.h"

#include <nlohmann/json.hpp>

namespace forge {

using nlohmann::json;

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }
json time_or_null(std::int64_t ms) { return ms == 0 ? json(nullptr) : json(ms); }
json number_or_null(const std::optional<std::int64_t>& number) { return number ? json(*number) : json(nullptr); }

std::string text_or_empty(const json& object, const char* key) {
  const json& value = object.at(key);
  return value.is_null() ? std::string() : value.get<std::string>();
}

std::int64_t time_or_zero(const json& object, const char* key) {
  const json& value = object.at(key);
  return value.is_null() ? 0 : value.get<std::int64_t>();
}

std::optional<std::int64_t> number_or_nothing(const json& object, const char* key) {
  const json& value = object.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<std::int64_t>());
}

std::string text_at(const json& object, const char* key) { return object.at(key).get<std::string>(); }

Error not_understood(const char* what, const std::exception& error) {
  return {ErrorCode::corrupt, std::string("the server's ") + what + " is not understood: " + error.what()};
}

Error unknown_name(const char* key, const std::string& name) {
  return {ErrorCode::corrupt, std::string("the server's ") + key + " '" + name + "' is unknown here"};
}

}  // namespace forge
