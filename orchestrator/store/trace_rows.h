#pragma once

#include <cstdint>
#include <string>

#include "orchestrator/domain/job_control.h"
#include "orchestrator/store/readers.h"

namespace forge::store {

/// Events of `run` with seq > `after` from both files, merged, at most `limit` (clamped to 1..1000). Throws not_found for an unknown run.
TracePage read_events(Readers& readers, const RunId& run, std::int64_t after, int limit);

/// True when the run's trace names the blob, or it is the run's diff.
bool run_names_blob(Readers& readers, const RunId& run, const std::string& blob);

}  // namespace forge::store
