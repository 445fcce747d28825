#include <fmt/format.h>

#include <algorithm>

#include "orchestrator/base/text.h"
#include "orchestrator/config/formats.h"
#include "orchestrator/config/keys.h"

namespace forge::config {
namespace {

/// A section's name is right in front of the star: "models.providers." of "models.providers.*.kind".
bool fits_entry(const std::string& key_name, const std::string& entry) {
  return key_name.starts_with("git.credentials.") ? fits_credential_host(entry) : fits_entry_name(entry);
}

/// Compares the first `count` parts, a star matching any entry name. `entry` receives what the star stood for.
bool matches(const std::string& key_name, const std::vector<std::string>& pattern, const std::vector<std::string>& parts, std::size_t count,
             std::string& entry) {
  for (std::size_t i = 0; i < count; ++i) {
    if (pattern[i] == "*") {
      if (!fits_entry(key_name, parts[i])) return false;
      entry = parts[i];
    } else if (pattern[i] != parts[i]) {
      return false;
    }
  }
  return true;
}

bool is_bare(std::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
}

}  // namespace

std::optional<KeyMatch> find_key(const std::vector<std::string>& parts) {
  for (const Key& key : keys()) {
    const auto pattern = split(key.name, '.');
    KeyMatch match{&key, ""};
    if (pattern.size() == parts.size() && matches(key.name, pattern, parts, parts.size(), match.entry)) return match;
  }
  return {};
}

bool is_section(const std::vector<std::string>& parts) {
  return std::any_of(keys().begin(), keys().end(), [&](const Key& key) {
    const auto pattern = split(key.name, '.');
    std::string entry;
    return pattern.size() > parts.size() && matches(key.name, pattern, parts, parts.size(), entry);
  });
}

std::string join_name(const std::vector<std::string>& parts) {
  std::string name;
  for (const auto& part : parts) name += (name.empty() ? "" : ".") + (is_bare(part) ? part : '"' + part + '"');
  return name;
}

std::string full_name(const Key& key, const std::string& entry) {
  auto parts = split(key.name, '.');
  for (auto& part : parts)
    if (part == "*") part = entry;
  return join_name(parts);
}

std::string nearest_key(const std::vector<std::string>& parts) {
  // Candidates carry the entry that was written, so that "models.providers.mine.base_ulr" finds its neighbour.
  std::vector<std::string> names;
  for (const Key& key : keys()) {
    const auto pattern = split(key.name, '.');
    const auto star = static_cast<std::size_t>(std::find(pattern.begin(), pattern.end(), "*") - pattern.begin());
    if (star == pattern.size())
      names.push_back(key.name);
    else if (star < parts.size() && fits_entry(key.name, parts[star]))
      names.push_back(full_name(key, parts[star]));
  }
  return nearest(join_name(parts), names);
}

std::string Key::expected() const {
  if (!choices.empty()) return fmt::format("one of {}", fmt::join(choices, ", "));
  Config config;
  const Slot where = slot(config, "entry");
  if (std::holds_alternative<bool*>(where)) return "true or false";
  if (std::holds_alternative<std::int64_t*>(where)) return fmt::format("an integer from {} to {}", least, most);
  if (std::holds_alternative<double*>(where)) return fmt::format("a number above {}, at most {}", least, most);
  if (std::holds_alternative<std::optional<std::int64_t>*>(where))
    return least > 0 ? "an amount in dollars above 0 such as 1.5 (leave it out for no limit)" : "an amount in dollars such as 1.5";
  if (std::holds_alternative<std::map<std::string, std::string>*>(where)) return "a table of texts";
  if (std::holds_alternative<std::vector<std::string>*>(where))
    return format ? fmt::format("a list, each of it {}", format->expected) : std::string("a list of texts");
  if (path && !format) return "a path";
  return format ? std::string(format->expected) : std::string("a text");
}

std::vector<std::string> entries_of(const Key& key, const Config& config) {
  std::vector<std::string> names;
  const auto collect = [&](const auto& entries) {
    for (const auto& [name, entry] : entries) names.push_back(name);
  };
  if (key.name.starts_with("templates.")) collect(config.templates);
  if (key.name.starts_with("models.providers.")) collect(config.models.providers);
  if (key.name.starts_with("git.credentials.")) collect(config.git.credentials);
  return names;
}

}  // namespace forge::config
