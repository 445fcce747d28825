#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orchestrator/config/config.h"

namespace forge::config {

/// An enum of Config seen as its place among its names.
struct ChoiceSlot {
  std::function<std::size_t()> get;
  std::function<void(std::size_t)> set;
};

/// Where the value of a key lives in a Config; the alternative is also the type of the key. An optional integer is an amount in
/// nano-dollars, written as decimal dollars.
using Slot = std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::string>*, std::optional<std::int64_t>*,
                          std::map<std::string, std::string>*, ChoiceSlot>;

/// What a text (or each text of a list) must be. `expected` completes "must be ...".
struct Format {
  std::string_view expected;
  bool (*fits)(std::string_view text);
};

/// One key of the configuration: the only place that knows its name, type, range and meaning. The default stands in Config's members.
struct Key {
  std::string name;  ///< "jobs.max_turns"; one part may be "*", the name of an entry: "templates.*.pids"
  std::string doc;
  std::function<Slot(Config& config, const std::string& entry)> slot;  ///< makes the entry where it is missing

  std::int64_t least = 0;
  std::int64_t most = 0;
  std::vector<std::string> choices{};
  const Format* format = nullptr;
  bool path = false;      ///< relative ones count from the file's folder (file) or the working directory (environment, flags); "~/" works
  bool prefixed = false;  ///< a path behind a word and a colon: "record:FILE"
  bool secret = false;    ///< shown as set or not set
  std::string unset{};    ///< how an empty default is described

  bool has_entry() const { return name.find('*') != std::string::npos; }
  /// "an integer from 1 to 64", "one of strict, degraded", "a list of host names": completes "must be ...".
  std::string expected() const;
};

/// All keys, in the order of the documentation.
const std::vector<Key>& keys();

/// A key found for a full name, with the entry that the name holds ("" when the key has none).
struct KeyMatch {
  const Key* key = nullptr;
  std::string entry;
};
/// `parts` is the full name split at its dots, an entry with dots (a host) being one part. Nothing when no key has that name.
std::optional<KeyMatch> find_key(const std::vector<std::string>& parts);
/// True when some key stands below these parts ("models", "templates.x"): the name of a table.
bool is_section(const std::vector<std::string>& parts);
/// The full name nearest to `parts`, or "" when none is near.
std::string nearest_key(const std::vector<std::string>& parts);
/// "git.credentials.\"git.example.com\".token_env"
std::string full_name(const Key& key, const std::string& entry);
std::string join_name(const std::vector<std::string>& parts);

/// Names of the entries that `config` holds for a key with an entry.
std::vector<std::string> entries_of(const Key& key, const Config& config);

}  // namespace forge::config
