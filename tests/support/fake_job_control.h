#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/domain/job_control.h"

namespace forge::test {

/// JobControl in memory, for tests of the doors: what a run does is what the test says it does.
class FakeJobControl final : public JobControl {
 public:
  Job create(const Principal& who, JobSpec spec, bool start) override {
    auto state = state_.lock();
    Job job;
    // A prefix of its own for each job, as real ids have one over time.
    const std::string number = std::to_string(state->jobs.size() + 1);
    job.id = JobId("01jd0" + std::string(5 - number.size(), '0') + number + "0000000000000000");
    job.spec = std::move(spec);
    job.created_by = who.name;
    job.created_ms = 1'700'000'000'000;
    Entry& entry = state->jobs.emplace_back();
    entry.job = job;
    if (start) add_run(entry);
    return snapshot(entry);
  }
  std::optional<std::string> local_path(const std::string& repository) override {
    if (const auto read = paths_read.find(repository); read != paths_read.end()) return read->second;
    return repository.starts_with("https://") ? std::nullopt : std::optional(repository);
  }
  Job get(const std::string& id) override { return snapshot(find(*state_.lock(), id)); }
  JobPage list(const JobFilter& filter) override {
    auto state = state_.lock();
    JobPage page;
    for (auto entry = state->jobs.rbegin(); entry != state->jobs.rend(); ++entry) {
      const Job job = snapshot(*entry);
      if (filter.state && job.state != *filter.state) continue;
      if (filter.review && (job.last_run ? job.last_run->review : ReviewStatus::none) != *filter.review) continue;
      if (!filter.repository.empty() && job.spec.repository != filter.repository) continue;
      if (!filter.cursor.empty() && job.id.str() >= filter.cursor) continue;
      if (page.items.size() == static_cast<std::size_t>(filter.limit)) {
        page.next_cursor = page.items.back().id.str();
        break;
      }
      page.items.push_back(job);
    }
    return page;
  }
  Run new_run(const Principal&, const std::string& id, const NewRun& wanted) override {
    auto state = state_.lock();
    Entry& entry = find(*state, id);
    if (!entry.runs.empty() && !is_final(entry.runs.back().run.state))
      throw public_failure(ErrorCode::conflict, "a run of this job is under way");
    state->last_wanted = wanted;
    return add_run(entry);
  }
  Job cancel(const Principal&, const std::string& id) override {
    auto state = state_.lock();
    Entry& entry = find(*state, id);
    if (entry.runs.empty() || is_final(entry.runs.back().run.state)) throw public_failure(ErrorCode::conflict, "the job has ended");
    entry.job.cancel_requested = true;
    return snapshot(entry);
  }
  std::vector<Run> runs(const std::string& id) override {
    auto state = state_.lock();
    std::vector<Run> all;
    for (const RunEntry& run : find(*state, id).runs) all.push_back(run.run);
    return all;
  }
  Run run(const std::string& id, int number) override { return find_run(*state_.lock(), id, number).run; }
  TracePage trace(const std::string& id, int number, std::int64_t after, int limit) override {
    auto state = state_.lock();
    const RunEntry& run = find_run(*state, id, number);
    TracePage page;
    page.next_seq = after;
    for (const TraceEvent& event : run.events) {
      if (event.seq <= after || page.items.size() == static_cast<std::size_t>(limit)) continue;
      page.items.push_back(event);
      page.next_seq = event.seq;
    }
    page.complete = is_final(run.run.state) && page.next_seq >= static_cast<std::int64_t>(run.events.size());
    return page;
  }
  std::string diff(const std::string& id, int number) override { return find_run(*state_.lock(), id, number).diff; }
  SpendingReport spending(const DaySpan& span) override {
    check_span(span);
    SpendingReport report{.span = span, .rows = {}, .today_nano_usd = 7, .day_budget_nano_usd = 50};
    if (span.first <= spent.day && spent.day <= span.last) report.rows.push_back(spent);
    return report;
  }
  std::vector<AdapterEntry> adapters() override { return {{"pi", ""}, {"claude-code", "is not installed"}}; }
  Branches branches(const std::string& repository, const Stop&) override {
    if (repository.find("gone") != std::string::npos)
      throw public_failure(ErrorCode::not_found, "no such repository").in_field("repository");
    return {.default_branch = "main", .names = {"main", "next"}};
  }
  RunCost cost(const std::string& id, int number) override {
    const Run found = run(id, number);
    return {.usage = found.usage,
            .cost_nano_usd = found.cost_nano_usd,
            .budget_nano_usd = std::nullopt,
            .models = {{.model = "scripted", .usage = found.usage, .cost_nano_usd = found.cost_nano_usd, .requests = 2}}};
  }
  std::string blob(const std::string& id, int number, const std::string& blob) override {
    auto state = state_.lock();
    const RunEntry& run = find_run(*state, id, number);
    const auto found = run.blobs.find(blob);
    if (found == run.blobs.end()) throw public_failure(ErrorCode::not_found, "this run holds no such blob");
    return found->second;
  }
  std::shared_ptr<void> subscribe(Listener listener) override {
    auto listeners = listeners_;
    auto list = listeners->lock();
    const auto at = list->insert(list->end(), std::move(listener));
    return {listeners.get(), [listeners, at](void*) { listeners->lock()->erase(at); }};
  }

  // What tests make happen.

  /// Names of repositories that stand for another path than they look like.
  SpendingRow spent;  ///< all that there is
  std::map<std::string, std::string> paths_read;

  /// Stores an event of the job's latest run and tells the listeners.
  void happen(const std::string& id, TraceType type, const std::string& data_json) {
    JobId job;
    TraceEvent event{.seq = 0, .ts_ms = 1'700'000'000'000, .run = 1, .turn = {}, .type = type, .data_json = data_json};
    {
      auto state = state_.lock();
      Entry& entry = find(*state, id);
      RunEntry& run = entry.runs.back();
      event.seq = static_cast<std::int64_t>(run.events.size()) + 1;
      event.run = run.run.number;
      run.events.push_back(event);
      job = entry.job.id;
    }
    auto listeners = listeners_->lock();
    for (const Listener& listener : *listeners) listener(job, event);
  }
  /// Ends the latest run: its last event is the terminal one.
  void end(const std::string& id, Reason reason) {
    edit(id, [&](RunEntry& run) {
      run.run.state = state_of(reason);
      run.run.reason = reason;
    });
    happen(id, TraceType::terminal, R"({"reason":")" + std::string(name_of(reason)) + R"(","message":""})");
  }
  struct RunEntry {
    Run run;
    std::vector<TraceEvent> events;
    std::string diff;
    std::map<std::string, std::string> blobs;
  };
  void edit(const std::string& id, const std::function<void(RunEntry&)>& change) {
    auto state = state_.lock();
    change(find(*state, id).runs.back());
  }
  NewRun last_wanted() { return state_.lock()->last_wanted; }
  std::size_t job_count() { return state_.lock()->jobs.size(); }

 private:
  struct Entry {
    Job job;
    std::vector<RunEntry> runs;
  };
  struct State {
    std::list<Entry> jobs;
    NewRun last_wanted;
  };

  static Entry& find(State& state, const std::string& id) {
    Entry* found = nullptr;
    for (Entry& entry : state.jobs) {
      if (!entry.job.id.str().starts_with(id)) continue;
      if (found != nullptr) throw public_failure(ErrorCode::conflict, "the prefix names several jobs");
      found = &entry;
    }
    if (found == nullptr || id.size() < 6) throw public_failure(ErrorCode::not_found, "there is no such job");
    return *found;
  }
  static RunEntry& find_run(State& state, const std::string& id, int number) {
    Entry& entry = find(state, id);
    for (RunEntry& run : entry.runs)
      if (run.run.number == number || (number == 0 && &run == &entry.runs.back())) return run;
    throw public_failure(ErrorCode::not_found, "there is no such run");
  }
  static Run add_run(Entry& entry) {
    RunEntry& added = entry.runs.emplace_back();
    added.run.number = static_cast<int>(entry.runs.size());
    added.run.id = RunId("01jd0000000000000000000r" + std::string(added.run.number < 10 ? "0" : "") + std::to_string(added.run.number));
    added.run.job = entry.job.id;
    added.run.created_ms = 1'700'000'000'000;
    return added.run;
  }
  static Job snapshot(const Entry& entry) {
    Job job = entry.job;
    if (entry.runs.empty()) return job;
    job.last_run = entry.runs.back().run;
    job.state = job.last_run->state;
    return job;
  }

  Guarded<State> state_;
  std::shared_ptr<Guarded<std::list<Listener>>> listeners_ = std::make_shared<Guarded<std::list<Listener>>>();
};

}  // namespace forge::test
