#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/ids.h"
#include "orchestrator/domain/limits.h"
#include "orchestrator/domain/usage.h"

namespace forge {

/// A run carries the state; a job mirrors its last run. `created` is a job that has no run yet.
enum class JobState { created, queued, leased, preparing, running, finalizing, succeeded, no_changes, failed, cancelled };

std::string_view name_of(JobState state);
std::optional<JobState> parse_job_state(std::string_view name);
constexpr bool is_final(JobState state) { return state >= JobState::succeeded; }
/// A run exists and has not ended.
constexpr bool is_live(JobState state) { return state != JobState::created && !is_final(state); }
/// True when a run may go from `from` to `to`. The truth about moves; store refuses all others.
bool can_move(JobState from, JobState to);

/// Why a run ended: the adapter's words first, then the engine's. Exactly one per terminal run.
enum class Reason {
  completed,
  no_changes,
  max_turns,
  budget_exhausted,
  timeout,
  cancelled,
  stuck,
  refused,
  auth_error,
  api_error,
  context_overflow,
  agent_crash,
  protocol_error,
  setup_failed,
  verify_failed,
  sandbox_failed,
  git_failed,
  push_failed,
  changes_limit,
  no_output,
  output_limit,
  sandbox_lost,
  interrupted
};
std::string_view name_of(Reason reason);
std::optional<Reason> parse_reason(std::string_view name);
/// The table of docs/api.md: completed > succeeded, no_changes > no_changes, cancelled > cancelled, all others > failed.
JobState state_of(Reason reason);
/// One sentence for people: what happened and what to do.
std::string_view explain(Reason reason);

/// What was asked for. Defaults of the configuration are filled in when the job is created, so that the stored spec is complete.
struct JobSpec {
  std::string repository;  ///< path, file:// or http(s):// URL, without credentials
  std::string base;        ///< ref or commit; empty = the remote's HEAD
  std::string task;
  std::string title;  ///< empty: the first line of the task, at most 72 characters
  std::string adapter = "pi";
  std::string model;  ///< provider/model or scripted:FILE
  std::string template_name = "base";
  std::string driver = "local";
  std::vector<std::string> setup;   ///< shell commands before the agent
  std::vector<std::string> verify;  ///< shell commands after it; fed back on failure
  RunLimits limits;
  std::optional<std::int64_t> budget_nano_usd;  ///< per run
  NetworkPolicy network;
  bool push = true;
};

/// What one verify command said the last time it ran.
struct VerifyResult {
  std::string command;
  int exit_code = 0;
};

struct DiffStat {
  std::int64_t files = 0;
  std::int64_t insertions = 0;
  std::int64_t deletions = 0;
};

/// Why a run was made. `first` and `retry` start from the job's base; `follow_up` goes on from the previous run's head tree, and with its
/// conversation where the adapter can; `fork` starts from the head tree of any earlier run, with a fresh agent.
enum class RunKind { first, retry, follow_up, fork };
std::string_view name_of(RunKind kind);
std::optional<RunKind> parse_run_kind(std::string_view name);

/// The state of a run's review. A job shows that of its last run. `waiting`: there is a diff and nobody has had the last word about it.
enum class ReviewStatus { none, waiting, changes_requested, applied, dismissed };
std::string_view name_of(ReviewStatus status);
std::optional<ReviewStatus> parse_review_status(std::string_view name);

/// One attempt at a job.
struct Run {
  RunId id;
  JobId job;
  int number = 1;  ///< 1, 2, ... within the job
  RunKind kind = RunKind::first;
  int from_run = 0;   ///< whose head tree it starts from; 0 = the job's base
  std::string note;   ///< what the person who asked for it said
  std::string brief;  ///< what the agent is told beside the task: the note, and of a review that was sent back what it says
  JobState state = JobState::queued;
  std::optional<Reason> reason;       ///< set when final
  std::string error;                  ///< for people, when failed; holds nothing internal
  std::int64_t lease_generation = 0;  ///< fencing token: every write of the run carries it
  std::string branch;                 ///< forge/<first 10 of the job id>-<number>
  std::string base_ref;               ///< as resolved: "refs/heads/main", or a commit id
  std::string base_commit;            ///< 40 hex digits
  std::string head_commit;            ///< empty when nothing was committed
  bool pushed = false;
  std::string summary;
  DiffStat diff_stat;
  std::string diff_blob;  ///< blob id of the unified diff, empty when there is none
  Usage usage;
  std::optional<std::int64_t> cost_nano_usd;           ///< null = unpriced model
  std::optional<std::int64_t> reported_cost_nano_usd;  ///< what the agent itself says; null = it says nothing
  std::string agent_session;                           ///< the agent's id of the conversation that was kept; empty when none was
  std::string agent_session_blob;                      ///< blob id of it, in the agent's own format
  std::vector<VerifyResult> verify;
  std::vector<std::string> findings;    ///< odd things in the tree or the run, for people
  std::vector<std::string> unenforced;  ///< limits that `degraded` let pass
  ReviewStatus review = ReviewStatus::none;
  std::int64_t created_ms = 0;
  std::int64_t started_ms = 0;  ///< 0 = not yet
  std::int64_t ended_ms = 0;
};

struct Job {
  JobId id;
  JobSpec spec;
  std::string created_by;  ///< principal's name
  std::int64_t created_ms = 0;
  bool cancel_requested = false;
  JobState state = JobState::created;  ///< mirror of the last run
  std::optional<Run> last_run;         ///< nothing while `created`
};

/// Characters of a job's id that branches and lists show. No two jobs of a store share them.
inline constexpr std::size_t kShortIdLength = 10;
/// "forge/<first 10 of the job id>-<run number>"
std::string branch_name(const JobId& job, int run_number);
/// First line of the task, at most 72 characters.
std::string default_title(std::string_view task);

}  // namespace forge
