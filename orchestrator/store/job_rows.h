#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/domain/job.h"
#include "orchestrator/domain/job_control.h"
#include "orchestrator/store/database.h"

/// Reading jobs and runs of forge.db.
namespace forge::store {

/// With its last run. Throws not_found.
Job read_job(Database& main, const JobId& id);
/// The id that a whole id or a prefix of 6 and more names, upper case allowed. Throws not_found; conflict when it names several.
JobId find_job(Database& main, const std::string& id_or_prefix);
/// Throws bad_input for a cursor that no page gave, or a limit outside 1..200.
JobPage list_jobs(Database& main, const JobFilter& filter);

/// By number. Empty also for an unknown job.
std::vector<Run> list_runs(Database& main, const JobId& job);
std::optional<Run> find_run(Database& main, const JobId& job, int number);
/// Throws not_found.
Run read_run(Database& main, const RunId& id);
/// Handed out and not ended: leased, preparing, running, finalizing.
std::vector<RunId> runs_in_work(Database& main);

}  // namespace forge::store
