#include "orchestrator/jobs/service.h"

#include <thread>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/jobs/listeners.h"
#include "orchestrator/jobs/new_run.h"
#include "orchestrator/jobs/reviews.h"
#include "orchestrator/jobs/runner.h"
#include "orchestrator/jobs/validate.h"

namespace forge::jobs {
namespace {

/// Writes what the runner tells, always under the run's lease.
class StoredProgress final : public RunProgress {
 public:
  StoredProgress(store::Store& store, const store::Lease& lease, RunTrace& trace) : store_(store), lease_(lease), trace_(trace) {}

  void enter(JobState phase) override {
    if (!trace_.storing([&] { return store_.move_run(lease_, state_, phase); }))
      throw Error(ErrorCode::cancelled, "the lease of the run is void");
    state_ = phase;
  }
  void learned(const store::RunUpdate& update) override {
    if (!trace_.storing([&] { return store_.update_run(lease_, update); }))
      throw Error(ErrorCode::cancelled, "the lease of the run is void");
  }
  std::string keep_diff(const std::string& text) override {
    return trace_.storing([&] { return store_.put_blob(text); });
  }
  std::string keep_session(const std::string& text) override { return store_.put_redacted_blob(text); }

 private:
  store::Store& store_;
  const store::Lease& lease_;
  RunTrace& trace_;
  JobState state_ = JobState::leased;
};

/// Looked at anew each time: what is missing may be installed meanwhile.
AdapterEntry entry_of(const adapters::AgentAdapter& adapter) {
  AdapterEntry entry{.name = std::string(adapter.name()), .problem = {}};
  try {
    adapter.files();
  } catch (const Error& missing) {
    entry.problem = missing.client_text() + (missing.hint().empty() ? "" : ": " + missing.hint());
  }
  return entry;
}

class JobService final : public Service {
 public:
  explicit JobService(ServiceParts parts)
      : parts_(std::move(parts)),
        reviews_({.store = parts_.store,
                  .git = parts_.git,
                  .clock = parts_.clock,
                  .log = parts_.log,
                  .check_open = [this] { check_open(); },
                  .run_added = [this] { queue_->wake(); }}) {
    reviews_.inherit(parts_.store.pending_applies());
    if (parts_.queue.concurrency > 0) complete_applies();
    parts_.store.on_event([this](const JobId& job, const TraceEvent& event) { listeners_.tell(job, event); });
    for (const auto& run : parts_.store.end_interrupted())
      parts_.log.warn("a run of a dead process was ended",
                      {{"job", run.job.str()}, {"run", run.number}, {"reason", name_of(Reason::interrupted)}});
    queue_ = std::make_unique<Queue>(parts_.store, parts_.clock, parts_.log, parts_.queue,
                                     [this](const Job& job, const Run& run, LiveRun& live) { return perform(job, run, live); });
  }
  ~JobService() override {
    queue_.reset();
    completing_.request_stop();
    if (completing_.joinable()) completing_.join();
    parts_.store.on_event({});
  }

  Job create(const Principal& who, JobSpec spec, bool start) override {
    check_open();
    validate(spec, parts_);
    if (spec.title.empty()) spec.title = default_title(spec.task);
    Job job = parts_.store.insert_job(spec, who.name, start);
    if (start) queue_->wake();
    return job;
  }

  std::optional<std::string> local_path(const std::string& repository) override { return git::local_path(repository); }
  Job get(const std::string& id) override { return parts_.store.job(id); }
  JobPage list(const JobFilter& filter) override { return parts_.store.jobs(filter); }

  SpendingReport spending(const DaySpan& span) override {
    check_span(span);
    return {.span = span,
            .rows = parts_.store.spending_of_days(span, kMostSpendingRows),
            .today_nano_usd = parts_.store.spending_since(parts_.clock.now_ms() / kDayMs * kDayMs).priced_nano_usd,
            .day_budget_nano_usd = parts_.day_budget_nano_usd};
  }

  std::vector<AdapterEntry> adapters() override {
    std::vector<AdapterEntry> entries;
    for (const adapters::AgentAdapter* adapter : parts_.adapters) entries.push_back(entry_of(*adapter));
    return entries;
  }

  Branches branches(const std::string& repository, const Stop& stop) override { return parts_.git.branches(repository, stop); }

  Run new_run(const Principal& /*who*/, const std::string& id, const NewRun& wanted) override {
    check_open();
    const Job job = parts_.store.job(id);
    validate(job.spec, parts_);  // a driver or adapter may be gone since the job was made
    Run run = parts_.store.insert_run(job.id, row_of(wanted, parts_.store.runs(job.id)));
    queue_->wake();
    return run;
  }

  Job cancel(const Principal& who, const std::string& id) override {
    Job job = parts_.store.request_cancel(parts_.store.job(id).id);
    parts_.log.info("cancel requested", {{"job", job.id.str()}, {"by", who.name}});
    if (!queue_->stop_run(job.last_run->id, Reason::cancelled)) return job;
    return parts_.store.job(job.id.str());
  }

  std::vector<Run> runs(const std::string& id) override { return parts_.store.runs(parts_.store.job(id).id); }

  Run run(const std::string& id, int number) override {
    const Job job = parts_.store.job(id);
    if (number == 0 && job.last_run) return *job.last_run;
    const auto found = parts_.store.run(job.id, number);
    if (!found)
      throw public_failure(ErrorCode::not_found, number == 0 ? "the job has no run yet" : "the job has no run " + std::to_string(number));
    return *found;
  }

  TracePage trace(const std::string& id, int number, std::int64_t after, int limit) override {
    return parts_.store.events(run(id, number).id, after, limit);
  }

  std::string diff(const std::string& id, int number) override {
    const Run found = run(id, number);
    return found.diff_blob.empty() ? std::string() : parts_.store.blob(found.diff_blob);
  }

  RunCost cost(const std::string& id, int number) override {
    const Run found = run(id, number);
    RunCost cost;
    cost.reported_cost_nano_usd = found.reported_cost_nano_usd;
    cost.budget_nano_usd = parts_.store.job(found.job.str()).spec.budget_nano_usd;
    cost.models = parts_.store.usage_of_run(found.id);
    cost.cost_nano_usd = 0;
    for (const auto& model : cost.models) {
      cost.usage += model.usage;
      // One unpriced model makes the sum unknown: a part of it would read like the whole.
      cost.cost_nano_usd =
          cost.cost_nano_usd && model.cost_nano_usd ? std::optional(*cost.cost_nano_usd + *model.cost_nano_usd) : std::nullopt;
    }
    return cost;
  }

  std::string blob(const std::string& id, int number, const std::string& blob) override {
    const Run found = run(id, number);
    if (!parts_.store.run_has_blob(found.id, blob)) throw public_failure(ErrorCode::not_found, "this run holds no such blob");
    return parts_.store.blob(blob);
  }

  std::shared_ptr<void> subscribe(Listener listener) override { return listeners_.add(std::move(listener)); }
  ReviewControl& reviews() override { return reviews_; }
  void drain(const Stop& stop) override { queue_->drain(stop); }
  bool draining() override { return queue_->draining(); }
  std::size_t live_runs() override { return queue_->live(); }

 private:
  /// What were accepted now would wait for a start that nobody may make.
  void check_open() {
    if (queue_->draining())
      throw public_failure(ErrorCode::unavailable, "the server is stopping and takes no new work").with_hint("ask again when it is back");
  }

  store::RunEnd perform(const Job& job, Run run, LiveRun& live) {
    RunTrace trace(parts_.store, run.id, live.activity, live.stop, parts_.most_trace_bytes);
    StoredProgress progress(parts_.store, live.lease, trace);
    run.branch = branch_name(job.id, run.number);
    progress.learned({.branch = run.branch, .started_ms = parts_.clock.now_ms()});
    const RunTools tools{parts_.git,
                         *parts_.drivers.at(job.spec.driver),
                         find_adapter(job.spec.adapter, parts_),
                         parts_.templates.at(job.spec.template_name),
                         parts_.push_partial,
                         parts_.log};
    return execute_run(job, run, earlier_of(job, run), tools, trace, progress, live.stop);
  }

  /// Beside the start: a push among them may take its time. A process that only looks leaves them to who asks for their review.
  void complete_applies() {
    completing_ = std::jthread([this](const std::stop_token& token) {
      try {
        reviews_.complete_left(Stop(token));
      } catch (const std::exception& e) {
        if (!token.stop_requested()) parts_.log.error("applies of a dead process could not be completed", {{"error", e.what()}});
      }
    });
  }

  EarlierRun earlier_of(const Job& job, const Run& run) {
    EarlierRun earlier;
    if (run.from_run == 0) return earlier;
    earlier.run = parts_.store.run(job.id, run.from_run);
    if (!earlier.run) throw Error(ErrorCode::corrupt, "the run that this one starts from is not there");
    // A fork is for another view of the same result: it gets a fresh agent.
    if (run.kind == RunKind::follow_up && !earlier.run->agent_session_blob.empty())
      earlier.session = adapters::SavedSession{earlier.run->agent_session, parts_.store.blob(earlier.run->agent_session_blob)};
    return earlier;
  }

  const ServiceParts parts_;
  Listeners<const JobId&, const TraceEvent&> listeners_;
  Reviews reviews_;
  std::jthread completing_;
  std::unique_ptr<Queue> queue_;  // last: its workers use all of the above
};

}  // namespace

std::unique_ptr<Service> make_service(ServiceParts parts) { return std::make_unique<JobService>(std::move(parts)); }

}  // namespace forge::jobs
