#pragma once

#include <string>
#include <string_view>

#include "orchestrator/domain/job.h"

namespace forge::adapters::claude_code {

/// What the program's own system prompt does not know: where it is, its limits, how to end, the checks, and the repository's
/// instructions, which it does not read by itself.
std::string appended_prompt(const JobSpec& spec, std::string_view instructions);

}  // namespace forge::adapters::claude_code
