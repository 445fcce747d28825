#pragma once

#include <string>

#include "orchestrator/base/stop.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/domain/trace.h"
#include "orchestrator/git/repository_cache.h"
#include "orchestrator/sandbox/driver.h"

namespace forge::jobs {

/// Turns what the job did to /workspace into one commit on `base`, in the mirror. The sandbox must be halted.
/// Odd entries become findings in `trace` and never fail the commit. Throws limit_exceeded past `limits` (nothing is committed then).
git::CommitBuilder::Result commit_changes(git::RepositoryCache& git, const git::Base& base, sandbox::Sandbox& sandbox,
                                          const sandbox::ChangeLimits& limits, const git::CommitBuilder::Message& message,
                                          const std::string& branch, TraceSink& trace, const Stop& stop);

/// Subject = first line of the summary (72 characters at most), body = the whole, trailers Forge-Job, Forge-Run, Co-authored-by.
git::CommitBuilder::Message commit_message(const Job& job, const Run& run, const std::string& summary);

}  // namespace forge::jobs
