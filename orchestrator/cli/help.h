#pragma once

#include <string>
#include <vector>

#include "orchestrator/cli/verb.h"

namespace forge::cli {

/// `forge --help`: the verbs by group.
std::string overview(const std::vector<Verb>& verbs);
/// `forge run --help`. `name` is what was typed: "forge sandbox run".
std::string help_of(const std::string& name, const Verb& verb);
/// Options that every verb takes, as they are shown.
std::vector<Option> common_options();

}  // namespace forge::cli
