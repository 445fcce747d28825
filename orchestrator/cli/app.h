#pragma once

#include <string>
#include <vector>

#include "orchestrator/cli/console.h"
#include "orchestrator/cli/services.h"

namespace forge::cli {

/// The command line: finds the verb, reads the configuration, runs it, prints errors as `forge: what` and a hint, returns the exit
/// status of ExitCode (or the command's own, for `sandbox run`). Blocks SIGINT, SIGTERM and SIGHUP for all threads made after it and
/// ignores SIGPIPE, so call it before any thread exists.
int run_cli(int argc, char** argv, Services& services);

/// The same with everything given: `args` is without the program's name.
int run_cli(const std::vector<std::string>& args, Services& services, const Console& console);

}  // namespace forge::cli
