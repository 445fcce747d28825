#pragma once

#include <sys/types.h>

#include "orchestrator/sandbox/local/wire.h"

namespace forge::sandbox::local::launcher {

/// Starts the program of a kRun request in a session of its own with exactly the three descriptors, default signals and the request's
/// environment; `in` of -1 is /dev/null. argv[0] without a slash is looked up in the fixed path. Throws StepFailed ("finding the
/// program", "entering the directory", ...) when it does not run.
pid_t start_program(const Packet& request, int in, int out, int err);

}  // namespace forge::sandbox::local::launcher
