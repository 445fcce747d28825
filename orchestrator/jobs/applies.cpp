#include "orchestrator/jobs/applies.h"

#include <algorithm>
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
  // Nobody's commit gets lines that they could not see.
  for (const ReviewComment& comment : review.comments)
    if (comment.accepted && comment.suggestion && !comment.stale && (!comment.draft || comment.author == who.name))
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
  // Before what the review says is judged: who asks means what it said when they read it.
  if (request.revision != review.revision) throw store::changed_meanwhile(review.revision);
  if (review.status == ReviewStatus::dismissed) throw public_failure(ErrorCode::conflict, "the review was dismissed");
  auto [plan, outcome] = planned(reviewed, review, request, who);
  outcome.at_ms = clock_.now_ms();
  const store::ApplyRow row = store_.begin_apply(reviewed.run.id, request.revision, request.key, plan, outcome);
  if (!row.pending) return row.outcome;
  try {
    return complete(row, stop);
  } catch (const std::exception& e) {
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
    store_.note_commit(row.id, outcome.commit);
    push(job.spec.repository, row, outcome, stop);
    outcome.pushed = true;
  }
  store_.finish_apply(row.id, outcome.commit, outcome.pushed);
  return outcome;
}

void Applies::push(const std::string& repository, const store::ApplyRow& row, const AppliedReview& outcome, const Stop& stop) {
  const auto review = store_.review(row.run);
  const std::string last = review ? review->pushed_commit : "";
  std::vector<std::string> may_be_there{last};
  if (review) may_be_there.insert(may_be_there.end(), review->doubtful_commits.begin(), review->doubtful_commits.end());
  for (const std::string& expected : may_be_there) {
    try {
      return git_.push_expecting(repository, outcome.commit, outcome.branch, expected, stop);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::conflict) throw;
    }
  }
  // The push of a process that died may have come through just now: then the branch is where it is to be.
  git_.push_expecting(repository, outcome.commit, outcome.branch, last, stop);
}

void Applies::inherit(std::vector<store::ApplyRow> pending) {
  auto left = left_.lock();
  for (store::ApplyRow& row : pending) left->push_back(std::move(row));
}

std::optional<store::ApplyRow> Applies::take_left(const std::optional<RunId>& run) {
  auto left = left_.lock();
  const auto found = std::find_if(left->begin(), left->end(), [&](const store::ApplyRow& row) { return !run || row.run == *run; });
  if (found == left->end()) return {};
  store::ApplyRow row = std::move(*found);
  left->erase(found);
  return row;
}

bool Applies::complete_left(const store::ApplyRow& row, const Stop& stop) {
  try {
    complete(row, stop);
    log_.info("an apply that was left pending was completed", {{"job", row.job.str()}, {"run", row.run_number}});
    return true;
  } catch (const std::exception& e) {
    const auto* known = dynamic_cast<const Error*>(&e);
    if (known != nullptr && known->code() == ErrorCode::cancelled) {
      inherit({row});
      throw;
    }
    log_.warn("an apply that was left pending came to nothing", {{"job", row.job.str()}, {"run", row.run_number}, {"error", e.what()}});
    give_up(row, e);
    return false;
  }
}

void Applies::give_up(const store::ApplyRow& row, const std::exception& why) {
  const auto* known = dynamic_cast<const Error*>(&why);
  const ErrorCode code = known != nullptr ? known->code() : ErrorCode::internal;
  try {
    store_.fail_apply(row.id, known != nullptr && !known->client_text().empty() ? known->client_text() : std::string(name_of(code)));
  } catch (const std::exception&) {
    inherit({row});  // it still stands there as pending: without this nothing could be done with the review until the next start
    throw;
  }
}

}  // namespace forge::jobs
