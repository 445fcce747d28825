#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/cli/services.h"
#include "orchestrator/cli/verb.h"

namespace forge::cli {

/// What a command line asks for: a verb to run, or a text to print.
struct Parsed {
  const Verb* verb = nullptr;  ///< null when there is only `text`
  std::string text;            ///< of --help, or the help that stands in for a verb that was not named
  ConfigChoice config;         ///< from --config, --data-dir, --set, which every verb takes
  bool asked = true;           ///< false: a verb was needed, and none was named
};

/// Reads `args` (without the program's name) and fills the targets of the verb that it names.
/// Throws invalid_argument: the client text says what was wrong, the hint what would be right.
Parsed parse_command_line(const std::vector<std::string>& args, const std::vector<Verb>& verbs);

}  // namespace forge::cli
