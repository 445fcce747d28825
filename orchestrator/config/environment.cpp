#include <fmt/format.h>

#include <algorithm>

#include "orchestrator/base/text.h"
#include "orchestrator/config/keys.h"
#include "orchestrator/config/settings.h"

namespace forge::config {
namespace {

constexpr std::string_view kPrefix = "FORGE_";

/// One underscore is part of a name (max_turns), two end it.
std::vector<std::string> split_at_double_underscore(std::string_view text) {
  std::vector<std::string> parts;
  for (auto at = text.find("__"); at != text.npos; at = text.find("__")) {
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + 2);
  }
  parts.emplace_back(text);
  return parts;
}

/// Some keys have capitals, variables have nothing else: the spelling is the key's.
std::vector<std::string> as_key_spells(std::vector<std::string> parts) {
  for (auto& part : parts) part = lower_ascii(part);
  for (const Key& key : keys())
    if (lower_ascii(key.name) == join_name(parts)) return split(key.name, '.');
  return parts;
}

/// "FORGE_JOBS_MAX_TURNS" where "FORGE_JOBS__MAX_TURNS" was meant: the right name, or "".
std::string meant(std::string_view rest) {
  for (const Key& key : keys()) {
    if (key.has_entry()) continue;
    std::string single = lower_ascii(key.name);
    std::string twice;
    for (const char c : single) twice += c == '.' ? std::string("__") : std::string(1, c);
    std::replace(single.begin(), single.end(), '.', '_');
    if (single == lower_ascii(rest)) {
      std::transform(twice.begin(), twice.end(), twice.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      return std::string(kPrefix) + twice;
    }
  }
  return "";
}

}  // namespace

std::vector<Setting> read_environment(const std::map<std::string, std::string>& environment, const std::string& folder) {
  std::vector<Setting> found;
  for (const auto& [name, value] : environment) {
    if (!name.starts_with(kPrefix)) continue;
    const std::string_view rest = std::string_view(name).substr(kPrefix.size());
    const Source source{Source::Kind::environment, name};
    if (rest.find("__") == rest.npos) {
      // Others may own FORGE_ variables, too; only what is a key with one underscore missing is surely ours.
      if (const std::string right = meant(rest); !right.empty())
        throw setting_error(source, name, "a section and its key are separated by two underscores", fmt::format("write {}", right));
      continue;
    }
    const auto parts = as_key_spells(split_at_double_underscore(rest));
    if (parts.size() > 2 && parts[0] == "git" && parts[1] == "credentials")
      throw setting_error(source, name, "a host cannot be part of a variable's name", "set git.credentials in the configuration file");
    if (!find_key(parts)) throw unknown_key(source, parts);
    found.push_back({parts, RawText{value}, source, folder});
  }
  return found;
}

}  // namespace forge::config
