#pragma once

#include "orchestrator/jobs/service.h"

namespace forge::jobs {

/// Checks a complete spec before anything is stored. Throws invalid_argument with the field, what was wrong and what would be right.
void validate(const JobSpec& spec, const ServiceParts& parts);

/// The adapter of that name; invalid_argument naming the known ones.
adapters::AgentAdapter& find_adapter(const std::string& name, const ServiceParts& parts);

}  // namespace forge::jobs
