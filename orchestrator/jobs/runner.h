#pragma once

#include <optional>
#include <string>

#include "adapters/adapter.h"
#include "orchestrator/base/log.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/git/repository_cache.h"
#include "orchestrator/jobs/run_stop.h"
#include "orchestrator/jobs/run_trace.h"
#include "orchestrator/sandbox/driver.h"
#include "orchestrator/store/store.h"

namespace forge::jobs {

/// What one run works with. References outlive the run.
struct RunTools {
  git::RepositoryCache& git;
  sandbox::SandboxDriver& driver;
  adapters::AgentAdapter& adapter;
  const sandbox::Template& contents;
  bool push_partial = false;  ///< push the branch also when the run failed
  Log& log;
};

/// What the runner tells while it runs. It never writes a state itself.
class RunProgress {
 public:
  virtual ~RunProgress() = default;
  /// preparing, running, finalizing. Throws cancelled when the lease is void: stop at once.
  virtual void enter(JobState phase) = 0;
  virtual void learned(const store::RunUpdate& update) = 0;
  /// Keeps the diff; returns its blob id.
  virtual std::string keep_diff(const std::string& text) = 0;
  /// Keeps the agent's conversation, secrets redacted; returns its blob id.
  virtual std::string keep_session(const std::string& text) = 0;
};

/// Where a run starts from, when that is not the job's base.
struct EarlierRun {
  std::optional<Run> run;  ///< its head tree is what the work tree begins with; the diff's base stays its base
  std::optional<adapters::SavedSession> session;
};

/// One run from top to bottom: work tree, sandbox, setup, agent, verify, commit, diff, push. Always returns how it ended; the sandbox is
/// gone when it returns. `stop` says from outside that it must end (cancel, time limit, stall, lost lease); what was done until then is
/// kept.
store::RunEnd execute_run(const Job& job, const Run& run, const EarlierRun& earlier, const RunTools& tools, RunTrace& trace,
                          RunProgress& progress, RunStop& stop);

}  // namespace forge::jobs
