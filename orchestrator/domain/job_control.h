#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/stop.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/domain/principal.h"
#include "orchestrator/domain/spending.h"
#include "orchestrator/domain/trace.h"

namespace forge {

struct JobFilter {
  std::optional<JobState> state;
  std::optional<ReviewStatus> review{};  ///< of the last run
  std::string repository;                ///< exact; empty = any
  std::string cursor;                    ///< from the previous page; empty = the newest
  int limit = 50;                        ///< 1..200
};
struct JobPage {
  std::vector<Job> items;   ///< newest first
  std::string next_cursor;  ///< empty = the end
};
struct TracePage {
  std::vector<TraceEvent> items;
  std::int64_t next_seq = 0;  ///< pass as `after` for the next page
  bool complete = false;      ///< the run has ended and this page reaches its last event
};
struct ModelCost {
  std::string model;
  Usage usage;
  std::optional<std::int64_t> cost_nano_usd;
  std::int64_t requests = 0;
};
struct RunCost {
  Usage usage;
  std::optional<std::int64_t> cost_nano_usd;
  std::optional<std::int64_t> budget_nano_usd;
  std::vector<ModelCost> models;
  std::optional<std::int64_t> reported_cost_nano_usd{};  ///< what the agent itself says, for comparison; null = it says nothing
};

/// What a job may take as its base. `names` are sorted, the default first.
struct Branches {
  std::string default_branch;  ///< "main"; empty when HEAD points at none
  std::vector<std::string> names;
  bool more = false;  ///< there are others beyond kMostBranches
};
inline constexpr std::size_t kMostBranches = 1000;

/// An agent that jobs may name.
struct AdapterEntry {
  std::string name;
  std::string problem;  ///< why it cannot be used now, with what to do; empty: it can
};

/// What a new run of a job is to be.
struct NewRun {
  RunKind kind = RunKind::retry;  ///< `first` is said of the first run only, whatever was asked for
  int from_run = 0;               ///< of follow_up and fork: the run whose result it starts from; 0 = the last one that left changes
  std::string note;               ///< told to the agent beside the task
  /// Of each run of the job from this one on, this one too; nothing: as it was.
  std::optional<std::int64_t> budget_nano_usd{};
};
/// Runs of a job are numbered up to this: six digits.
inline constexpr std::int64_t kMostRuns = 999'999;
/// Cap of a note. Over it: bad_input.
inline constexpr std::size_t kNoteBytes = 32 << 10;

/// What doors and tools may do with jobs. Implemented by jobs/service. Safe to call from any thread.
/// Every call that names a job takes its whole id or a unique prefix; errors: not_found, conflict (prefix names several), and those named.
class JobControl {
 public:
  virtual ~JobControl() = default;
  /// Validates and stores the job; with `start` it is queued at once. Throws invalid_argument with the field.
  virtual Job create(const Principal& who, JobSpec spec, bool start) = 0;
  /// The path on this machine that a repository's name stands for, as the engine will read it; nothing for one over the network.
  /// Throws invalid_argument or unsupported as create() does.
  virtual std::optional<std::string> local_path(const std::string& repository) = 0;
  virtual Job get(const std::string& id) = 0;
  virtual JobPage list(const JobFilter& filter) = 0;
  /// Queues the first run of a `created` job, or a new run of an ended one; conflict while a run lives, and for a follow-up or fork of a
  /// run that left no changes.
  virtual Run new_run(const Principal& who, const std::string& id, const NewRun& wanted) = 0;
  /// Asks for the end of the live run; returns at once. Cancelling an ended job is a conflict; asking twice is not.
  virtual Job cancel(const Principal& who, const std::string& id) = 0;
  virtual std::vector<Run> runs(const std::string& id) = 0;
  /// `run` 0 = the latest. not_found when there is no such run.
  virtual Run run(const std::string& id, int run) = 0;
  /// Events with seq > `after`, at most `limit` (1..1000).
  virtual TracePage trace(const std::string& id, int run, std::int64_t after, int limit) = 0;
  /// Unified diff of the run; "" when it has none.
  virtual std::string diff(const std::string& id, int run) = 0;
  virtual RunCost cost(const std::string& id, int run) = 0;
  /// What all jobs cost, by day, repository and model. Throws bad_input for a span that is empty, too long, or of too many rows.
  virtual SpendingReport spending(const DaySpan& span) = 0;
  virtual std::vector<AdapterEntry> adapters() = 0;
  /// The branches of a repository as it is now. Errors: those of a job's first look at it.
  virtual Branches branches(const std::string& repository, const Stop& stop) = 0;
  /// The whole of a payload that the trace shows cut; not_found for a blob that this run does not hold.
  virtual std::string blob(const std::string& id, int run, const std::string& blob) = 0;

  /// Told after each stored event of any run: `job`, the event. Called from the writer's thread: hand it on, do not work in it.
  using Listener = std::function<void(const JobId& job, const TraceEvent& event)>;
  /// The listener lives until the returned handle dies; after that it is not called again.
  virtual std::shared_ptr<void> subscribe(Listener listener) = 0;
};

}  // namespace forge
