#include "orchestrator/store/run_moves.h"

#include "orchestrator/base/error.h"
#include "orchestrator/store/job_rows.h"
#include "orchestrator/store/spec_json.h"

namespace forge::store {
namespace {

void mirror(Database& main, const JobId& job, JobState state) {
  main.query("UPDATE jobs SET state = :state WHERE id = :job").bind(":state", name_of(state)).bind(":job", job.str()).run();
}

void set_budget(Database& main, const Job& job, std::int64_t nano_usd) {
  JobSpec spec = job.spec;
  spec.budget_nano_usd = nano_usd;
  main.query("UPDATE jobs SET spec = :spec WHERE id = :job").bind(":spec", spec_to_json(spec)).bind(":job", job.id.str()).run();
}

std::vector<std::string> clean_texts(const std::vector<std::string>& texts, const Redactor& redactor) {
  std::vector<std::string> clean;
  clean.reserve(texts.size());
  for (const std::string& text : texts) clean.push_back(clean_text(text, redactor));
  return clean;
}

/// Who cancels a run has had the last word about it.
bool waits_for_review(JobState state, const RunEnd& end) { return !end.head_commit.empty() && state != JobState::cancelled; }

/// Ten characters are the millisecond alone: a second job of the same one would get the first one's branch. It borrows a later one.
JobId fresh_job_id(WriteScope& scope) {
  for (std::int64_t ms = scope.now_ms;; ++ms) {
    auto id = new_id<JobId>(ms);
    const std::string shown = id.str().substr(0, kShortIdLength);
    const bool taken = scope.main.query("SELECT 1 FROM jobs WHERE id >= :from AND id < :to LIMIT 1")
                           .bind(":from", shown)
                           .bind(":to", shown + "~")  // after every character of an id
                           .step();
    if (!taken) return id;
  }
}

}  // namespace

void RunMoves::record(WriteScope& scope, const RunId& run, const TraceData& data) const {
  scope.events.append(File::main, run, event_text(data, {}, redactor_, blobs_), scope.now_ms);
}

JobId RunMoves::insert_job(WriteScope& scope, const JobSpec& spec, const std::string& created_by, bool queued) const {
  auto id = fresh_job_id(scope);
  scope.main
      .query(R"sql(
          INSERT INTO jobs (id, repository, spec, created_by, created_ms, state)
          VALUES (:id, :repository, :spec, :created_by, :now, 'created')
      )sql")
      .bind(":id", id.str())
      .bind(":repository", spec.repository)
      .bind(":spec", spec_to_json(spec))
      .bind(":created_by", created_by)
      .bind(":now", scope.now_ms)
      .run();
  if (queued) add_run(scope, id, 1, JobState::created, {});
  return id;
}

Run RunMoves::insert_run(WriteScope& scope, const JobId& job, const RunRow& wanted) const {
  // The index runs_live would refuse a second live run too; looking first gives a text for people.
  const Job current = read_job(scope.main, job);
  if (is_live(current.state)) {
    throw public_failure(ErrorCode::conflict,
                         "run " + std::to_string(current.last_run->number) + " of the job is " + std::string(name_of(current.state)))
        .with_hint("wait for its end, or cancel it first");
  }
  if (wanted.budget_nano_usd) set_budget(scope.main, current, *wanted.budget_nano_usd);
  return add_run(scope, job, current.last_run ? current.last_run->number + 1 : 1, current.state, wanted);
}

Run RunMoves::add_run(WriteScope& scope, const JobId& job, int number, JobState from, const RunRow& wanted) const {
  const auto id = new_id<RunId>(scope.now_ms);
  scope.main
      .query(R"sql(
          INSERT INTO runs (id, job_id, number, state, kind, from_run, note, brief, request_key, created_ms)
          VALUES (:id, :job, :number, 'queued', :kind, :from_run, :note, :brief, :request_key, :now)
      )sql")
      .bind(":id", id.str())
      .bind(":job", job.str())
      .bind(":number", number)
      .bind(":kind", name_of(number == 1 ? RunKind::first : wanted.kind))
      .bind(":from_run", wanted.from_run)
      .bind(":note", clean_text(wanted.note, redactor_))
      .bind(":brief", clean_text(wanted.brief, redactor_))
      .bind(":request_key", wanted.request_key)
      .bind(":now", scope.now_ms)
      .run();
  scope.main.query("UPDATE jobs SET state = 'queued', last_run = :number, cancel_requested = 0 WHERE id = :job")
      .bind(":number", number)
      .bind(":job", job.str())
      .run();
  record(scope, id, trace::State{.from = from, .to = JobState::queued, .reason = {}, .note = wanted.note});
  return read_run(scope.main, id);
}

std::optional<Lease> RunMoves::claim(WriteScope& scope, std::int64_t lease_until_ms) const {
  Lease lease;
  {
    // Ids grow with time: the smallest is the oldest. One statement, so that two claims can never see the same run.
    Query query = scope.main.query(R"sql(
        UPDATE runs SET state = 'leased', lease_generation = lease_generation + 1, lease_until_ms = :until
         WHERE id = (SELECT runs.id FROM runs JOIN jobs ON jobs.id = runs.job_id
                      WHERE runs.state = 'queued' AND jobs.cancel_requested = 0
                      ORDER BY runs.id LIMIT 1)
        RETURNING id, job_id, number, lease_generation
    )sql");
    if (!query.bind(":until", lease_until_ms).step()) return {};
    lease = {.job = JobId(query.text("job_id")),
             .run = RunId(query.text("id")),
             .run_number = static_cast<int>(query.integer("number")),
             .generation = query.integer("lease_generation")};
  }
  mirror(scope.main, lease.job, JobState::leased);
  record(scope, lease.run, trace::State{.from = JobState::queued, .to = JobState::leased, .reason = {}, .note = {}});
  return lease;
}

// Each write under a lease looks at the state as well as at the generation: an ended run keeps the generation of its last lease.
bool RunMoves::renew(WriteScope& scope, const Lease& lease, std::int64_t lease_until_ms) const {
  return scope.main
             .query(R"sql(
                 UPDATE runs SET lease_until_ms = :until
                  WHERE id = :id AND lease_generation = :generation AND state IN ('leased', 'preparing', 'running', 'finalizing')
             )sql")
             .bind(":until", lease_until_ms)
             .bind(":id", lease.run.str())
             .bind(":generation", lease.generation)
             .run() == 1;
}

bool RunMoves::move(WriteScope& scope, const Lease& lease, JobState from, JobState to) const {
  if (is_final(to) || from == JobState::queued || !can_move(from, to))
    throw Error(ErrorCode::internal, "a run does not move from " + std::string(name_of(from)) + " to " + std::string(name_of(to)));
  // Back in the queue the old lease is void at once, and a run that is to be cancelled does not go there: nobody would take it out.
  const int changed = scope.main
                          .query(R"sql(
                              UPDATE runs SET state = :to, lease_generation = lease_generation + (:to = 'queued')
                               WHERE id = :id AND state = :from AND lease_generation = :generation
                                 AND (:to <> 'queued' OR (SELECT cancel_requested FROM jobs WHERE jobs.id = job_id) = 0)
                          )sql")
                          .bind(":to", name_of(to))
                          .bind(":id", lease.run.str())
                          .bind(":from", name_of(from))
                          .bind(":generation", lease.generation)
                          .run();
  if (changed == 0) return false;
  mirror(scope.main, lease.job, to);
  record(scope, lease.run, trace::State{.from = from, .to = to, .reason = {}, .note = {}});
  return true;
}

bool RunMoves::update(WriteScope& scope, const Lease& lease, const RunUpdate& update) const {
  return scope.main
             .query(R"sql(
                 UPDATE runs SET base_ref    = coalesce(:base_ref, base_ref),
                                 base_commit = coalesce(:base_commit, base_commit),
                                 branch      = coalesce(:branch, branch),
                                 unenforced  = coalesce(:unenforced, unenforced),
                                 started_ms  = coalesce(:started_ms, started_ms)
                  WHERE id = :id AND lease_generation = :generation AND state IN ('leased', 'preparing', 'running', 'finalizing')
             )sql")
             .bind(":base_ref", update.base_ref)
             .bind(":base_commit", update.base_commit)
             .bind(":branch", update.branch)
             .bind(":unenforced", update.unenforced ? std::optional(texts_to_json(*update.unenforced)) : std::nullopt)
             .bind(":started_ms", update.started_ms)
             .bind(":id", lease.run.str())
             .bind(":generation", lease.generation)
             .run() == 1;
}

bool RunMoves::end(WriteScope& scope, const Lease& lease, const RunEnd& end) const {
  const Run run = read_run(scope.main, lease.run);
  if (run.lease_generation != lease.generation || run.state == JobState::queued || !is_live(run.state)) return false;
  finish(scope, run, end);
  return true;
}

void RunMoves::finish(WriteScope& scope, const Run& run, const RunEnd& end) const {
  const JobState state = state_of(end.reason);
  const std::string error = clean_text(end.error, redactor_);
  scope.main
      .query(R"sql(
          UPDATE runs SET state = :state, reason = :reason, error = :error, summary = :summary, head_commit = :head_commit,
                          pushed = :pushed, diff_files = :files, diff_insertions = :insertions, diff_deletions = :deletions,
                          diff_blob = :diff_blob, agent_session = :agent_session,
                          agent_session_blob = :agent_session_blob, reported_cost_nano_usd = :reported_cost, verify = :verify, findings = :findings, review = :review,
                          ended_ms = :now, lease_until_ms = 0
           WHERE id = :id
      )sql")
      .bind(":state", name_of(state))
      .bind(":reason", name_of(end.reason))
      .bind(":error", error)
      .bind(":summary", clean_text(end.summary, redactor_))
      .bind(":head_commit", end.head_commit)
      .bind(":pushed", end.pushed)
      .bind(":files", end.diff_stat.files)
      .bind(":insertions", end.diff_stat.insertions)
      .bind(":deletions", end.diff_stat.deletions)
      .bind(":diff_blob", end.diff_blob)
      .bind(":agent_session", end.agent_session)
      .bind(":agent_session_blob", end.agent_session_blob)
      .bind(":reported_cost", end.reported_cost_nano_usd)
      .bind(":verify", verify_to_json(end.verify))
      .bind(":findings", texts_to_json(clean_texts(end.findings, redactor_)))
      .bind(":review", name_of(waits_for_review(state, end) ? ReviewStatus::waiting : ReviewStatus::none))
      .bind(":now", scope.now_ms)
      .bind(":id", run.id.str())
      .run();
  mirror(scope.main, run.job, state);
  record(scope, run.id, trace::State{.from = run.state, .to = state, .reason = end.reason, .note = {}});
  record(scope, run.id, trace::Terminal{.reason = end.reason, .message = error.empty() ? std::string(explain(end.reason)) : error});
}

void RunMoves::request_cancel(WriteScope& scope, const JobId& job) const {
  const Job current = read_job(scope.main, job);
  if (!current.last_run || !is_live(current.state)) {
    throw public_failure(ErrorCode::conflict, "nothing to cancel: the job is " + std::string(name_of(current.state)));
  }
  // Whoever works on the run sees the flag and ends it; a queued run has nobody, so it ends here.
  scope.main.query("UPDATE jobs SET cancel_requested = 1 WHERE id = :job").bind(":job", job.str()).run();
  if (current.state == JobState::queued) finish(scope, *current.last_run, {.reason = Reason::cancelled});
}

std::vector<Run> RunMoves::end_interrupted(WriteScope& scope) const {
  // One transaction for all: a start that is cut off here finds them all again.
  std::vector<Run> ended;
  for (const RunId& id : runs_in_work(scope.main)) {
    const Run run = read_run(scope.main, id);
    finish(scope, run, {.reason = Reason::interrupted, .error = std::string(explain(Reason::interrupted))});
    ended.push_back(read_run(scope.main, id));
  }
  return ended;
}

}  // namespace forge::store
