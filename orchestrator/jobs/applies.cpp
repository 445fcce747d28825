#include "orchestrator/jobs/applies.h"

#include <map>
#include <set>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/numbers.h"
#include "orchestrator/base/text.h"
#include "orchestrator/jobs/tree_commit.h"

namespace forge::jobs {
namespace {

constexpr std::string_view kBranchEnd = "-accepted";

std::string message_of(const ReviewedRun& reviewed, const ApplyRequest& request, const Principal& who) {
  const auto own = commit_message(reviewed.job, reviewed.run, trim(request.message).empty() ? reviewed.run.summary : request.message);
  std::string text = own.subject + "\n";
  if (!own.body.empty()) text += "\n" + own.body + "\n";
  text += "\n";
  for (const auto& [key, value] : own.trailers) text += key + ": " + value + "\n";
  return text + "Reviewed-by: " + harmless(who.name) + "\n";
}

/// What the review says now, as a plan. Throws conflict when it does not say enough.
std::pair<store::ApplyPlan, AppliedReview> planned(const ReviewedRun& reviewed, const store::ReviewRow& review, const ApplyRequest& request,
                                                   const Principal& who) {
  store::ApplyPlan plan;
  AppliedReview outcome;
  std::map<std::string_view, HunkVerdict> verdicts;
  for (const HunkMark& mark : review.marks)
    if (!mark.stale) verdicts.emplace(mark.hunk_id, mark.verdict);
  for (const FileDiff& file : reviewed.diff->files)
    for (const Hunk& hunk : file.hunks) {
      const auto verdict = verdicts.find(hunk.id);
      if (verdict == verdicts.end()) {
        ++outcome.undecided;
      } else if (verdict->second == HunkVerdict::reject) {
        ++outcome.rejected;
      } else {
        ++outcome.accepted;
        plan.hunks.push_back(hunk.id);
      }
    }
  for (const ReviewComment& comment : review.comments)
    if (comment.accepted && comment.suggestion && !comment.stale)
      plan.suggestions.push_back({comment.id, comment.path, comment.start_line, comment.end_line, *comment.suggestion});
  if (outcome.undecided > 0 && !request.confirm_undecided)
    throw public_failure(ErrorCode::conflict, counted(outcome.undecided, "change") + " not decided yet")
        .with_hint("decide, or confirm with confirm_undecided that they are left out");
  if (plan.hunks.empty() && plan.suggestions.empty())
    throw public_failure(ErrorCode::conflict, "nothing is accepted, so there is nothing to apply");
  plan.message = message_of(reviewed, request, who);
  plan.push = request.push;
  outcome.branch = reviewed.run.branch + std::string(kBranchEnd);
  outcome.by = who.name;
  return {std::move(plan), std::move(outcome)};
}

}  // namespace

AppliedReview Applies::apply(const Principal& who, const ReviewedRun& reviewed, const store::ReviewRow& review, const ApplyRequest& request,
                             const Stop& stop) {
  if (!request.key.empty()) {
    const auto before = store_.find_apply(reviewed.run.id, request.key);
    if (before && !before->pending) return before->outcome;
    if (before) throw public_failure(ErrorCode::busy, "this is being applied").with_hint("ask again in a moment");
  }
  auto [plan, outcome] = planned(reviewed, review, request, who);
  outcome.at_ms = clock_.now_ms();
  const store::ApplyRow row = store_.begin_apply(reviewed.run.id, request.revision, request.key, plan, outcome);
  if (!row.pending) return row.outcome;
  try {
    return complete(row, stop);
  } catch (const Error& e) {
    give_up(row, e);
    throw;
  }
}

AppliedReview Applies::complete(const store::ApplyRow& row, const Stop& stop) {
  const Job job = store_.job(row.job.str());
  const auto run = store_.run(row.job, row.run_number);
  if (!run) throw Error(ErrorCode::corrupt, "the run of an apply is not there");
  git::Acceptance wanted{.repository = job.spec.repository,
                         .base_commit = run->base_commit,
                         .head_commit = run->head_commit,
                         .hunks = row.plan.hunks,
                         .suggestions = {},
                         .message = row.plan.message,
                         .branch = row.outcome.branch,
                         .time_ms = row.outcome.at_ms};
  for (const auto& one : row.plan.suggestions)
    wanted.suggestions.push_back({one.comment.str(), one.path, one.start_line, one.end_line, one.text});
  AppliedReview outcome = row.outcome;
  outcome.commit = git_.accept(wanted, stop).commit;
  if (row.plan.push) {
    push(job.spec.repository, row, outcome, stop);
    outcome.pushed = true;
  }
  store_.finish_apply(row.id, outcome.commit, outcome.pushed);
  return outcome;
}

void Applies::push(const std::string& repository, const store::ApplyRow& row, const AppliedReview& outcome, const Stop& stop) {
  const auto review = store_.review(row.run);
  const std::string expected = review ? review->pushed_commit : "";
  try {
    git_.push_expecting(repository, outcome.commit, outcome.branch, expected, stop);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::conflict) throw;
    // The push of a process that died may have come through just now: then the branch is where it is to be.
    git_.push_expecting(repository, outcome.commit, outcome.branch, expected, stop);
  }
}

bool Applies::complete_pending(const store::ApplyRow& row, const Stop& stop) {
  try {
    complete(row, stop);
    log_.info("an apply that a dead process had begun was completed", {{"job", row.job.str()}, {"run", row.run_number}});
    return true;
  } catch (const Error& e) {
    if (e.code() == ErrorCode::cancelled) return false;  // it stays pending for the next start
    give_up(row, e);
    log_.warn("an apply that a dead process had begun came to nothing",
              {{"job", row.job.str()}, {"run", row.run_number}, {"error", e.what()}});
    return false;
  }
}

void Applies::give_up(const store::ApplyRow& row, const Error& why) {
  store_.fail_apply(row.id, why.client_text().empty() ? std::string(name_of(why.code())) : why.client_text());
}

}  // namespace forge::jobs
