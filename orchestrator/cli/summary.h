#pragma once

#include <cstdint>
#include <string>

#include "orchestrator/cli/console.h"
#include "orchestrator/domain/job_control.h"

namespace forge::cli {

/// What came of a run, for people: state and reason, diff, cost, branch, checks, findings, and how to see more. Ends with a line break.
std::string run_summary(const Job& job, const Run& run, const Paint& paint);
/// A table of jobs, newest first. `now_ms` is for the ages.
std::string jobs_table(const JobPage& page, std::int64_t now_ms, const Paint& paint, std::size_t width);
/// Usage and cost by model, as a table.
std::string cost_table(const RunCost& cost);

/// The beginning of an id that people type: what branches carry, too.
std::string short_id(const JobId& id);
/// How long ago: "just now", "5 min", "3 h", "12 d"
std::string age(std::int64_t then_ms, std::int64_t now_ms);

}  // namespace forge::cli
