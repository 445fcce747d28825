#include "orchestrator/store/review_rows.h"

#include "orchestrator/base/error.h"
#include "orchestrator/store/apply_plan_json.h"
#include "orchestrator/store/enum_column.h"

namespace forge::store {
namespace {

HunkMark mark_in(Query& row) {
  return {.hunk_id = row.text("hunk_id"),
          .verdict = enum_in(row, "verdict", parse_hunk_verdict),
          .reason = row.text("reason"),
          .by = row.text("by_name"),
          .at_ms = row.integer("at_ms"),
          .from_run = static_cast<int>(row.integer("from_run")),
          .stale = row.integer("stale") != 0};
}

ReviewComment comment_in(Query& row) {
  return {.id = CommentId(row.text("id")),
          .author = row.text("author"),
          .path = row.text("path"),
          .side = enum_in(row, "side", parse_diff_side),
          .start_line = static_cast<int>(row.integer("start_line")),
          .end_line = static_cast<int>(row.integer("end_line")),
          .quote = row.text("quote"),
          .body = row.text("body"),
          .suggestion = row.is_null("suggestion") ? std::nullopt : std::optional(row.text("suggestion")),
          .accepted = row.integer("accepted") != 0,
          .draft = row.integer("draft") != 0,
          .stale = row.integer("stale") != 0,
          .from_run = static_cast<int>(row.integer("from_run")),
          .created_ms = row.integer("created_ms"),
          .updated_ms = row.integer("updated_ms")};
}

ViewedMark viewed_in(Query& row) { return {.path = row.text("path"), .content_hash = row.text("content_hash")}; }

AppliedReview outcome_in(Query& row) {
  return {.commit = row.text("commit_id"),
          .branch = row.text("branch"),
          .accepted = row.integer("accepted"),
          .rejected = row.integer("rejected"),
          .undecided = row.integer("undecided"),
          .pushed = row.integer("pushed") != 0,
          .by = row.text("by_name"),
          .at_ms = row.integer("at_ms")};
}

/// Of review_applies joined with its run.
ApplyRow apply_in(Query& row) {
  return {.id = row.integer("id"),
          .run = RunId(row.text("run_id")),
          .job = JobId(row.text("job_id")),
          .run_number = static_cast<int>(row.integer("number")),
          .plan = plan_from_json(row.text("plan")),
          .outcome = outcome_in(row),
          .error = row.text("error"),
          .pending = row.text("state") == "pending"};
}

std::vector<HunkMark> list_marks(Database& main, const RunId& run) {
  std::vector<HunkMark> marks;
  Query query = main.query("SELECT * FROM review_marks WHERE run_id = :run ORDER BY hunk_id");
  query.bind(":run", run.str());
  while (query.step()) marks.push_back(mark_in(query));
  return marks;
}

std::vector<ReviewComment> list_comments(Database& main, const RunId& run) {
  std::vector<ReviewComment> comments;
  // Ids grow with time.
  Query query = main.query("SELECT * FROM review_comments WHERE run_id = :run ORDER BY id");
  query.bind(":run", run.str());
  while (query.step()) comments.push_back(comment_in(query));
  return comments;
}

/// Without its plan, which may be large.
std::optional<AppliedReview> last_applied(Database& main, const RunId& run) {
  Query query = main.query(R"sql(
      SELECT commit_id, branch, accepted, rejected, undecided, pushed, by_name, at_ms FROM review_applies
       WHERE run_id = :run AND state = 'done' ORDER BY id DESC LIMIT 1
  )sql");
  if (!query.bind(":run", run.str()).step()) return {};
  return outcome_in(query);
}

std::string last_pushed(Database& main, const RunId& run) {
  Query query = main.query(R"sql(
      SELECT commit_id FROM review_applies WHERE run_id = :run AND state = 'done' AND pushed = 1 ORDER BY id DESC LIMIT 1
  )sql");
  return query.bind(":run", run.str()).step() ? query.text("commit_id") : "";
}

std::vector<std::string> doubtful_commits(Database& main, const RunId& run) {
  std::vector<std::string> commits;
  Query query = main.query(R"sql(
      SELECT commit_id FROM review_applies
       WHERE run_id = :run AND state = 'failed' AND commit_id <> ''
         AND id > (SELECT ifnull(max(id), 0) FROM review_applies WHERE run_id = :run AND state = 'done' AND pushed = 1)
       ORDER BY id DESC LIMIT :most
  )sql");
  query.bind(":run", run.str()).bind(":most", static_cast<std::int64_t>(kDoubtfulPushes));
  while (query.step()) commits.push_back(query.text("commit_id"));
  return commits;
}

}  // namespace

ReviewHead read_review_head(Database& main, const RunId& run) {
  Query query = main.query(R"sql(
      SELECT runs.job_id, runs.review, reviews.revision FROM reviews JOIN runs ON runs.id = reviews.run_id WHERE reviews.run_id = :run
  )sql");
  if (!query.bind(":run", run.str()).step()) throw public_failure(ErrorCode::not_found, "the run has no review");
  return {
      .job = JobId(query.text("job_id")), .revision = query.integer("revision"), .status = enum_in(query, "review", parse_review_status)};
}

std::optional<ReviewRow> find_review(Database& main, const RunId& run) {
  ReviewRow review{.run = run};
  {
    Query query = main.query(R"sql(
        SELECT reviews.revision, reviews.summary, runs.review FROM reviews JOIN runs ON runs.id = reviews.run_id
         WHERE reviews.run_id = :run
    )sql");
    if (!query.bind(":run", run.str()).step()) return {};
    review.revision = query.integer("revision");
    review.status = enum_in(query, "review", parse_review_status);
    review.summary = query.text("summary");
  }
  review.marks = list_marks(main, run);
  review.comments = list_comments(main, run);
  review.applied = last_applied(main, run);
  review.pushed_commit = last_pushed(main, run);
  review.doubtful_commits = doubtful_commits(main, run);
  return review;
}

std::vector<ViewedMark> list_viewed(Database& main, const RunId& run, const std::string& principal) {
  std::vector<ViewedMark> viewed;
  Query query = main.query("SELECT path, content_hash FROM review_viewed WHERE run_id = :run AND principal = :principal ORDER BY path");
  query.bind(":run", run.str()).bind(":principal", principal);
  while (query.step()) viewed.push_back(viewed_in(query));
  return viewed;
}

std::vector<ReviewBeginning::Viewed> list_all_viewed(Database& main, const RunId& run) {
  std::vector<ReviewBeginning::Viewed> viewed;
  Query query = main.query("SELECT principal, path, content_hash FROM review_viewed WHERE run_id = :run ORDER BY principal, path");
  query.bind(":run", run.str());
  while (query.step()) viewed.push_back({.principal = query.text("principal"), .mark = viewed_in(query)});
  return viewed;
}

std::int64_t count_comments(Database& main, const RunId& run) {
  Query query = main.query("SELECT count(*) AS n FROM review_comments WHERE run_id = :run");
  query.bind(":run", run.str()).step();
  return query.integer("n");
}

std::optional<ReviewComment> find_comment(Database& main, const RunId& run, const CommentId& comment) {
  Query query = main.query("SELECT * FROM review_comments WHERE id = :id AND run_id = :run");
  if (!query.bind(":id", comment.str()).bind(":run", run.str()).step()) return {};
  return comment_in(query);
}

std::optional<ApplyRow> find_apply(Database& main, const RunId& run, const std::string& key) {
  Query query = main.query(R"sql(
      SELECT applies.*, runs.job_id, runs.number FROM review_applies AS applies JOIN runs ON runs.id = applies.run_id
       WHERE applies.run_id = :run AND applies.request_key = :key AND applies.request_key <> '' AND applies.state <> 'failed'
  )sql");
  if (!query.bind(":run", run.str()).bind(":key", key).step()) return {};
  return apply_in(query);
}

ApplyRow read_apply(Database& main, std::int64_t id) {
  Query query = main.query(R"sql(
      SELECT applies.*, runs.job_id, runs.number FROM review_applies AS applies JOIN runs ON runs.id = applies.run_id
       WHERE applies.id = :id
  )sql");
  if (!query.bind(":id", id).step()) throw Error(ErrorCode::not_found, "no apply " + std::to_string(id));
  return apply_in(query);
}

bool has_pending_apply(Database& main, const RunId& run) {
  Query query = main.query("SELECT 1 FROM review_applies WHERE run_id = :run AND state = 'pending'");
  return query.bind(":run", run.str()).step();
}

std::vector<ApplyRow> list_pending_applies(Database& main) {
  std::vector<ApplyRow> applies;
  Query query = main.query(R"sql(
      SELECT applies.*, runs.job_id, runs.number FROM review_applies AS applies JOIN runs ON runs.id = applies.run_id
       WHERE applies.state = 'pending' ORDER BY applies.id
  )sql");
  while (query.step()) applies.push_back(apply_in(query));
  return applies;
}

std::optional<RunId> find_requested_run(Database& main, const JobId& job, const std::string& key) {
  Query query = main.query("SELECT id FROM runs WHERE job_id = :job AND request_key = :key AND request_key <> ''");
  if (!query.bind(":job", job.str()).bind(":key", key).step()) return {};
  return RunId(query.text("id"));
}

}  // namespace forge::store
