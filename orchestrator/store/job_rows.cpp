#include "orchestrator/store/job_rows.h"

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/store/enum_column.h"
#include "orchestrator/store/spec_json.h"

namespace forge::store {
namespace {

constexpr int kMostJobsPerPage = 200;
// The cursor is the last id of a page behind this mark: opaque to callers, and a bare id is not taken for one.
constexpr std::string_view kCursorMark = "j.";

Run run_in(Query& row) {
  Run run;
  run.id = RunId(row.text("id"));
  run.job = JobId(row.text("job_id"));
  run.number = static_cast<int>(row.integer("number"));
  run.kind = enum_in(row, "kind", parse_run_kind);
  run.from_run = static_cast<int>(row.integer("from_run"));
  run.note = row.text("note");
  run.brief = row.text("brief");
  run.review = enum_in(row, "review", parse_review_status);
  run.state = enum_in(row, "state", parse_job_state);
  if (!row.is_null("reason")) run.reason = enum_in(row, "reason", parse_reason);
  run.error = row.text("error");
  run.lease_generation = row.integer("lease_generation");
  run.branch = row.text("branch");
  run.base_ref = row.text("base_ref");
  run.base_commit = row.text("base_commit");
  run.head_commit = row.text("head_commit");
  run.pushed = row.integer("pushed") != 0;
  run.summary = row.text("summary");
  run.diff_stat = {
      .files = row.integer("diff_files"), .insertions = row.integer("diff_insertions"), .deletions = row.integer("diff_deletions")};
  run.diff_blob = row.text("diff_blob");
  run.usage = {.input = row.integer("input_tokens"),
               .output = row.integer("output_tokens"),
               .cache_read = row.integer("cache_read_tokens"),
               .cache_write = row.integer("cache_write_tokens")};
  run.cost_nano_usd = row.optional_integer("cost_nano_usd");
  run.reported_cost_nano_usd = row.optional_integer("reported_cost_nano_usd");
  run.agent_session = row.text("agent_session");
  run.agent_session_blob = row.text("agent_session_blob");
  run.verify = verify_from_json(row.text("verify"));
  run.findings = texts_from_json(row.text("findings"));
  run.unenforced = texts_from_json(row.text("unenforced"));
  run.created_ms = row.integer("created_ms");
  run.started_ms = row.integer("started_ms");
  run.ended_ms = row.integer("ended_ms");
  return run;
}

/// Without its last run; `last_run` receives that one's number.
Job job_in(Query& row, int& last_run) {
  Job job;
  job.id = JobId(row.text("id"));
  job.spec = spec_from_json(row.text("spec"));
  job.created_by = row.text("created_by");
  job.created_ms = row.integer("created_ms");
  job.cancel_requested = row.integer("cancel_requested") != 0;
  job.state = enum_in(row, "state", parse_job_state);
  last_run = static_cast<int>(row.integer("last_run"));
  return job;
}

Error no_such_job(const std::string& text) { return public_failure(ErrorCode::not_found, "no job '" + to_utf8(text).text + "'"); }

std::string id_after(const std::string& cursor) {
  if (cursor.empty()) return {};
  const std::string_view text = cursor;
  if (!text.starts_with(kCursorMark) || !is_id_text(text.substr(kCursorMark.size())))
    throw bad_input("cursor", "not a cursor of a page of jobs", "pass the next_cursor of the previous page, or nothing");
  return std::string(text.substr(kCursorMark.size()));
}

std::optional<std::string> unless_empty(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

/// Binds what every list of jobs has, and reads the page.
JobPage read_page(Database& main, Query& query, const JobFilter& filter) {
  JobPage page;
  query.bind(":state", filter.state ? std::optional(std::string(name_of(*filter.state))) : std::nullopt);
  query.bind(":repository", unless_empty(filter.repository)).bind(":before", unless_empty(id_after(filter.cursor)));
  query.bind(":limit", filter.limit + 1);  // one more tells whether there is a next page
  while (query.step()) {
    int last_run = 0;
    page.items.push_back(job_in(query, last_run));
    if (last_run > 0) page.items.back().last_run = find_run(main, page.items.back().id, last_run);
  }
  if (page.items.size() > static_cast<std::size_t>(filter.limit)) {
    page.items.pop_back();
    page.next_cursor = std::string(kCursorMark) + page.items.back().id.str();
  }
  return page;
}

/// From the index of what waits. Its name is demanded: without it this would silently become a walk over all jobs.
JobPage list_waiting(Database& main, const JobFilter& filter) {
  Query query = main.query(R"sql(
      SELECT jobs.* FROM runs INDEXED BY runs_waiting CROSS JOIN jobs ON jobs.id = runs.job_id AND jobs.last_run = runs.number
       WHERE runs.review = 'waiting' AND runs.job_id < coalesce(:before, '~')
         AND (:state IS NULL OR jobs.state = :state)
         AND (:repository IS NULL OR jobs.repository = :repository)
       ORDER BY runs.job_id DESC LIMIT :limit
  )sql");  // '~' comes after every character of an id
  return read_page(main, query, filter);
}

}  // namespace

Job read_job(Database& main, const JobId& id) {
  int last_run = 0;
  Job job;
  {
    Query query = main.query("SELECT * FROM jobs WHERE id = :id");
    if (!query.bind(":id", id.str()).step()) throw no_such_job(id.str());
    job = job_in(query, last_run);
  }
  if (last_run > 0) job.last_run = find_run(main, id, last_run);
  return job;
}

JobId find_job(Database& main, const std::string& id_or_prefix) {
  const std::string prefix = lower_ascii(id_or_prefix);
  if (!is_id_prefix(prefix)) {
    if (prefix.size() < 6) throw no_such_job(id_or_prefix).with_hint("an id needs at least its first 6 characters");
    throw no_such_job(id_or_prefix);
  }
  // Ids hold digits and letters only: '{' is the character after 'z'.
  Query query = main.query("SELECT id FROM jobs WHERE id >= :prefix AND id < :prefix || '{' ORDER BY id LIMIT 2");
  query.bind(":prefix", prefix);
  if (!query.step()) throw no_such_job(id_or_prefix);
  JobId found(query.text("id"));
  if (query.step()) {
    throw public_failure(ErrorCode::conflict, "'" + id_or_prefix + "' is the beginning of several job ids")
        .with_hint("give more of the id");
  }
  return found;
}

JobPage list_jobs(Database& main, const JobFilter& filter) {
  if (filter.limit < 1 || filter.limit > kMostJobsPerPage)
    throw bad_input("limit", "must be from 1 to " + std::to_string(kMostJobsPerPage) + ", not " + std::to_string(filter.limit));
  if (filter.review == ReviewStatus::waiting) return list_waiting(main, filter);
  // Walks the primary key from the newest on. A filter that fits little reads many rows, which costs milliseconds per 10,000 jobs; an
  // index per filter would cost each insert and move.
  Query query = main.query(R"sql(
      SELECT * FROM jobs
       WHERE (:state IS NULL OR state = :state)
         AND (:repository IS NULL OR repository = :repository)
         AND (:review IS NULL OR (SELECT review FROM runs WHERE job_id = jobs.id AND number = jobs.last_run) = :review)
         AND (:before IS NULL OR id < :before)
       ORDER BY id DESC LIMIT :limit
  )sql");
  query.bind(":review", filter.review ? std::optional(std::string(name_of(*filter.review))) : std::nullopt);
  return read_page(main, query, filter);
}

std::vector<Run> list_runs(Database& main, const JobId& job) {
  std::vector<Run> runs;
  Query query = main.query("SELECT * FROM runs WHERE job_id = :job ORDER BY number");
  query.bind(":job", job.str());
  while (query.step()) runs.push_back(run_in(query));
  return runs;
}

std::optional<Run> find_run(Database& main, const JobId& job, int number) {
  Query query = main.query("SELECT * FROM runs WHERE job_id = :job AND number = :number");
  if (!query.bind(":job", job.str()).bind(":number", number).step()) return {};
  return run_in(query);
}

Run read_run(Database& main, const RunId& id) {
  Query query = main.query("SELECT * FROM runs WHERE id = :id");
  if (!query.bind(":id", id.str()).step()) throw Error(ErrorCode::not_found, "no run " + id.str());
  return run_in(query);
}

std::vector<RunId> runs_in_work(Database& main) {
  std::vector<RunId> ids;
  Query query = main.query("SELECT id FROM runs WHERE state IN ('leased', 'preparing', 'running', 'finalizing') ORDER BY id");
  while (query.step()) ids.emplace_back(query.text("id"));
  return ids;
}

}  // namespace forge::store
