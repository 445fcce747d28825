#pragma once

#include <cstdint>
#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "orchestrator/base/error.h"

/// Private to domain: values of the API's JSON, in which what is not there is null, both ways.
namespace forge {

nlohmann::json text_or_null(const std::string& text);
nlohmann::json time_or_null(std::int64_t ms);
nlohmann::json number_or_null(const std::optional<std::int64_t>& number);

// The way back, from a server's answer. They throw what the JSON library throws; not_understood() makes an Error of that.

std::string text_or_empty(const nlohmann::json& object, const char* key);
std::int64_t time_or_zero(const nlohmann::json& object, const char* key);
std::optional<std::int64_t> number_or_nothing(const nlohmann::json& object, const char* key);
std::string text_at(const nlohmann::json& object, const char* key);

/// Shape errors are the server's fault, not the user's, so they are `corrupt`. `what`: "job".
Error not_understood(const char* what, const std::exception& error);
Error unknown_name(const char* key, const std::string& name);

/// A name of an enum; one that this version does not know is corrupt, and said so.
template <typename Parse>
auto named(const nlohmann::json& object, const char* key, Parse&& parse) {
  const std::string name = text_at(object, key);
  const auto value = parse(name);
  if (!value) throw unknown_name(key, name);
  return *value;
}

}  // namespace forge
