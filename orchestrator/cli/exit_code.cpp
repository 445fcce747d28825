#include "orchestrator/cli/exit_code.h"

namespace forge::cli {

ExitCode exit_code_of(const Run& run) {
  switch (run.state) {
    case JobState::succeeded: return ExitCode::succeeded;
    case JobState::no_changes: return ExitCode::no_changes;
    case JobState::cancelled: return ExitCode::cancelled;
    case JobState::created:
    case JobState::queued:
    case JobState::leased:
    case JobState::preparing:
    case JobState::running:
    case JobState::finalizing:
    case JobState::failed: break;
  }
  if (run.reason == Reason::budget_exhausted) return ExitCode::budget_exhausted;
  if (run.reason == Reason::timeout) return ExitCode::timeout;
  return ExitCode::failed;
}

ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unauthenticated:
    case ErrorCode::permission_denied:
    case ErrorCode::unsupported:
    case ErrorCode::sandbox_config: return ExitCode::usage;
    case ErrorCode::cancelled: return ExitCode::cancelled;
    case ErrorCode::budget_exhausted: return ExitCode::budget_exhausted;
    case ErrorCode::timed_out: return ExitCode::timeout;
    case ErrorCode::unavailable:
    case ErrorCode::busy:
    case ErrorCode::sandbox_unavailable: return ExitCode::unavailable;
    case ErrorCode::not_found:
    case ErrorCode::conflict:
    case ErrorCode::precondition_failed:
    case ErrorCode::limit_exceeded:
    case ErrorCode::corrupt:
    case ErrorCode::context_overflow:
    case ErrorCode::sandbox_policy:
    case ErrorCode::internal: break;
  }
  return ExitCode::failed;
}

}  // namespace forge::cli
