#pragma once

#include <vector>

#include "orchestrator/cli/connection.h"
#include "orchestrator/cli/verb.h"

namespace forge::cli {

/// How a run is watched.
struct WatchOptions {
  bool json = false;    ///< the result as one JSON object on standard output, the progress on standard error
  bool events = false;  ///< each trace event as a line of JSON on standard output, nothing else
};
std::vector<Option> watch_options(WatchOptions& options);
/// Throws invalid_argument when both are set.
void check_watch_options(const WatchOptions& options);

enum class OnInterrupt {
  cancel_job,  ///< the first Ctrl-C cancels the job and goes on watching, the second ends this process
  stop_watching,
};

/// Shows the run until it has ended, then what came of it; waits for other runs of this process. Returns the exit status.
int watch_run(Context& context, Connection& connection, const JobId& job, int run, const WatchOptions& options, OnInterrupt on_interrupt);

}  // namespace forge::cli
