#include <filesystem>

#include "orchestrator/base/error.h"
#include "orchestrator/store/access_rows.h"
#include "orchestrator/store/blobs.h"
#include "orchestrator/store/event_text.h"
#include "orchestrator/store/job_rows.h"
#include "orchestrator/store/open_files.h"
#include "orchestrator/store/readers.h"
#include "orchestrator/store/review_moves.h"
#include "orchestrator/store/review_rows.h"
#include "orchestrator/store/run_moves.h"
#include "orchestrator/store/store.h"
#include "orchestrator/store/trace_rows.h"
#include "orchestrator/store/usage_rows.h"
#include "orchestrator/store/writer.h"

namespace forge::store {
namespace {

// "Last used" is for people: to the minute, so that a busy token does not cost a commit per request.
constexpr std::int64_t kTouchEveryMs = 60'000;

/// Writes go through the writer's thread, reads through the pool; what they do stands in the files of the tables.
class SqliteStore final : public Store {
  template <typename Operation>
  auto change_reviews(Operation&& operation) {
    return writer_.write([&](WriteScope& scope) { return operation(ReviewMoves(scope, redactor_, moves_)); });
  }

 public:
  SqliteStore(const StoreOptions& options, OpenFiles files)
      : clock_(options.clock),
        redactor_(options.redactor),
        blobs_(options.directory + "/blobs"),
        moves_(options.redactor, blobs_),
        writer_(std::move(files.main), std::move(files.trace), options.clock, options.log),
        readers_(main_path(options.directory), trace_path(options.directory)) {}

  Job insert_job(const JobSpec& spec, const std::string& created_by, bool queued) override {
    return writer_.write([&](WriteScope& scope) { return read_job(scope.main, moves_.insert_job(scope, spec, created_by, queued)); });
  }
  Job job(const std::string& id_or_prefix) override {
    return readers_.read([&](ReadScope& scope) { return read_job(scope.main, find_job(scope.main, id_or_prefix)); });
  }
  JobPage jobs(const JobFilter& filter) override {
    return readers_.read([&](ReadScope& scope) { return list_jobs(scope.main, filter); });
  }
  std::vector<Run> runs(const JobId& job) override {
    return readers_.read([&](ReadScope& scope) { return list_runs(scope.main, job); });
  }
  std::optional<Run> run(const JobId& job, int number) override {
    return readers_.read([&](ReadScope& scope) { return find_run(scope.main, job, number); });
  }
  Run insert_run(const JobId& job, const RunRow& wanted) override {
    return writer_.write([&](WriteScope& scope) { return moves_.insert_run(scope, job, wanted); });
  }
  std::optional<Lease> claim_run(std::int64_t lease_until_ms) override {
    return writer_.write([&](WriteScope& scope) { return moves_.claim(scope, lease_until_ms); });
  }
  bool renew_lease(const Lease& lease, std::int64_t lease_until_ms) override {
    return writer_.write([&](WriteScope& scope) { return moves_.renew(scope, lease, lease_until_ms); });
  }
  bool move_run(const Lease& lease, JobState from, JobState to) override {
    return writer_.write([&](WriteScope& scope) { return moves_.move(scope, lease, from, to); });
  }
  bool update_run(const Lease& lease, const RunUpdate& update) override {
    return writer_.write([&](WriteScope& scope) { return moves_.update(scope, lease, update); });
  }
  bool end_run(const Lease& lease, const RunEnd& end) override {
    return writer_.write([&](WriteScope& scope) { return moves_.end(scope, lease, end); });
  }
  Job request_cancel(const JobId& job) override {
    return writer_.write([&](WriteScope& scope) {
      moves_.request_cancel(scope, job);
      return read_job(scope.main, job);
    });
  }
  std::vector<Run> end_interrupted() override {
    return writer_.write([&](WriteScope& scope) { return moves_.end_interrupted(scope); });
  }

  TraceEvent append_event(const RunId& run, const TraceData& data, std::optional<int> turn) override {
    // Blobs are written here, by the caller: the writer's thread does no other I/O than the two files.
    const EventText text = event_text(data, turn, redactor_, blobs_);
    return writer_.write_trace(run, [&](WriteScope& scope) { return scope.events.append(File::trace, run, text, scope.now_ms); });
  }
  TracePage events(const RunId& run, std::int64_t after, int limit) override { return read_events(readers_, run, after, limit); }
  void on_event(std::function<void(const JobId&, const TraceEvent&)> listener) override { writer_.on_event(std::move(listener)); }

  void add_usage(const UsageRow& row) override {
    writer_.write([&](WriteScope& scope) { store::add_usage(scope, row); });
  }
  std::vector<ModelCost> usage_of_run(const RunId& run) override {
    return readers_.read([&](ReadScope& scope) { return usage_by_model(scope.main, run); });
  }
  Spending spending_of_job(const JobId& job) override {
    return readers_.read([&](ReadScope& scope) { return store::spending_of_job(scope.main, job); });
  }
  Spending spending_since(std::int64_t since_ms) override {
    return readers_.read([&](ReadScope& scope) { return store::spending_since(scope.main, since_ms); });
  }
  std::vector<SpendingRow> spending_of_days(const DaySpan& span, std::size_t most_rows) override {
    return readers_.read([&](ReadScope& scope) { return store::spending_of_days(scope.main, span, most_rows); });
  }

  std::string put_blob(std::string_view data) override { return blobs_.put(data); }
  std::string put_redacted_blob(std::string_view text) override { return blobs_.put(redactor_.apply(text)); }
  std::string blob(const std::string& id) override { return blobs_.get(id); }
  bool run_has_blob(const RunId& run, const std::string& id) override { return run_names_blob(readers_, run, id); }

  TokenRow insert_token(const std::string& name, Role role, const std::string& secret_hash) override {
    return writer_.write([&](WriteScope& scope) { return store::insert_token(scope, name, role, secret_hash); });
  }
  std::vector<TokenRow> tokens() override {
    return readers_.read([&](ReadScope& scope) { return list_tokens(scope.main); });
  }
  TokenRow revoke_token(const std::string& id_or_name) override {
    return writer_.write([&](WriteScope& scope) { return store::revoke_token(scope, id_or_name); });
  }
  std::optional<TokenRow> token_by_hash(const std::string& secret_hash) override {
    // Read first: most calls find the time fresh and need no commit.
    auto token = readers_.read([&](ReadScope& scope) { return find_live_token(scope.main, secret_hash); });
    if (token && clock_.now_ms() - token->last_used_ms >= kTouchEveryMs)
      writer_.write([&](WriteScope& scope) { touch_token(scope, token->id); });
    return token;
  }
  void insert_sign_in(const std::string& secret_hash, Role role, std::int64_t expires_ms) override {
    writer_.write([&](WriteScope& scope) { store::insert_sign_in(scope, secret_hash, role, expires_ms); });
  }
  std::optional<Role> take_sign_in(const std::string& secret_hash) override {
    return writer_.write([&](WriteScope& scope) { return store::take_sign_in(scope, secret_hash); });
  }
  void insert_session(const SessionRow& session) override {
    writer_.write([&](WriteScope& scope) { store::insert_session(scope, session); });
  }
  std::optional<SessionRow> session_by_hash(const std::string& secret_hash) override {
    const std::int64_t now_ms = clock_.now_ms();
    auto session = readers_.read([&](ReadScope& scope) { return find_live_session(scope.main, secret_hash, now_ms); });
    if (session && now_ms - session->last_used_ms >= kTouchEveryMs)
      writer_.write([&](WriteScope& scope) { touch_session(scope, session->id); });
    return session;
  }
  std::vector<SessionRow> sessions() override {
    return readers_.read([&](ReadScope& scope) { return list_live_sessions(scope.main, clock_.now_ms()); });
  }
  void delete_session(const std::string& id) override {
    writer_.write([&](WriteScope& scope) { store::delete_session(scope, id); });
  }

  bool open_review(const RunId& run, const ReviewBeginning& beginning) override {
    return change_reviews([&](ReviewMoves moves) { return moves.open(run, beginning); });
  }
  std::optional<ReviewRow> review(const RunId& run) override {
    return readers_.read([&](ReadScope& scope) { return find_review(scope.main, run); });
  }
  std::vector<ViewedMark> viewed(const RunId& run, const std::string& principal) override {
    return readers_.read([&](ReadScope& scope) { return list_viewed(scope.main, run, principal); });
  }
  std::vector<ReviewBeginning::Viewed> all_viewed(const RunId& run) override {
    return readers_.read([&](ReadScope& scope) { return list_all_viewed(scope.main, run); });
  }
  std::int64_t change_review(const RunId& run, std::optional<std::int64_t> revision, const ReviewChange& change) override {
    return change_reviews([&](ReviewMoves moves) { return moves.change(run, revision, change); });
  }
  ReviewComment insert_comment(const RunId& run, const ReviewComment& comment) override {
    return change_reviews([&](ReviewMoves moves) { return moves.insert_comment(run, comment); });
  }
  ReviewComment update_comment(const RunId& run, const ReviewComment& comment, const std::string& by) override {
    return change_reviews([&](ReviewMoves moves) { return moves.update_comment(run, comment, by); });
  }
  void delete_comment(const RunId& run, const CommentId& comment, const std::string& by) override {
    change_reviews([&](ReviewMoves moves) { moves.delete_comment(run, comment, by); });
  }
  std::optional<ApplyRow> find_apply(const RunId& run, const std::string& key) override {
    return readers_.read([&](ReadScope& scope) { return store::find_apply(scope.main, run, key); });
  }
  ApplyRow begin_apply(const RunId& run, std::int64_t revision, const std::string& key, const ApplyPlan& plan,
                       const AppliedReview& outcome) override {
    return change_reviews([&](ReviewMoves moves) { return moves.begin_apply(run, revision, key, plan, outcome); });
  }
  bool note_commit(std::int64_t id, const std::string& commit) override {
    return change_reviews([&](ReviewMoves moves) { return moves.note_commit(id, commit); });
  }
  bool finish_apply(std::int64_t id, const std::string& commit, bool pushed) override {
    return change_reviews([&](ReviewMoves moves) { return moves.finish_apply(id, commit, pushed); });
  }
  bool fail_apply(std::int64_t id, const std::string& error) override {
    return change_reviews([&](ReviewMoves moves) { return moves.fail_apply(id, error); });
  }
  std::vector<ApplyRow> pending_applies() override {
    return readers_.read([&](ReadScope& scope) { return list_pending_applies(scope.main); });
  }
  std::optional<Run> find_sent_back(const JobId& job, const std::string& key) override {
    return readers_.read([&](ReadScope& scope) {
      const auto found = find_requested_run(scope.main, job, key);
      return found ? std::optional(read_run(scope.main, *found)) : std::nullopt;
    });
  }
  Run send_back(const RunId& run, std::int64_t revision, const std::string& key, const std::string& by, const RunRow& follow_up) override {
    return change_reviews([&](ReviewMoves moves) { return moves.send_back(run, revision, key, by, follow_up); });
  }
  void dismiss_review(const RunId& run, std::int64_t revision) override {
    change_reviews([&](ReviewMoves moves) { moves.dismiss(run, revision); });
  }

  void ping() override {
    readers_.read([](ReadScope& scope) {
      scope.main.query("SELECT count(*) FROM migrations").step();
      return scope.trace.query("SELECT count(*) FROM migrations").step();
    });
  }

 private:
  const Clock& clock_;
  const Redactor& redactor_;
  Blobs blobs_;
  RunMoves moves_;
  Writer writer_;
  Readers readers_;  ///< after the writer, so that it is gone before the writer empties the logs
};

}  // namespace

std::unique_ptr<Store> open_sqlite_store(const StoreOptions& options) {
  return std::make_unique<SqliteStore>(options,
                                       open_files(options.directory, main_migrations(), trace_migrations(), options.clock, options.log));
}

}  // namespace forge::store
