#pragma once

#include "orchestrator/sandbox/local/wire.h"

namespace forge::sandbox::local::launcher {

/// Sends a regular file's content to `out`; at most the request's bytes. Throws StepFailed: EISDIR, EFBIG, ENOENT, EACCES ...
void send_file(const Packet& request, int out);

/// Stores what comes from `in` up to its end in the request's path, parents made, mode of an existing file kept. Throws StepFailed.
void store_file(const Packet& request, int in);

}  // namespace forge::sandbox::local::launcher
