#pragma once

#include <string>
#include <vector>

#include "orchestrator/domain/job.h"
#include "orchestrator/domain/job_control.h"
#include "orchestrator/store/store.h"

namespace forge::jobs {

/// What is stored of a run that was asked for by hand. `runs` are the job's, by number. Throws bad_input for a kind and a start that do not
/// fit, or a follow-up that says nothing; conflict when there is no result to start from.
store::RunRow row_of(const NewRun& wanted, const std::vector<Run>& runs);

/// What the agent of `run` is told first: the task and, beside it, what the earlier run left and what people say about it.
/// `earlier` is the run whose result lies in the work tree, or null.
std::string first_prompt(const Job& job, const Run& run, const Run* earlier);

}  // namespace forge::jobs
