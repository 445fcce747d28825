#pragma once

#include "orchestrator/base/error.h"
#include "orchestrator/domain/job.h"

namespace forge::cli {

/// What `forge run`, `forge retry` and `forge show --follow` say by their exit status; the other verbs use the same numbers.
enum class ExitCode : int {
  succeeded = 0,
  failed = 1,
  usage = 2,
  no_changes = 3,
  cancelled = 4,
  budget_exhausted = 5,
  timeout = 6,
  unavailable = 7,
};

/// What `forge sandbox run` says when it is not the command's own status; 128 + n stands for signal n.
inline constexpr int kSandboxTimedOut = 124;
inline constexpr int kSandboxFailed = 125;
inline constexpr int kSignalBase = 128;
/// As a program that SIGPIPE has ended.
inline constexpr int kOutputClosed = kSignalBase + 13;

constexpr int number(ExitCode code) { return static_cast<int>(code); }

/// Of an ended run. A live one counts as failed: nobody waited for it.
ExitCode exit_code_of(const Run& run);
/// Of an error that ended a verb.
ExitCode exit_code_of(ErrorCode code);

}  // namespace forge::cli
