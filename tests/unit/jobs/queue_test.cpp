#include "orchestrator/jobs/queue.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "orchestrator/base/error.h"
#include "orchestrator/base/redactor.h"
#include "tests/support/temp_dir.h"
#include "tests/support/with_store.h"
#include "tests/unit/jobs/jobs_fixture.h"

namespace forge::test {
namespace {

using jobs::LiveRun;
using jobs::Queue;

/// A real store, and work that the test plays.
class QueueTest : public testing::Test, protected WithStore<SystemClock> {
 protected:
  QueueTest() {
    store_->on_event([this](const JobId&, const TraceEvent& event) {
      if (event.type == TraceType::terminal) ended_.open();
    });
  }
  ~QueueTest() override {
    queue_.reset();
    store_->on_event({});
  }

  void start(Queue::Work work, int concurrency = 1) {
    queue_ = std::make_unique<Queue>(*store_, clock_, *log_,
                                     jobs::QueueOptions{.concurrency = concurrency, .end_again = std::chrono::milliseconds(20)},
                                     std::move(work));
  }
  Job queued(const std::string& task = "change it") {
    JobSpec spec;
    spec.repository = "/srv/repository";
    spec.task = task;
    Job job = store_->insert_job(spec, "tester", true);
    if (queue_) queue_->wake();
    return job;
  }
  Reason reason_of(const Job& job) { return store_->job(job.id.str()).last_run->reason.value(); }

  Gate ended_;
  std::unique_ptr<Queue> queue_;
};

TEST_F(QueueTest, WorkThatThrowsEndsItsRun) {
  start([&](const Job&, const forge::Run&, LiveRun&) -> store::RunEnd { throw std::runtime_error("a driver is gone"); });
  const Job job = queued();
  ASSERT_TRUE(ended_.wait());
  EXPECT_EQ(reason_of(job), Reason::interrupted);
  EXPECT_EQ(store_->job(job.id.str()).last_run->error, "the run could not be worked on; the server's log has the details");
}

// Run 1 has ended in the store and its worker is still about to leave it; run 2 of the same job begins meanwhile. Another job tells when
// the first worker has left: only then it is free to take one.
TEST_F(QueueTest, TheNextRunOfAJobIsKnownAfterTheOneBeforeLeftItsWorker) {
  Gate second_at_work;
  Gate second_may_end;
  Gate other_at_work;
  start(
      [&](const Job& job, const forge::Run& run, LiveRun& live) -> store::RunEnd {
        if (job.spec.task == "another") {
          other_at_work.open();
          return {.reason = Reason::no_changes};
        }
        if (run.number == 1) {
          store_->end_run(live.lease, {.reason = Reason::no_changes});
          second_at_work.wait();
          return {};
        }
        second_at_work.open();
        second_may_end.wait();
        return {.reason = live.stop.why().value_or(Reason::completed)};
      },
      2);
  const Job job = queued();
  ASSERT_TRUE(ended_.wait());
  const forge::Run second = store_->insert_run(job.id, {});
  queue_->wake();
  ASSERT_TRUE(second_at_work.wait());
  queued("another");
  ASSERT_TRUE(other_at_work.wait());
  EXPECT_TRUE(queue_->stop_run(second.id, Reason::cancelled));
  second_may_end.open();
  queue_->drain(Stop::after(std::chrono::seconds(8)));
  EXPECT_EQ(reason_of(job), Reason::cancelled);
}

}  // namespace
}  // namespace forge::test
