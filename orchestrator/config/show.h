#pragma once

#include <string>
#include <vector>

#include "orchestrator/config/config.h"

namespace forge::config {

/// One line of `forge config show`.
struct ShownKey {
  std::string key;
  std::string value;       ///< for people; "(set)" or "(not set)" for a secret
  std::string value_json;  ///< the same typed: 2, true, ["a"], "text"; null for nothing set; a secret is true or false
  std::string source;      ///< Source::text()
};

/// Every key with its value, in the order of the documentation, entries by name. Holds no secret.
std::vector<ShownKey> show(const Config& config);

/// The table of all keys as the lines of a Markdown table: key, default, what it must be and means. docs/operations.md holds it.
std::string reference_table();

}  // namespace forge::config
