#pragma once

#include <map>
#include <string>

#include "orchestrator/config/config.h"

namespace forge::config {

/// Fills in the keys of providers and the tokens of git hosts from the variables and files that the configuration names. One that
/// cannot be had is kept as `Secret::problem`; a file that others can read is a warning.
void resolve_secrets(const std::map<std::string, std::string>& environment, Config& config);

/// Takes keys and base URLs from the variables that vendors' own tools use (ANTHROPIC_API_KEY ...), after all
/// other settings: a base URL wins over the file's, not over Forge's own variables and flags; a key is taken where none is named. Throws
/// invalid_argument naming the variable.
void apply_vendor_variables(const std::map<std::string, std::string>& environment, Config& config);

}  // namespace forge::config
