#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/adapter.h"
#include "orchestrator/base/clock.h"
#include "orchestrator/base/log.h"
#include "orchestrator/domain/job_control.h"
#include "orchestrator/domain/review_control.h"
#include "orchestrator/git/repository_cache.h"
#include "orchestrator/jobs/queue.h"
#include "orchestrator/jobs/run_trace.h"
#include "orchestrator/sandbox/driver.h"
#include "orchestrator/store/store.h"

namespace forge::jobs {

/// What the service works with. References outlive it.
struct ServiceParts {
  store::Store& store;
  git::RepositoryCache& git;
  std::map<std::string, sandbox::SandboxDriver*> drivers;
  std::vector<adapters::AgentAdapter*> adapters;
  std::map<std::string, sandbox::Template> templates;
  const Clock& clock;
  Log& log;
  QueueOptions queue;
  bool push_partial = false;
  std::optional<std::int64_t> day_budget_nano_usd{};    ///< shown beside what was spent; the gateway holds it
  std::size_t most_trace_bytes = RunTrace::kMostBytes;  ///< of one run
};

/// Jobs as the doors see them, and the only writer of job states. Ends what a dead process left (`interrupted`) before it starts.
class Service : public JobControl {
 public:
  /// Lives as long as this.
  virtual ReviewControl& reviews() = 0;
  /// Claims nothing more and refuses new jobs and runs with unavailable; waits for live runs until `stop` ends the wait, then interrupts
  /// them.
  virtual void drain(const Stop& stop) = 0;
  /// True once drain() was called.
  virtual bool draining() = 0;
  /// Runs at work now, for metrics and /readyz.
  virtual std::size_t live_runs() = 0;
};
std::unique_ptr<Service> make_service(ServiceParts parts);

}  // namespace forge::jobs
