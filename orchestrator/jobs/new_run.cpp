#include "orchestrator/jobs/new_run.h"

#include <algorithm>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/domain/budget.h"

namespace forge::jobs {
namespace {

bool goes_on(RunKind kind) { return kind == RunKind::follow_up || kind == RunKind::fork; }

/// The run that `wanted` names, or the last one that left changes.
int start_of(const NewRun& wanted, const std::vector<Run>& runs) {
  if (wanted.from_run != 0) {
    const auto named = std::find_if(runs.begin(), runs.end(), [&](const Run& run) { return run.number == wanted.from_run; });
    if (named == runs.end()) throw bad_input("from_run", "the job has no run " + std::to_string(wanted.from_run));
    if (named->head_commit.empty())
      throw public_failure(ErrorCode::conflict, "run " + std::to_string(wanted.from_run) + " left no changes to go on from")
          .with_hint("retry starts from the job's base");
    return wanted.from_run;
  }
  const auto last = std::find_if(runs.rbegin(), runs.rend(), [](const Run& run) { return !run.head_commit.empty(); });
  if (last == runs.rend())
    throw public_failure(ErrorCode::conflict, "no run of the job has left changes to go on from")
        .with_hint("retry starts from the job's base");
  return last->number;
}

}  // namespace

store::RunRow row_of(const NewRun& wanted, const std::vector<Run>& runs) {
  check_budget(wanted.budget_nano_usd);
  store::RunRow row{
      .kind = wanted.kind, .from_run = 0, .note = wanted.note, .brief = wanted.note, .budget_nano_usd = wanted.budget_nano_usd};
  if (goes_on(wanted.kind)) {
    if (wanted.kind == RunKind::follow_up && trim(wanted.note).empty())
      throw bad_input("note", "is empty", "what the agent is to do about the earlier result");
    row.from_run = start_of(wanted, runs);
  } else if (wanted.from_run != 0) {
    throw bad_input("from_run", "a retry starts from the job's base", "kind follow_up or fork");
  }
  return row;
}

std::string first_prompt(const Job& job, const Run& run, const Run* earlier) {
  std::string prompt = job.spec.task;
  if (earlier != nullptr) {
    prompt += "\n\nAn earlier attempt has worked on this task, and its result is in the work tree. Go on from there.";
    if (!trim(earlier->summary).empty()) prompt += " Its author's account:\n\n" + earlier->summary;
  }
  if (!trim(run.brief).empty()) prompt += std::string("\n\n") + (earlier != nullptr ? "What is asked of you now:\n\n" : "") + run.brief;
  return prompt;
}

}  // namespace forge::jobs
