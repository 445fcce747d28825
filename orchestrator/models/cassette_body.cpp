#include "orchestrator/models/cassette_body.h"

#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"

namespace forge::models {
namespace {

using nlohmann::json;

constexpr std::string_view kScrubbed = "[scrubbed]";

void scrub(json& value, std::span<const std::string> path) {
  if (path.empty()) {
    value = kScrubbed;
    return;
  }
  if (path.front() == "*" && value.is_structured()) {
    for (json& item : value) scrub(item, path.subspan(1));
  } else if (value.is_object() && value.contains(path.front())) {
    scrub(value.at(path.front()), path.subspan(1));
  }
}

std::string difference(const json& a, const json& b, const std::string& path);

std::string object_difference(const json& a, const json& b, const std::string& path) {
  std::set<std::string> names;
  for (const json* side : {&a, &b})
    for (const auto& [name, value] : side->items()) names.insert(name);
  for (const std::string& name : names) {
    std::string place = path.empty() ? name : path + "." + name;
    if (!a.contains(name) || !b.contains(name)) return place;
    if (std::string found = difference(a.at(name), b.at(name), place); !found.empty()) return found;
  }
  return {};
}

std::string difference(const json& a, const json& b, const std::string& path) {
  if (a == b) return {};
  if (a.is_object() && b.is_object()) return object_difference(a, b, path);
  if (!a.is_array() || !b.is_array()) return path.empty() ? "(body)" : path;
  for (std::size_t i = 0;; ++i) {
    std::string place = path + "[" + std::to_string(i) + "]";
    if (i >= a.size() || i >= b.size()) return place;
    if (std::string found = difference(a[i], b[i], place); !found.empty()) return found;
  }
}

}  // namespace

json cassette_body(std::string_view body, const std::vector<std::string>& scrubs, const Redactor& redactor) {
  json parsed = parse_leniently(body);
  if (parsed.is_null()) return to_utf8(redactor.apply(body)).text;
  for (const std::string& path : scrubs) scrub(parsed, split(path, '.'));
  const std::string text = redactor.apply(dump_json(parsed));
  json clean = parse_leniently(text);
  if (clean.is_null()) return text;
  return clean;
}

std::string first_difference(const json& a, const json& b) { return difference(a, b, {}); }

}  // namespace forge::models
