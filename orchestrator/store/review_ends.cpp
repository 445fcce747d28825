#include "orchestrator/base/error.h"
#include "orchestrator/store/apply_plan_json.h"
#include "orchestrator/store/event_text.h"
#include "orchestrator/store/job_rows.h"
#include "orchestrator/store/review_moves.h"

/// How a review ends: applied, sent back, dismissed.
namespace forge::store {

void ReviewMoves::require_no_pending_apply(const RunId& run) {
  // The index review_applies_pending would refuse a second one too; looking first gives a text for people. A review that ended otherwise
  // meanwhile would become `applied` behind the back of whoever ended it.
  if (has_pending_apply(scope_.main, run))
    throw public_failure(ErrorCode::conflict, "the review is being applied").with_hint("wait until that is done, then read it again");
}

ApplyRow ReviewMoves::begin_apply(const RunId& run, std::int64_t revision, const std::string& key, const ApplyPlan& plan,
                                  const AppliedReview& outcome) {
  const ReviewHead head = read_review_head(scope_.main, run);
  if (auto earlier = find_apply(scope_.main, run, key)) return std::move(*earlier);
  require_revision(head, revision);
  require_open(head);
  require_no_pending_apply(run);
  ApplyPlan clean_plan = plan;
  clean_plan.message = clean_text(plan.message, redactor_);
  std::int64_t id = 0;
  {
    Query insert = scope_.main.query(R"sql(
        INSERT INTO review_applies (run_id, request_key, state, plan, branch, accepted, rejected, undecided, by_name, at_ms)
        VALUES (:run, :key, 'pending', :plan, :branch, :accepted, :rejected, :undecided, :by, :now)
        RETURNING id
    )sql");
    insert.bind(":run", run.str()).bind(":key", key).bind(":plan", plan_to_json(clean_plan)).bind(":branch", outcome.branch);
    insert.bind(":accepted", outcome.accepted).bind(":rejected", outcome.rejected).bind(":undecided", outcome.undecided);
    insert.bind(":by", outcome.by).bind(":now", scope_.now_ms);
    insert.step();
    id = insert.integer("id");
  }
  return read_apply(scope_.main, id);
}

bool ReviewMoves::note_commit(std::int64_t id, const std::string& commit) {
  return scope_.main.query("UPDATE review_applies SET commit_id = :commit WHERE id = :id AND state = 'pending'")
             .bind(":commit", commit)
             .bind(":id", id)
             .run() == 1;
}

bool ReviewMoves::finish_apply(std::int64_t id, const std::string& commit, bool pushed) {
  RunId run;
  {
    Query query = scope_.main.query(R"sql(
        UPDATE review_applies SET state = 'done', commit_id = :commit, pushed = :pushed WHERE id = :id AND state = 'pending'
        RETURNING run_id
    )sql");
    if (!query.bind(":commit", commit).bind(":pushed", pushed).bind(":id", id).step()) return false;
    run = RunId(query.text("run_id"));
  }
  set_status(run, ReviewStatus::applied);
  bump(run);
  return true;
}

bool ReviewMoves::fail_apply(std::int64_t id, const std::string& error) {
  return scope_.main.query("UPDATE review_applies SET state = 'failed', error = :error WHERE id = :id AND state = 'pending'")
             .bind(":error", clean_text(error, redactor_))
             .bind(":id", id)
             .run() == 1;
}

Run ReviewMoves::send_back(const RunId& run, std::int64_t revision, const std::string& key, const std::string& by, RunRow follow_up) {
  const ReviewHead head = read_review_head(scope_.main, run);
  if (const auto earlier = find_requested_run(scope_.main, head.job, key)) return read_run(scope_.main, *earlier);
  require_revision(head, revision);
  require_open(head);
  require_no_pending_apply(run);
  send_drafts(run, by);
  set_status(run, ReviewStatus::changes_requested);
  bump(run);
  follow_up.request_key = key;
  return runs_.insert_run(scope_, head.job, follow_up);
}

void ReviewMoves::dismiss(const RunId& run, std::int64_t revision) {
  const ReviewHead head = read_review_head(scope_.main, run);
  require_revision(head, revision);
  if (head.status == ReviewStatus::changes_requested) require_open(head);
  require_no_pending_apply(run);
  set_status(run, ReviewStatus::dismissed);
  bump(run);
}

}  // namespace forge::store
