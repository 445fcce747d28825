#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/config/config.h"

namespace forge::config {

/// Text that still has to be read by the type of its key: what environment and flags give.
struct RawText {
  std::string text;
};
/// A value of a kind that no key has; `what` names it: "a date", "a list that holds a table".
struct OddValue {
  std::string what;
};
using Value =
    std::variant<RawText, bool, std::int64_t, double, std::string, std::vector<std::string>, std::map<std::string, std::string>, OddValue>;

/// One setting as it was found, before it is checked.
struct Setting {
  std::vector<std::string> parts;  ///< the key's name, split; an entry is one part whatever dots it holds
  Value value;
  Source source;
  std::string folder;  ///< what relative paths count from; empty: the current directory, which is gone
};

/// The settings of a TOML file, by name. Throws invalid_argument with file and line for what is not TOML, for a name that is
/// neither key nor section, and for a file that cannot be read.
std::vector<Setting> read_toml(const std::string& path);

/// The settings in FORGE_SECTION__KEY variables. Throws invalid_argument naming the variable.
std::vector<Setting> read_environment(const std::map<std::string, std::string>& environment, const std::string& folder);

/// Checks one setting and puts it into `config`, with its source. `home` is what "~/" stands for.
void apply_setting(const Setting& setting, const std::string& home, Config& config);

/// The error of a setting: "forge.toml:3: <message>", field = the key, hint = what would be right.
Error setting_error(const Source& source, const std::string& key, const std::string& message, const std::string& hint);
/// The error of a name that is no key: names the nearest one.
Error unknown_key(const Source& source, const std::vector<std::string>& parts);

}  // namespace forge::config
