#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "orchestrator/domain/job.h"
#include "orchestrator/domain/job_control.h"
#include "orchestrator/domain/trace.h"

/// The JSON of jobs, as docs/api.md shows it: what POST /api/v1/jobs takes, what the API answers, and the way back for clients.
/// Names are snake_case with their unit; what is not there yet is null.
namespace forge {

/// Caps of a job's parts. Over one: bad_input with the field.
inline constexpr std::size_t kTaskBytes = 256 << 10;
inline constexpr std::size_t kTitleCharacters = 200;
inline constexpr std::size_t kCommandBytes = 16 << 10;
inline constexpr std::size_t kListItems = 50;
inline constexpr std::size_t kNameBytesMax = 256;      ///< adapter, model, template, driver
inline constexpr std::size_t kRepositoryBytes = 4096;  ///< also base

/// The body of POST /api/v1/jobs.
struct JobRequest {
  JobSpec spec;
  bool start = true;
};

/// Reads a request over `defaults`: what the body does not name stays as it is there, and hosts that it allows are added to those there.
/// Unknown keys are refused.
/// Throws bad_input with the JSON path of what is wrong ("limits.max_turns").
JobRequest job_request_from_json(const nlohmann::json& body, JobSpec defaults);
/// The same checks for a spec that did not come as JSON: lengths, counts, ranges, empty parts.
void check_job_spec(const JobSpec& spec);
/// Of these the repository's alone.
void check_repository(const std::string& repository);
/// A body for job_request_from_json. Fields that equal those of `unsaid` are left out, so that the defaults of the other side hold.
nlohmann::json to_json(const JobRequest& request, const JobSpec& unsaid);

/// The body of POST /api/v1/jobs/{id}/run, and the way back. Throws bad_input like job_request_from_json.
NewRun new_run_from_json(const nlohmann::json& body);
nlohmann::json to_json(const NewRun& wanted);

nlohmann::json to_json(const Usage& usage);
nlohmann::json to_json(const DiffStat& stat);
nlohmann::json to_json(const Run& run);
/// The spec's fields beside the job's own, and `last_run`: a Run or null.
nlohmann::json to_json(const Job& job);
/// {"items", "next_cursor"}
nlohmann::json to_json(const JobPage& page);
nlohmann::json to_json(const RunCost& cost);
/// {"items", "next_seq", "next_cursor", "complete"} as text: stored events are joined, not parsed again.
std::string trace_page_json(const TracePage& page);
/// What `forge run --json` prints.
nlohmann::json run_report(const Job& job, const Run& run);

/// The way back. Throws corrupt when the server's answer is not of the shape that to_json makes; unknown keys pass, so that an
/// older client understands a newer server.
Usage usage_from_json(const nlohmann::json& value);
Run run_from_json(const nlohmann::json& value);
Job job_from_json(const nlohmann::json& value);
JobPage job_page_from_json(const nlohmann::json& value);
RunCost run_cost_from_json(const nlohmann::json& value);
TraceEvent trace_event_from_json(const nlohmann::json& value);
TracePage trace_page_from_json(const nlohmann::json& value);

}  // namespace forge
