#include "orchestrator/domain/job.h"

#include "orchestrator/base/text.h"
#include "orchestrator/domain/enum_names.h"

namespace forge {
namespace {

constexpr EnumNames<10> kStates{"created",    "queued",    "leased",     "preparing", "running",
                                "finalizing", "succeeded", "no_changes", "failed",    "cancelled"};
static_assert(kStates.size() == static_cast<std::size_t>(JobState::cancelled) + 1);

struct ReasonRow {
  std::string_view name;
  std::string_view sentence;
};

/// In the order of Reason.
constexpr std::array<ReasonRow, 23> kReasons{{
    {"completed", "The agent finished and its changes are on the branch."},
    {"no_changes", "The agent finished without changing a file; ask more precisely if you expected changes."},
    {"max_turns", "The agent used all of its turns; raise limits.max_turns or split the task."},
    {"budget_exhausted", "The money for this run was spent; raise the budget or choose a cheaper model."},
    {"timeout", "The run reached its time limit; raise limits.time_limit_s or split the task."},
    {"cancelled", "The run was cancelled; what it had changed is kept as a diff and was not pushed."},
    {"stuck", "The agent repeated itself without getting further; say more precisely what to do and retry."},
    {"refused", "The model refused the task; rephrase it or choose another model."},
    {"auth_error", "The model provider did not accept the key; check the key in models.providers."},
    {"api_error", "The model could not be asked, or its provider kept failing; retry later or choose another model."},
    {"context_overflow", "The conversation outgrew the model's context; split the task or choose a model with a larger one."},
    {"agent_crash", "The agent program ended unexpectedly; see the last events of the trace."},
    {"protocol_error", "The agent program said something Forge does not understand; check that its version is a supported one."},
    {"setup_failed", "A setup command failed; see its output in the trace."},
    {"verify_failed", "The verify commands still failed after the last round; see their output in the trace."},
    {"sandbox_failed", "The sandbox could not be made or used; see the trace for what is missing."},
    {"git_failed", "The repository could not be fetched, checked out or committed to; check its address, base and credentials."},
    {"push_failed", "The changes are committed in Forge but could not be pushed; check the credentials and the rules of the branch."},
    {"changes_limit", "The run changed more files or bytes than allowed; keep build output out of the work tree."},
    {"no_output", "The agent said nothing for the whole stall limit; raise limits.stall_limit_s if it needs longer."},
    {"output_limit", "The run printed more than is kept; make the commands less talkative."},
    {"sandbox_lost", "The sandbox disappeared during the run; retry."},
    {"interrupted", "Forge was stopped or frozen during the run; retry."},
}};
static_assert(kReasons.size() == static_cast<std::size_t>(Reason::interrupted) + 1);

constexpr EnumNames<4> kRunKinds{"first", "retry", "follow_up", "fork"};
static_assert(kRunKinds.size() == static_cast<std::size_t>(RunKind::fork) + 1);

constexpr EnumNames<5> kReviewStatuses{"none", "waiting", "changes_requested", "applied", "dismissed"};
static_assert(kReviewStatuses.size() == static_cast<std::size_t>(ReviewStatus::dismissed) + 1);

/// Leaving the straight way: back to the queue when the lease is void or the service drains, or an end without a result.
constexpr bool gives_up(JobState to) { return to == JobState::queued || to == JobState::failed || to == JobState::cancelled; }

constexpr std::size_t kDefaultTitleCharacters = 72;

/// The first `count` characters of valid UTF-8.
std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool begins_character = (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
    if (begins_character && count-- == 0) break;
  }
  return text.substr(0, at);
}

}  // namespace

std::string_view name_of(JobState state) { return name_in(kStates, state); }
std::optional<JobState> parse_job_state(std::string_view name) { return value_in<JobState>(kStates, name); }
std::string_view name_of(RunKind kind) { return name_in(kRunKinds, kind); }
std::optional<RunKind> parse_run_kind(std::string_view name) { return value_in<RunKind>(kRunKinds, name); }
std::string_view name_of(ReviewStatus status) { return name_in(kReviewStatuses, status); }
std::optional<ReviewStatus> parse_review_status(std::string_view name) { return value_in<ReviewStatus>(kReviewStatuses, name); }

bool can_move(JobState from, JobState to) {
  switch (from) {  // no default: a new state is a compile warning here
    case JobState::created: return to == JobState::queued;
    case JobState::queued: return to == JobState::leased || to == JobState::cancelled;
    case JobState::leased: return to == JobState::preparing || gives_up(to);
    case JobState::preparing: return to == JobState::running || gives_up(to);
    case JobState::running: return to == JobState::finalizing || gives_up(to);
    case JobState::finalizing: return is_final(to) || to == JobState::queued;
    case JobState::succeeded:
    case JobState::no_changes:
    case JobState::failed:
    case JobState::cancelled: return false;
  }
  return false;
}

std::string_view name_of(Reason reason) { return kReasons.at(static_cast<std::size_t>(reason)).name; }

std::optional<Reason> parse_reason(std::string_view name) {
  for (std::size_t i = 0; i < kReasons.size(); ++i)
    if (kReasons[i].name == name) return static_cast<Reason>(i);
  return {};
}

JobState state_of(Reason reason) {
  if (reason == Reason::completed) return JobState::succeeded;
  if (reason == Reason::no_changes) return JobState::no_changes;
  if (reason == Reason::cancelled) return JobState::cancelled;
  return JobState::failed;
}

std::string_view explain(Reason reason) { return kReasons.at(static_cast<std::size_t>(reason)).sentence; }

std::string branch_name(const JobId& job, int run_number) {
  return "forge/" + job.str().substr(0, kShortIdLength) + "-" + std::to_string(run_number);
}

std::string default_title(std::string_view task) {
  const std::string clean = to_utf8(trim(task)).text;
  const std::string_view line = trim(std::string_view(clean).substr(0, clean.find('\n')));
  if (first_characters(line, kDefaultTitleCharacters).size() == line.size()) return std::string(line);
  return std::string(first_characters(line, kDefaultTitleCharacters - 1)) + "…";
}

}  // namespace forge
