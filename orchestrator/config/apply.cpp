#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "orchestrator/base/absolute_path.h"
#include "orchestrator/base/text.h"
#include "orchestrator/config/keys.h"
#include "orchestrator/config/settings.h"

namespace forge::config {
namespace {

// A value in an error message: enough to recognise it.
constexpr std::size_t kShownBytes = 60;

/// The whole text or nothing; independent of the locale.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end ? std::optional(number) : std::nullopt;
}

/// What was found, as it is quoted in an error.
std::string describe(const Value& value) {
  struct Describe {
    std::string operator()(const RawText& raw) const { return (*this)(raw.text); }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const {
      return fmt::format("\"{}{}\"", to_utf8(text.substr(0, kShownBytes)).text, text.size() > kShownBytes ? "..." : "");
    }
    std::string operator()(const std::vector<std::string>&) const { return "a list"; }
    std::string operator()(const std::map<std::string, std::string>&) const { return "a table"; }
    std::string operator()(const OddValue& odd) const { return odd.what; }
  };
  return std::visit(Describe{}, value);
}

/// Puts a value into the slot of its key. Each overload answers false when the value is none of the key's.
class Assign {
 public:
  Assign(const Key& key, const Setting& setting, const std::string& home) : key_(key), setting_(setting), home_(home) {}

  bool operator()(bool* into) const {
    if (const auto* raw = std::get_if<RawText>(&setting_.value)) {
      *into = raw->text == "true" || raw->text == "1";
      return *into || raw->text == "false" || raw->text == "0";
    }
    const auto* flag = std::get_if<bool>(&setting_.value);
    if (flag) *into = *flag;
    return flag != nullptr;
  }

  bool operator()(std::int64_t* into) const {
    const auto number = value_as<std::int64_t>();
    if (!number || *number < key_.least || *number > key_.most) return false;
    *into = *number;
    return true;
  }

  bool operator()(double* into) const {
    auto number = value_as<double>();
    if (const auto* whole = std::get_if<std::int64_t>(&setting_.value)) number = static_cast<double>(*whole);
    // Written so that NaN fails, too.
    if (!number || !(*number > static_cast<double>(key_.least) && *number <= static_cast<double>(key_.most))) return false;
    *into = *number;
    return true;
  }

  bool operator()(std::string* into) const {
    auto text = value_as_text();
    if (!text || !allowed(*text)) return false;
    // Of "record:FILE" the word stays; a plain path has none.
    const std::size_t path_at = key_.prefixed ? text->find(':') + 1 : 0;
    *into = key_.path && !text->empty() ? text->substr(0, path_at) + resolve(text->substr(path_at)) : *text;
    return true;
  }

  bool operator()(std::vector<std::string>* into) const {
    std::vector<std::string> items;
    if (const auto* raw = std::get_if<RawText>(&setting_.value)) {
      for (const auto& piece : split(raw->text, ','))
        if (!trim(piece).empty()) items.emplace_back(trim(piece));
    } else if (const auto* list = std::get_if<std::vector<std::string>>(&setting_.value)) {
      items = *list;
    } else {
      return false;
    }
    if (key_.format && !std::all_of(items.begin(), items.end(), key_.format->fits)) return false;
    *into = std::move(items);
    return true;
  }

  bool operator()(std::optional<std::int64_t>* into) const {
    std::string text = value_as_text().value_or("");
    if (const auto* whole = std::get_if<std::int64_t>(&setting_.value)) text = std::to_string(*whole);
    // Nine digits are what nano-dollars can hold; a shorter number is printed with zeros, which mean nothing.
    if (const auto* number = std::get_if<double>(&setting_.value)) text = fmt::format("{:.9f}", *number);
    try {
      const std::int64_t amount = parse_usd(text, key_.name);
      if (amount < key_.least) return false;
      *into = amount;
      return true;
    } catch (const Error& e) {
      if (e.code() != ErrorCode::invalid_argument) throw;
      return false;
    }
  }

  bool operator()(std::map<std::string, std::string>* into) const {
    const auto* table = std::get_if<std::map<std::string, std::string>>(&setting_.value);
    if (table) *into = *table;
    return table != nullptr;
  }

  bool operator()(const ChoiceSlot& into) const {
    const auto text = value_as_text();
    const auto found = std::find(key_.choices.begin(), key_.choices.end(), text.value_or(""));
    if (found == key_.choices.end()) return false;
    into.set(static_cast<std::size_t>(found - key_.choices.begin()));
    return true;
  }

 private:
  /// TOML types are strict: "50" is no number. Text of the environment has no type and is read as the key wants it.
  template <typename Number>
  std::optional<Number> value_as() const {
    if (const auto* raw = std::get_if<RawText>(&setting_.value)) return parse_number<Number>(raw->text);
    const auto* number = std::get_if<Number>(&setting_.value);
    return number ? std::optional(*number) : std::nullopt;
  }

  std::optional<std::string> value_as_text() const {
    if (const auto* raw = std::get_if<RawText>(&setting_.value)) return raw->text;
    const auto* text = std::get_if<std::string>(&setting_.value);
    return text ? std::optional(*text) : std::nullopt;
  }

  bool allowed(const std::string& text) const {
    if (!key_.choices.empty()) return std::find(key_.choices.begin(), key_.choices.end(), text) != key_.choices.end();
    if (text.find('\0') != text.npos) return false;
    if (!key_.format || key_.format->fits(text)) return true;
    // "" takes a setting back, where nothing is the default.
    Config fresh;
    return text.empty() && std::get<std::string*>(key_.slot(fresh, "entry"))->empty();
  }

  /// Absolute, so that it means the same wherever the server is started.
  std::string resolve(const std::string& text) const {
    if (text == "~" || text.starts_with("~/")) return home_ + text.substr(1);
    if (setting_.folder.empty() && !text.starts_with('/')) throw_current_directory_gone();
    return (std::filesystem::path(setting_.folder) / text).lexically_normal().string();
  }

  const Key& key_;
  const Setting& setting_;
  const std::string& home_;
};

std::string shown_source(const Source& source) {
  return source.kind == Source::Kind::environment ? "environment variable " + source.where : source.where;
}

}  // namespace

std::string Source::text() const {
  switch (kind) {
    case Kind::built_in: return "default";
    case Kind::file: return where;
    case Kind::environment: return "environment " + where;
    case Kind::flag: return "flag " + where;
  }
  return where;
}

Error setting_error(const Source& source, const std::string& key, const std::string& message, const std::string& hint) {
  return bad_input(key, shown_source(source) + ": " + message, hint);
}

Error unknown_key(const Source& source, const std::vector<std::string>& parts) {
  const std::string nearest = nearest_key(parts);
  return setting_error(source, join_name(parts), fmt::format("unknown key {}", join_name(parts)),
                       nearest.empty() ? "forge config show lists every key" : fmt::format("did you mean {}?", nearest));
}

void apply_setting(const Setting& setting, const std::string& home, Config& config) {
  const auto match = find_key(setting.parts);
  if (!match) throw unknown_key(setting.source, setting.parts);
  const Key& key = *match->key;
  const std::string name = full_name(key, match->entry);
  if (!std::visit(Assign(key, setting, home), key.slot(config, match->entry))) {
    const std::string found = key.secret ? "" : ", not " + describe(setting.value);
    throw setting_error(setting.source, name, fmt::format("{} must be {}{}", name, key.expected(), found), "");
  }
  config.sources[name] = setting.source;
}

}  // namespace forge::config
