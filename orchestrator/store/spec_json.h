#pragma once

#include <string>

#include "orchestrator/domain/job.h"

namespace forge::store {

/// A JobSpec as it is stored: every field by name, whatever its default is, so that a later default does not change an old job.
std::string spec_to_json(const JobSpec& spec);
/// Throws corrupt. A field that an older Forge did not write has the default of JobSpec.
JobSpec spec_from_json(const std::string& text);

std::string verify_to_json(const std::vector<VerifyResult>& results);
std::vector<VerifyResult> verify_from_json(const std::string& text);
std::string texts_to_json(const std::vector<std::string>& texts);
std::vector<std::string> texts_from_json(const std::string& text);

}  // namespace forge::store
