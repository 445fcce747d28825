#include <signal.h>

#include <cstdlib>
#include <filesystem>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/process.h"
#include "orchestrator/store/database.h"
#include "tests/unit/store/store_fixture.h"

namespace forge::store {
namespace {

constexpr const char* kDirectoryVariable = "FORGE_TEST_STORE_DIRECTORY";
constexpr int kProgressFd = 3;

class KilledStore : public testing::Test {
 protected:
  std::unique_ptr<Store> open(const std::string& directory) {
    return open_sqlite_store({.directory = directory, .clock = clock_, .redactor = redactor_, .log = *log_});
  }
  SystemClock clock_;
  Redactor redactor_;
  std::unique_ptr<Log> log_ = make_null_log();
};

/// Moves the run back and forth, so that moves and other events meet in the same batches.
void churn(Store& store) {
  Lease lease = store.claim_run(1).value();
  while (true) {
    store.move_run(lease, JobState::leased, JobState::preparing);
    store.move_run(lease, JobState::preparing, JobState::queued);
    lease = store.claim_run(1).value();
  }
}

// Not a test of its own: the process that the next test kills. Says the highest number that it was told is stored.
TEST_F(KilledStore, DISABLED_Child) {
  const char* directory = std::getenv(kDirectoryVariable);
  if (directory == nullptr) GTEST_SKIP() << "only started by the test below";
  const auto store = open(directory);
  const RunId run = store->jobs({}).items.at(0).last_run->id;
  std::jthread mover([&] { churn(*store); });
  on_threads(4, [&](int) {
    while (true) {
      const TraceEvent event = store->append_event(run, trace::Text{{"x"}}, {});
      write_all(kProgressFd, std::to_string(event.seq) + "\n", Stop());
    }
  });
}

// The same for applies: says the number of the last one that it was told is done.
TEST_F(KilledStore, DISABLED_ApplyingChild) {
  const char* directory = std::getenv(kDirectoryVariable);
  if (directory == nullptr) GTEST_SKIP() << "only started by the test below";
  const auto store = open(directory);
  const RunId run = store->jobs({}).items.at(0).last_run->id;
  for (const ApplyRow& apply : store->pending_applies()) store->finish_apply(apply.id, apply.plan.message, false);
  for (std::int64_t revision = store->review(run)->revision;; ++revision) {
    const std::string number = std::to_string(revision);
    store->finish_apply(store->begin_apply(run, revision, number, {.message = number}, {}).id, number, false);
    write_all(kProgressFd, number + "\n", Stop());
  }
}

/// Starts a child, lets it say `enough` bytes, and kills it in the middle. Returns the highest number it was promised.
std::int64_t run_and_kill(const std::string& directory, const std::string& child_test, std::size_t enough) {
  Pipe progress = make_pipe();
  Child child = Child::spawn({.argv = {std::filesystem::read_symlink("/proc/self/exe").string(), "--gtest_filter=KilledStore." + child_test,
                                       "--gtest_also_run_disabled_tests"},
                              .env = {std::string(kDirectoryVariable) + "=" + directory},
                              .cwd = {},
                              .fds = {{progress.write.get(), kProgressFd}},
                              .new_session = true,
                              .memory_limit_bytes = {}});
  progress.write.reset();
  std::string said;
  const Stop stop = Stop::after(std::chrono::seconds(60));
  while (said.size() < enough) said += read_some(progress.read.get(), 4096, stop);
  child.signal(SIGKILL);
  child.wait(stop);
  said += read_all(progress.read.get(), 10 << 20, stop);
  said.resize(said.rfind('\n') + 1);
  std::int64_t highest = 0;
  for (std::size_t at = 0; at < said.size(); at = said.find('\n', at) + 1) highest = std::max<std::int64_t>(highest, std::atoll(&said[at]));
  return highest;
}

/// What the next child begins with.
void requeue(Store& store) {
  const Run run = store.jobs({}).items.at(0).last_run.value();
  if (run.state == JobState::queued) return;
  const Lease lease{.job = run.job, .run = run.id, .run_number = 1, .generation = run.lease_generation};
  ASSERT_TRUE(store.move_run(lease, run.state, JobState::queued));
}

TEST_F(KilledStore, LosesNothingThatItPromisedAndLeavesNoHole) {
  test::TempDir parent;
  const std::string directory = parent.str() + "/data";
  const RunId run = [&] {
    JobSpec spec;
    spec.repository = "/r";
    return open(directory)->insert_job(spec, "anna", true).last_run->id;
  }();
  for (int round = 0; round < 3; ++round) {
    const std::int64_t promised = run_and_kill(directory, "DISABLED_Child", 2000);
    const auto store = open(directory);  // checks the structure of both files
    std::int64_t last = 0;
    for (TracePage page = store->events(run, 0, 1000); !page.items.empty(); page = store->events(run, last, 1000)) {
      ASSERT_NO_FATAL_FAILURE(expect_gap_free(page.items, last));
      last = page.next_seq;
    }
    EXPECT_GE(last, promised);
    EXPECT_EQ(store->append_event(run, trace::Turn{1}, {}).seq, last + 1);
    requeue(*store);
  }
}

TEST_F(KilledStore, HasEachApplyDoneOrPendingAndTheReviewToMatch) {
  test::TempDir parent;
  const std::string directory = parent.str() + "/data";
  RunId run;
  {
    const auto store = open(directory);
    store->insert_job({.repository = "/r"}, "anna", true);
    const Lease lease = store->claim_run(1).value();
    run = lease.run;
    ASSERT_TRUE(store->end_run(lease, {.reason = Reason::completed, .head_commit = "c"}));
    ASSERT_TRUE(store->open_review(run, {}));
  }
  for (int round = 0; round < 3; ++round) {
    const std::int64_t promised = run_and_kill(directory, "DISABLED_ApplyingChild", 100);
    const auto store = open(directory);
    const ReviewRow review = store->review(run).value();
    // Number n is begun at revision n, and makes revision n + 1.
    EXPECT_GE(review.revision, promised + 1);
    EXPECT_EQ(review.applied->commit, std::to_string(review.revision - 1));
    EXPECT_EQ(review.status, ReviewStatus::applied);
    const auto pending = store->pending_applies();
    ASSERT_LE(pending.size(), 1u);
    for (const ApplyRow& apply : pending) EXPECT_EQ(apply.plan.message, std::to_string(review.revision));
  }
}

}  // namespace
}  // namespace forge::store
