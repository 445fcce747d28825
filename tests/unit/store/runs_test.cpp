#include <atomic>
#include <set>

#include "orchestrator/base/guarded.h"
#include "tests/unit/store/store_fixture.h"

namespace forge::store {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

template <typename Backend>
class StoredRuns : public StoreTest<Backend> {};
TYPED_TEST_SUITE(StoredRuns, Backends);

TYPED_TEST(StoredRuns, OfTwoJobsNeverShareABranch) {
  std::set<std::string> branches;
  for (int i = 0; i < 50; ++i) branches.insert(branch_name(this->queued().id, 1));
  EXPECT_THAT(branches, SizeIs(50));
}

TYPED_TEST(StoredRuns, AreHandedOutOldestFirst) {
  const Job first = this->queued();
  const Job second = this->queued();
  EXPECT_EQ(this->store().claim_run(1)->job, first.id);
  const Lease lease = this->store().claim_run(1).value();
  EXPECT_EQ(lease.job, second.id);
  EXPECT_EQ(lease.run, second.last_run->id);
  EXPECT_EQ(lease.generation, 1);
  EXPECT_FALSE(this->store().claim_run(1));
  EXPECT_EQ(this->store().job(second.id.str()).state, JobState::leased);
}

TYPED_TEST(StoredRuns, AreHandedOutOnceToManyClaimers) {
  constexpr int kRuns = 100;
  for (int i = 0; i < kRuns; ++i) this->queued();
  Guarded<std::multiset<std::string>> claimed;
  on_threads(8, [&](int) {
    while (const auto lease = this->store().claim_run(1)) claimed.lock()->insert(lease->run.str());
  });
  const auto all = *claimed.lock();
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kRuns));
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), static_cast<std::size_t>(kRuns));
}

TYPED_TEST(StoredRuns, MoveByCompareAndSwap) {
  const Lease lease = this->claimed();
  EXPECT_FALSE(this->store().move_run(lease, JobState::preparing, JobState::running));  // it is not there yet
  EXPECT_TRUE(this->store().move_run(lease, JobState::leased, JobState::preparing));
  EXPECT_FALSE(this->store().move_run(lease, JobState::leased, JobState::preparing));  // somebody was first
  EXPECT_EQ(this->store().job(lease.job.str()).state, JobState::preparing);
  EXPECT_THAT(this->all_events(lease.run), SizeIs(3));
}

TYPED_TEST(StoredRuns, AreMovedOnceByManyMovers) {
  const Lease lease = this->claimed();
  std::atomic<int> moved = 0;
  on_threads(8, [&](int) { moved += this->store().move_run(lease, JobState::leased, JobState::preparing) ? 1 : 0; });
  EXPECT_EQ(moved, 1);
  EXPECT_THAT(this->all_events(lease.run), SizeIs(3));
}

TYPED_TEST(StoredRuns, RefuseMovesThatTheDomainForbids) {
  const Lease lease = this->claimed();
  EXPECT_THAT(error_of([&] { this->store().move_run(lease, JobState::leased, JobState::finalizing); }), StartsWith("internal"));
  EXPECT_THAT(error_of([&] { this->store().move_run(lease, JobState::leased, JobState::failed); }), StartsWith("internal"));
  EXPECT_THAT(error_of([&] { this->store().move_run(lease, JobState::queued, JobState::leased); }), StartsWith("internal"));
  EXPECT_EQ(this->store().run(lease.job, 1)->state, JobState::leased);
}

TYPED_TEST(StoredRuns, RefuseEveryWriteOfAStaleLease) {
  const Lease stale = this->in_state(JobState::running);
  ASSERT_TRUE(this->store().move_run(stale, JobState::running, JobState::queued));
  EXPECT_FALSE(this->store().renew_lease(stale, 1));  // void already before the next hand-out
  const Lease fresh = this->store().claim_run(1).value();
  EXPECT_EQ(fresh.run, stale.run);
  EXPECT_GT(fresh.generation, stale.generation);
  const auto before = this->all_events(fresh.run).size();
  EXPECT_FALSE(this->store().renew_lease(stale, 1));
  EXPECT_FALSE(this->store().move_run(stale, JobState::leased, JobState::preparing));
  EXPECT_FALSE(this->store().update_run(stale, {.base_ref = "refs/heads/evil"}));
  EXPECT_FALSE(this->store().end_run(stale, {.reason = Reason::completed}));
  const Run run = this->store().run(stale.job, 1).value();
  EXPECT_EQ(run.state, JobState::leased);
  EXPECT_EQ(run.base_ref, "");
  EXPECT_THAT(this->all_events(fresh.run), SizeIs(before));
  EXPECT_TRUE(this->store().renew_lease(fresh, 1));
}

TYPED_TEST(StoredRuns, UpdateOnlyTheNamedFields) {
  const Lease lease = this->claimed();
  ASSERT_TRUE(this->store().update_run(lease, {.base_ref = "refs/heads/main", .base_commit = "c1"}));
  ASSERT_TRUE(this->store().update_run(lease, {.branch = "forge/x-1", .unenforced = std::vector<std::string>{"pids"}, .started_ms = 7}));
  const Run run = this->store().run(lease.job, 1).value();
  EXPECT_EQ(run.base_ref, "refs/heads/main");
  EXPECT_EQ(run.base_commit, "c1");
  EXPECT_EQ(run.branch, "forge/x-1");
  EXPECT_EQ(run.unenforced, std::vector<std::string>{"pids"});
  EXPECT_EQ(run.started_ms, 7);
}

TYPED_TEST(StoredRuns, EndWithEverythingInOneWrite) {
  const Lease lease = this->in_state(JobState::finalizing);
  this->clock_.advance_ms(500);
  ASSERT_TRUE(this->store().end_run(lease, {.reason = Reason::completed,
                                            .summary = "done",
                                            .head_commit = "abc",
                                            .pushed = true,
                                            .diff_stat = {.files = 1, .insertions = 2, .deletions = 3},
                                            .diff_blob = "b",
                                            .agent_session = "s-1",
                                            .agent_session_blob = "c",
                                            .reported_cost_nano_usd = 42,
                                            .verify = {{"make test", 0}, {"make lint", 2}},
                                            .findings = {"odd"}}));
  this->reopen();
  const Run run = this->store().run(lease.job, 1).value();
  EXPECT_EQ(run.state, JobState::succeeded);
  EXPECT_EQ(run.reason, Reason::completed);
  EXPECT_EQ(run.summary, "done");
  EXPECT_EQ(run.head_commit, "abc");
  EXPECT_TRUE(run.pushed);
  EXPECT_EQ(run.diff_stat.files, 1);
  EXPECT_EQ(run.diff_stat.insertions, 2);
  EXPECT_EQ(run.diff_stat.deletions, 3);
  EXPECT_EQ(run.diff_blob, "b");
  EXPECT_EQ(run.agent_session, "s-1");
  EXPECT_EQ(run.agent_session_blob, "c");
  EXPECT_EQ(run.reported_cost_nano_usd, 42);
  ASSERT_THAT(run.verify, SizeIs(2));
  EXPECT_EQ(run.verify[1].exit_code, 2);
  EXPECT_EQ(run.findings, std::vector<std::string>{"odd"});
  EXPECT_EQ(run.ended_ms, this->clock_.now_ms());
  EXPECT_EQ(this->store().job(lease.job.str()).state, JobState::succeeded);
  const auto events = this->all_events(lease.run);
  EXPECT_EQ(events.at(events.size() - 2).type, TraceType::state);
  EXPECT_EQ(events.back().type, TraceType::terminal);
}

TYPED_TEST(StoredRuns, EndFromEveryLiveStateWithTheStateOfTheReason) {
  for (const JobState state : {JobState::leased, JobState::preparing, JobState::running, JobState::finalizing}) {
    for (const Reason reason : {Reason::completed, Reason::no_changes, Reason::cancelled, Reason::stuck}) {
      const Lease lease = this->in_state(state);
      ASSERT_TRUE(this->store().end_run(lease, {.reason = reason}));
      EXPECT_EQ(this->store().run(lease.job, 1)->state, state_of(reason));
      EXPECT_FALSE(this->store().end_run(lease, {.reason = reason}));  // an end is final
      EXPECT_FALSE(this->store().move_run(lease, state, JobState::queued));
    }
  }
}

TYPED_TEST(StoredRuns, KeepNoSecretOfTheirEnd) {
  this->redactor_.add("hunter2hunter2");
  const Lease lease = this->claimed();
  ASSERT_TRUE(this->store().end_run(
      lease, {.reason = Reason::git_failed, .error = "no hunter2hunter2", .summary = "s hunter2hunter2", .findings = {"hunter2hunter2"}}));
  const Run run = this->store().run(lease.job, 1).value();
  EXPECT_EQ(run.error, "no [redacted]");
  EXPECT_EQ(run.summary, "s [redacted]");
  EXPECT_EQ(run.findings.at(0), "[redacted]");
  EXPECT_THAT(this->all_events(lease.run).back().data_json, HasSubstr("no [redacted]"));
}

TYPED_TEST(StoredRuns, EndAtOnceWhenCancelledInTheQueue) {
  const Job job = this->queued();
  const Job cancelled = this->store().request_cancel(job.id);
  EXPECT_TRUE(cancelled.cancel_requested);
  EXPECT_EQ(cancelled.state, JobState::cancelled);
  EXPECT_EQ(cancelled.last_run->reason, Reason::cancelled);
  EXPECT_FALSE(this->store().claim_run(1));
  EXPECT_EQ(this->all_events(job.last_run->id).back().type, TraceType::terminal);
  EXPECT_EQ(error_of([&] { this->store().request_cancel(job.id); }), "conflict: nothing to cancel: the job is cancelled");
}

TYPED_TEST(StoredRuns, AreOnlyAskedToEndWhenCancelledAtWork) {
  const Lease lease = this->in_state(JobState::running);
  EXPECT_EQ(this->store().request_cancel(lease.job).state, JobState::running);
  EXPECT_TRUE(this->store().request_cancel(lease.job).cancel_requested);  // asking twice is fine
  EXPECT_FALSE(this->store().move_run(lease, JobState::running, JobState::queued));
  ASSERT_TRUE(this->store().end_run(lease, {.reason = Reason::cancelled}));
  EXPECT_FALSE(this->store().insert_run(lease.job, {}).reason);
  EXPECT_FALSE(this->store().job(lease.job.str()).cancel_requested);  // a new run starts afresh
  EXPECT_TRUE(this->store().claim_run(1));
}

TYPED_TEST(StoredRuns, OfACreatedJobCannotBeCancelled) {
  const Job job = this->store().insert_job(this->spec(), "anna", false);
  EXPECT_EQ(error_of([&] { this->store().request_cancel(job.id); }), "conflict: nothing to cancel: the job is created");
}

TYPED_TEST(StoredRuns, InWorkEndAsInterruptedAtTheNextStart) {
  const Lease leased = this->in_state(JobState::leased);
  const Lease finalizing = this->in_state(JobState::finalizing);
  const Lease ended = this->in_state(JobState::running);
  ASSERT_TRUE(this->store().end_run(ended, {.reason = Reason::completed}));
  const Job waiting = this->queued();
  this->reopen();
  const std::vector<Run> runs = this->store().end_interrupted();
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].id, leased.run);
  EXPECT_EQ(runs[1].id, finalizing.run);
  for (const Run& run : runs) {
    EXPECT_EQ(run.state, JobState::failed);
    EXPECT_EQ(run.reason, Reason::interrupted);
    EXPECT_EQ(this->all_events(run.id).back().type, TraceType::terminal);
    expect_gap_free(this->all_events(run.id));
  }
  EXPECT_FALSE(this->store().move_run(leased, JobState::leased, JobState::preparing));
  EXPECT_EQ(this->store().claim_run(1)->job, waiting.id);
  EXPECT_THAT(this->store().end_interrupted(), SizeIs(1));
}

}  // namespace
}  // namespace forge::store
