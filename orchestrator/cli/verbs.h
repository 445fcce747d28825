#pragma once

#include <vector>

#include "orchestrator/cli/verb.h"

namespace forge::cli {

// One file each in verbs/.
Verb run_verb();
Verb jobs_verb();
Verb show_verb();
Verb cancel_verb();
Verb retry_verb();
Verb review_verb();
Verb apply_verb();
Verb serve_verb();
Verb sandbox_verb();
Verb doctor_verb();
Verb token_verb();
Verb adapter_verb();
Verb config_verb();
Verb version_verb();

/// All of them, in the order of the overview.
std::vector<Verb> all_verbs();

}  // namespace forge::cli
