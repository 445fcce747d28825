#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "orchestrator/config/keys.h"
#include "orchestrator/config/settings.h"

namespace forge::config {
namespace {

// A configuration by hand has some hundred lines; beyond this somebody named the wrong file.
constexpr std::uintmax_t kMaxFileBytes = 1 << 20;

/// The whole file, or an error that says what kind of thing stands there instead.
std::string read_file(const std::string& path) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status))
    throw bad_input("config", fmt::format("{}: no such file", path), "name an existing file with --config");
  if (!std::filesystem::is_regular_file(status))
    throw bad_input("config", fmt::format("{}: not a file", path), "name a TOML file with --config");
  const auto bytes = std::filesystem::file_size(path, failure);
  if (!failure && bytes > kMaxFileBytes)
    throw bad_input("config", fmt::format("{}: {} bytes are too many for a configuration", path, bytes), "at most 1 MiB");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) {
    if (in && bytes == 0) return "";  // an empty file sets the failbit of the target stream
    throw bad_input("config", fmt::format("{}: cannot be read", path), "check its owner and mode");
  }
  return text.str();
}

/// Names what no key can take, for the error message.
OddValue odd(const toml::node& node) {
  if (node.is_array()) return {"a list that holds more than texts"};
  if (node.is_table()) return {"a table"};
  return {"a date or time"};
}

/// Keys with lists want texts; numbers in them are refused rather than converted.
Value list_of(const toml::array& array) {
  std::vector<std::string> texts;
  for (const auto& item : array) {
    if (!item.is_string()) return odd(array);
    texts.push_back(**item.as_string());
  }
  return texts;
}

Value table_of(const toml::table& table) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, item] : table) {
    if (!item.is_string()) return OddValue{"a table that holds more than texts"};
    texts.emplace(name.str(), **item.as_string());
  }
  return texts;
}

Value value_of(const toml::node& node) {
  if (const auto* value = node.as_boolean()) return **value;
  if (const auto* value = node.as_integer()) return **value;
  if (const auto* value = node.as_floating_point()) return **value;
  if (const auto* value = node.as_string()) return **value;
  if (const auto* value = node.as_array()) return list_of(*value);
  if (const auto* value = node.as_table()) return table_of(*value);
  return odd(node);
}

/// Goes through the tables of a file. What is a key and what a section is decided by our table, not by the form of the file: `headers`
/// is a table and still a value.
class Walk {
 public:
  explicit Walk(const std::string& path)
      : shown_(std::filesystem::path(path).filename().string()), folder_(std::filesystem::path(path).parent_path().string()) {}

  void table(const toml::table& table, std::vector<std::string>& parts) {
    for (const auto& [name, node] : table) {
      parts.emplace_back(name.str());
      this->node(node, name.source().begin.line, parts);
      parts.pop_back();
    }
  }
  std::vector<Setting> take() { return std::move(found_); }

 private:
  void node(const toml::node& node, unsigned line, std::vector<std::string>& parts) {
    const Source source{Source::Kind::file, fmt::format("{}:{}", shown_, line)};
    if (find_key(parts)) {
      found_.push_back({parts, value_of(node), source, folder_});
    } else if (!is_section(parts)) {
      throw unknown_key(source, parts);
    } else if (const auto* below = node.as_table()) {
      table(*below, parts);
    } else {
      throw setting_error(source, join_name(parts), fmt::format("{} must be a section", join_name(parts)),
                          fmt::format("write [{}]", join_name(parts)));
    }
  }

  std::string shown_;
  std::string folder_;
  std::vector<Setting> found_;
};

}  // namespace

std::vector<Setting> read_toml(const std::string& path) {
  const std::string text = read_file(path);
  Walk walk(path);
  try {
    const toml::table root = toml::parse(text);
    std::vector<std::string> parts;
    walk.table(root, parts);
  } catch (const toml::parse_error& e) {
    const std::string file = std::filesystem::path(path).filename().string();
    throw bad_input("config", fmt::format("{}:{}: {}", file, e.source().begin.line, e.description()),
                    "TOML: key = value, [section], \"text\"");
  }
  return walk.take();
}

}  // namespace forge::config
