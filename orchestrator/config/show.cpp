#include "orchestrator/config/show.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/config/keys.h"

namespace forge::config {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kSet = "(set)";
constexpr std::string_view kNotSet = "(not set)";

/// Nano-dollars as the shortest decimal: 1500000000 > "1.5".
std::string plain_usd(std::int64_t nano) {
  std::string text = fmt::format("{}.{:09}", nano / 1'000'000'000, nano % 1'000'000'000);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

/// The value with its type; null where nothing is set.
Json json_of(const Key& key, const Slot& slot) {
  struct Read {
    const Key& key;
    Json operator()(const bool* flag) const { return *flag; }
    Json operator()(const std::int64_t* number) const { return *number; }
    Json operator()(const double* number) const { return *number; }
    Json operator()(const std::string* text) const { return text->empty() ? Json() : Json(*text); }
    Json operator()(const std::vector<std::string>* list) const { return *list; }
    // As text, so that no reader rounds it.
    Json operator()(const std::optional<std::int64_t>* nano) const { return *nano ? Json(plain_usd(**nano)) : Json(); }
    Json operator()(const std::map<std::string, std::string>* table) const {
      if (!key.secret) return Json(*table);
      Json names = Json::array();
      for (const auto& [name, value] : *table) names.push_back(name);
      return names;
    }
    Json operator()(const ChoiceSlot& choice) const { return key.choices.at(choice.get()); }
  };
  return std::visit(Read{key}, slot);
}

std::string text_of(const Json& value) {
  if (value.is_null()) return std::string(kNotSet);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.empty()) return std::string(kNotSet);
  if (!value.is_array() && !value.is_object()) return value.dump();
  std::string joined;
  if (value.is_object()) {
    for (const auto& [name, item] : value.items()) joined += (joined.empty() ? "" : ", ") + name + " = " + item.get<std::string>();
    return "{" + joined + "}";
  }
  for (const auto& item : value) joined += (joined.empty() ? "" : ", ") + item.get<std::string>();
  return "[" + joined + "]";
}

ShownKey shown(const Key& key, const std::string& entry, Config& config) {
  const std::string name = full_name(key, entry);
  const auto source = config.sources.find(name);
  ShownKey row{.key = name, .source = source == config.sources.end() ? Source{}.text() : source->second.text()};
  const Json value = json_of(key, key.slot(config, entry));
  if (key.secret && value.is_array()) {
    // A table of headers: the names are of use, the values are not shown.
    row.value = value.empty() ? std::string(kNotSet) : text_of(value) + " " + std::string(kSet);
    row.value_json = dump_json(value);
  } else if (key.secret) {
    row.value = value.is_null() ? kNotSet : kSet;
    row.value_json = value.is_null() ? "false" : "true";
  } else {
    row.value = text_of(value);
    row.value_json = dump_json(value);
  }
  return row;
}

/// A row for what was resolved: whether it is there, and if not, why. This is where people look first when a key does not work.
ShownKey shown_secret(const std::string& name, const Secret& secret) {
  const bool set = !secret.value.empty();
  std::string value(set ? kSet : kNotSet);
  if (!secret.problem.empty()) value = fmt::format("(not set: {})", secret.problem);
  return {name, value, set ? "true" : "false", secret.origin.empty() ? Source{}.text() : secret.origin};
}

/// "models.providers." of "models.providers.*.kind"; "" without a star.
std::string entry_section(const Key& key) { return key.has_entry() ? key.name.substr(0, key.name.find('*')) : ""; }

void add_secret(const Key& key, const std::string& entry, const Config& config, std::vector<ShownKey>& rows) {
  if (key.name == "models.providers.*.api_key_file")
    rows.push_back(shown_secret(fmt::format("models.providers.{}.api_key", join_name({entry})), config.models.providers.at(entry).api_key));
  if (key.name == "git.credentials.*.token_file")
    rows.push_back(shown_secret(fmt::format("git.credentials.{}.token", join_name({entry})), config.git.credentials.at(entry).token));
}

/// All entries of the section that `first` opens, one after the other.
void add_entries(const Key& first, Config& config, std::vector<ShownKey>& rows) {
  for (const auto& entry : entries_of(first, config))
    for (const Key& key : keys())
      if (entry_section(key) == entry_section(first)) {
        rows.push_back(shown(key, entry, config));
        add_secret(key, entry, config, rows);
      }
}

/// The default as the reference shows it.
std::string default_text(const Key& key) {
  Config fresh;
  const Json value = json_of(key, key.slot(fresh, "entry"));
  if (!key.unset.empty()) return key.unset;
  if (value.is_null() || (value.is_structured() && value.empty())) return "-";
  return "`" + text_of(value) + "`";
}

}  // namespace

std::vector<ShownKey> show(const Config& config) {
  Config copy = config;  // slots make entries where they are missing, so they want to write
  std::vector<ShownKey> rows;
  std::string section;
  for (const Key& key : keys()) {
    if (!key.has_entry())
      rows.push_back(shown(key, "", copy));
    else if (section != entry_section(key))
      add_entries(key, copy, rows);
    section = entry_section(key);
  }
  return rows;
}

std::string reference_table() {
  std::string table = "| key | default | must be | meaning |\n|---|---|---|---|\n";
  for (const Key& key : keys()) {
    std::string name = key.name;
    if (const auto star = name.find('*'); star != name.npos) name.replace(star, 1, key.name.starts_with("git.") ? "HOST" : "NAME");
    table += fmt::format("| `{}` | {} | {} | {} |\n", name, default_text(key), key.expected(), key.doc);
  }
  return table;
}

}  // namespace forge::config
