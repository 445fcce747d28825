#pragma once

#include <string>

namespace forge::git {

/// AGENTS.md and CLAUDE.md at the root of `tree`, valid UTF-8, each under a heading with its name; "" when there are none. A file longer
/// than 64 KiB is cut, and says so. A link from one to the other is read once.
std::string read_instructions(const std::string& git_dir, const std::string& tree);

}  // namespace forge::git
