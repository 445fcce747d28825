#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace forge::models {

// Reading what vendors send: a field that is absent, null or of another type counts as absent. Never throws.

/// The field, or null pointer when `object` is no object, or the field is absent or null.
const nlohmann::json* field(const nlohmann::json& object, std::string_view key);
/// The text of the field; "" when it is no string.
std::string text_field(const nlohmann::json& object, std::string_view key);
/// A count of tokens: never negative; nothing when the field is no number.
std::optional<std::int64_t> count_field(const nlohmann::json& object, std::string_view key);

/// JSON of one event of a stream. Throws unavailable when it is broken: a stream that lost its grammar is tried again, as a cut one is.
nlohmann::json parse_event(std::string_view data);

/// Whether `arguments` of a tool call is one strict JSON object. "" means {} and is.
bool is_strict_object(std::string_view arguments);

}  // namespace forge::models
