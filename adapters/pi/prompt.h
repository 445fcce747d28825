#pragma once

#include <string>
#include <string_view>

#include "orchestrator/domain/job.h"

namespace forge::adapters::pi {

/// What the agent is, where it works, how it ends; then the repository's instructions, marked as coming from there: the one text of the
/// repository that is passed on purpose.
std::string system_prompt(const JobSpec& spec, std::string_view instructions);

}  // namespace forge::adapters::pi
