#pragma once

#include <memory>

#include "orchestrator/domain/job_control.h"
#include "orchestrator/metrics/metrics.h"

namespace forge::assembly {

/// Counts how runs end, by reason, as long as the returned handle lives. `registry` must outlive it.
std::shared_ptr<void> count_run_ends(JobControl& jobs, metrics::Registry& registry);

}  // namespace forge::assembly
