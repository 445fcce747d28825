#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <csignal>

#include "tests/support/errors.h"
#include "tests/support/soon.h"
#include "tests/unit/jobs/jobs_fixture.h"

namespace forge::test {
namespace {

using adapters::AgentResult;
using adapters::RunContext;
using testing::HasSubstr;

using StoppingTest = Jobs;

/// An agent that writes a file, says that it is at work and then waits for its end.
FakeAdapter::Play works_until_stopped(Gate& at_work) {
  return [&at_work](const RunContext& context, const std::string&, const Stop& stop) {
    context.sandbox.write_file("half.txt", "half\n", stop);
    at_work.open();
    context.sandbox.run({.argv = {"sleep", "60"}, .timeout = std::chrono::seconds(60)}, stop);
    return AgentResult{};
  };
}

TEST_F(StoppingTest, ACancelledRunIsDeadAndItsWorkIsKeptUnpushed) {
  Gate at_work;
  start(works_until_stopped(at_work));
  const Job job = service_->create(me_, spec(), true);
  ASSERT_TRUE(at_work.wait());
  service_->cancel(me_, job.id.str());
  ASSERT_TRUE(wait_for_ends(1));
  const Job ended = service_->get(job.id.str());
  EXPECT_EQ(ended.state, JobState::cancelled);
  EXPECT_EQ(ended.last_run->reason, Reason::cancelled);
  EXPECT_THAT(service_->diff(job.id.str(), 0), HasSubstr("+half"));
  EXPECT_FALSE(ended.last_run->pushed);
  EXPECT_EQ(driver_.counts().live(), 0);
}

TEST_F(StoppingTest, ARunThatFillsItsTraceEndsAndKeepsItsWork) {
  most_trace_bytes_ = 100'000;
  start([](const RunContext& context, const std::string&, const Stop& stop) {
    context.sandbox.write_file("half.txt", "half\n", stop);
    while (!stop.cancelled()) context.trace.append(trace::Text{{std::string(1000, 'x')}});
    stop.check();
    return AgentResult{};
  });
  const Job ended = run_to_end(spec());
  EXPECT_EQ(ended.last_run->reason, Reason::output_limit);
  EXPECT_EQ(ended.state, JobState::failed);
  EXPECT_THAT(service_->diff(ended.id.str(), 0), HasSubstr("+half"));
  std::size_t kept = 0;
  std::string last;
  for (const TraceEvent& event : events(ended)) {
    if (event.type == TraceType::text) kept += 1000;
    last = event.data_json;
  }
  EXPECT_GT(kept, 50'000U);
  EXPECT_LE(kept, 100'000U);
  EXPECT_THAT(last, HasSubstr("output_limit")) << "Forge's own events are kept";
}

TEST_F(StoppingTest, AQueuedRunIsCancelledWithoutEverStarting) {
  start(writes("a", "a"), {.concurrency = 0});
  const Job job = service_->create(me_, spec(), true);
  EXPECT_EQ(service_->cancel(me_, job.id.str()).state, JobState::cancelled);
  EXPECT_EQ(driver_.counts().acquired, 0);
}

TEST_F(StoppingTest, AnEndedJobCannotBeCancelled) {
  start(writes("a.txt", "a\n"));
  const Job job = run_to_end(spec());
  try {
    service_->cancel(me_, job.id.str());
    FAIL() << "cancelled an ended job";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::conflict);
  }
  EXPECT_EQ(service_->get(job.id.str()).state, JobState::succeeded);
}

TEST_F(StoppingTest, ACancelDuringSetupEndsTheRunAsCancelled) {
  start(writes("a", "a"));
  Gate in_setup;
  const auto watching = service_->subscribe([&](const JobId&, const TraceEvent& event) {
    if (event.type == TraceType::state && event.data_json.find("\"to\":\"running\"") != std::string::npos) in_setup.open();
  });
  JobSpec asked = spec();
  asked.setup = {"sleep 60"};
  const Job job = service_->create(me_, asked, true);
  ASSERT_TRUE(in_setup.wait());
  service_->cancel(me_, job.id.str());
  ASSERT_TRUE(wait_for_ends(1));
  EXPECT_EQ(service_->get(job.id.str()).state, JobState::cancelled);
}

TEST_F(StoppingTest, ACancelWhileFinalizingLeavesOneClearEnd) {
  start(writes("a.txt", "a\n"));
  Gate finalizing;
  const auto watching = service_->subscribe([&](const JobId&, const TraceEvent& event) {
    if (event.type == TraceType::state && event.data_json.find("\"to\":\"finalizing\"") != std::string::npos) finalizing.open();
  });
  const Job job = service_->create(me_, spec(), true);
  ASSERT_TRUE(finalizing.wait());
  try {
    service_->cancel(me_, job.id.str());
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::conflict);  // it had ended already
  }
  ASSERT_TRUE(wait_for_ends(1));
  const Job ended = service_->get(job.id.str());
  EXPECT_TRUE(is_final(ended.state));
  EXPECT_EQ(ended.last_run->pushed, ended.state == JobState::succeeded);
}

TEST_F(StoppingTest, ACancelThatTheAgentDidNotHearAnyMoreStillKeepsTheBranchBack) {
  start([&](const RunContext& context, const std::string&, const Stop& stop) {
    context.sandbox.write_file("a.txt", "a\n", stop);
    service_->cancel(me_, context.job.id.str());
    return AgentResult{Reason::completed, "done", ""};
  });
  const Job ended = run_to_end(spec());
  EXPECT_EQ(ended.state, JobState::cancelled);
  EXPECT_THAT(service_->diff(ended.id.str(), 0), HasSubstr("+a"));
  EXPECT_FALSE(ended.last_run->pushed);
  EXPECT_EQ(repo_.git({"branch", "--list", "forge/*"}), "");
}

TEST_F(StoppingTest, WithPushPartialAFailedRunIsPushedAndACancelledOneIsNot) {
  bool cancels = false;
  start(
      [&](const RunContext& context, const std::string&, const Stop& stop) {
        context.sandbox.write_file("a.txt", "a\n", stop);
        if (cancels) {
          service_->cancel(me_, context.job.id.str());
          stop.check();
        }
        return AgentResult{Reason::max_turns, "", "no turn is left"};
      },
      {}, true);
  EXPECT_TRUE(run_to_end(spec()).last_run->pushed);
  cancels = true;
  const Job cancelled = run_to_end(spec());
  EXPECT_EQ(cancelled.state, JobState::cancelled);
  EXPECT_FALSE(cancelled.last_run->pushed);
}

TEST_F(StoppingTest, TheTimeLimitEndsTheRunAndKeepsItsWork) {
  Gate at_work;
  start(works_until_stopped(at_work));
  JobSpec asked = spec();
  asked.limits.time_limit_s = 1;
  const Job job = run_to_end(asked);
  EXPECT_EQ(job.state, JobState::failed);
  EXPECT_EQ(job.last_run->reason, Reason::timeout);
  EXPECT_THAT(service_->diff(job.id.str(), 0), HasSubstr("+half"));
}

TEST_F(StoppingTest, AnAgentThatSaysNothingForTheStallLimitIsEnded) {
  Gate at_work;
  start(works_until_stopped(at_work));
  JobSpec asked = spec();
  asked.limits.stall_limit_s = 1;
  const Job job = run_to_end(asked);
  EXPECT_EQ(job.last_run->reason, Reason::no_output);
}

TEST_F(StoppingTest, LongCommandsOfTheJobAreNotTheSilenceOfAnAgent) {
  start(writes("a.txt", "a\n"));
  for (auto commands : {&JobSpec::setup, &JobSpec::verify}) {
    JobSpec asked = spec();
    asked.*commands = {"sleep 3"};
    asked.limits.stall_limit_s = 1;
    EXPECT_EQ(run_to_end(asked).last_run->reason, Reason::completed);
  }
}

TEST_F(StoppingTest, AToolAtWorkIsNotSilence) {
  start([](const RunContext& context, const std::string&, const Stop& stop) {
    context.trace.append(trace::ToolCall{"1", "bash", {"{}"}});
    context.sandbox.run({.argv = {"sleep", "3"}}, stop);
    context.trace.append(trace::ToolResult{.id = "1", .name = "bash", .output = {""}});
    return AgentResult{Reason::completed, "", ""};
  });
  JobSpec asked = spec();
  asked.limits.stall_limit_s = 1;
  EXPECT_EQ(run_to_end(asked).last_run->reason, Reason::no_changes);
}

TEST_F(StoppingTest, NoMoreRunsAtOnceThanTheLimit) {
  Guarded<int> at_work;
  Gate go;
  start(
      [&](const RunContext&, const std::string&, const Stop&) {
        {
          auto count = at_work.lock();
          ++*count;
          count.notify_all();
        }
        go.wait();
        return AgentResult{Reason::completed, "", ""};
      },
      {.concurrency = 2});
  std::vector<Job> jobs;
  for (int i = 0; i < 3; ++i) jobs.push_back(service_->create(me_, spec(), true));
  {
    auto count = at_work.lock();
    ASSERT_TRUE(count.wait_until({}, SteadyClock::now() + std::chrono::seconds(50), [](int n) { return n == 2; }));
  }
  EXPECT_EQ(service_->live_runs(), 2u);
  EXPECT_EQ(service_->get(jobs[2].id.str()).state, JobState::queued);
  go.open();
  EXPECT_TRUE(wait_for_ends(3));
}

TEST_F(StoppingTest, ARunWhoseProcessDiedIsInterruptedAtTheNextStart) {
  const Job job = store_->insert_job(spec(), "tester", true);
  ASSERT_TRUE(store_->claim_run(clock_.now_ms() + 30'000));
  start(writes("a", "a"));
  const Job ended = service_->get(job.id.str());
  EXPECT_EQ(ended.state, JobState::failed);
  EXPECT_EQ(ended.last_run->reason, Reason::interrupted);
}

/// While it lives, the database takes no end of a run, as when its disk is full.
class NoRoomForEnds {
 public:
  explicit NoRoomForEnds(const TempDir& data) {
    EXPECT_EQ(sqlite3_open((data / "forge.db").c_str(), &database_), SQLITE_OK);
    EXPECT_EQ(sqlite3_busy_timeout(database_, 8000), SQLITE_OK);
    execute("CREATE TRIGGER no_room BEFORE UPDATE OF ended_ms ON runs BEGIN SELECT RAISE(ABORT, 'no room'); END");
  }
  ~NoRoomForEnds() {
    execute("DROP TRIGGER no_room");
    sqlite3_close(database_);
  }
  NoRoomForEnds(const NoRoomForEnds&) = delete;
  NoRoomForEnds& operator=(const NoRoomForEnds&) = delete;

 private:
  void execute(const char* sql) {
    EXPECT_EQ(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database_);
  }
  sqlite3* database_ = nullptr;
};

/// While it lives, no file of this process grows, as on a full disk.
class FullDisk {
 public:
  FullDisk() {
    handler_ = ::signal(SIGXFSZ, SIG_IGN);  // the write fails instead
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(StoppingTest, ADiskThatFillsWhileTheAgentWorksIsNoLostSandbox) {
  start([](const RunContext& context, const std::string&, const Stop&) {
    const FullDisk full;
    context.trace.append(trace::Turn{1});
    return AgentResult{};
  });
  const Job job = run_to_end(spec());
  EXPECT_EQ(job.state, JobState::failed);
  EXPECT_EQ(job.last_run->reason, Reason::interrupted);
  EXPECT_THAT(job.last_run->error, HasSubstr("is the disk full?"));
}

TEST_F(StoppingTest, AnAgentThatTakesAFullDiskForItsModelsFailureIsCorrected) {
  start([](const RunContext& context, const std::string&, const Stop&) {
    const FullDisk full;
    try {
      context.trace.append(trace::Turn{1});
    } catch (const Error&) {
      return AgentResult{Reason::api_error, "", "the provider does not answer"};
    }
    return AgentResult{};
  });
  const Job job = run_to_end(spec());
  EXPECT_EQ(job.last_run->reason, Reason::interrupted);
  EXPECT_THAT(job.last_run->error, HasSubstr("is the disk full?"));
}

/// Waits for a run's branch: the last thing before its end.
bool pushed(const TempRepo& repo) {
  const Stop limit = soon();
  while (repo.git({"branch", "--list", "forge/*"}).empty()) {
    if (limit.expired()) return false;
    pause(std::chrono::milliseconds(10), limit);
  }
  return true;
}

TEST_F(StoppingTest, AnEndThatCouldNotBeWrittenIsWrittenWhenThereIsRoomAgain) {
  start(writes("a.txt", "a\n"), {.end_again = std::chrono::milliseconds(20)});
  std::optional<NoRoomForEnds> full(dir_);
  const Job job = service_->create(me_, spec(), true);
  ASSERT_TRUE(pushed(repo_));
  EXPECT_EQ(service_->live_runs(), 1u);  // pushed, and not ended
  full.reset();
  ASSERT_TRUE(wait_for_ends(1));
  const Job ended = service_->get(job.id.str());
  EXPECT_EQ(ended.state, JobState::succeeded);
  EXPECT_TRUE(ended.last_run->pushed);
}

TEST_F(StoppingTest, AnEndThatCannotBeWrittenDoesNotKeepTheServerUp) {
  const JobId id = [&] {
    const NoRoomForEnds full(dir_);
    start(writes("a.txt", "a\n"), {.end_again = std::chrono::milliseconds(20)});
    const Job job = service_->create(me_, spec(), true);
    EXPECT_TRUE(pushed(repo_));
    service_->drain(Stop::after(std::chrono::milliseconds(10)));
    EXPECT_EQ(service_->live_runs(), 0u);
    return job.id;
  }();
  ended_.reset();
  service_.reset();
  start(writes("a.txt", "a\n"));
  EXPECT_EQ(service_->get(id.str()).last_run->reason, Reason::interrupted);
}

TEST_F(StoppingTest, ARunThatLostItsLeaseWritesNothingAnyMore) {
  Gate at_work;
  Gate go_on;
  start([&](const RunContext& context, const std::string&, const Stop& stop) {
    context.sandbox.write_file("late.txt", "late\n", stop);
    at_work.open();
    go_on.wait();
    return AgentResult{Reason::completed, "too late", ""};
  });
  const Job job = service_->create(me_, spec(), true);
  ASSERT_TRUE(at_work.wait());
  store_->end_interrupted();  // what another process does when it takes over
  go_on.open();
  service_->drain(Stop::after(std::chrono::seconds(50)));
  const Job ended = service_->get(job.id.str());
  EXPECT_EQ(ended.last_run->reason, Reason::interrupted);
  EXPECT_EQ(ended.last_run->summary, "");
  EXPECT_EQ(repo_.git({"branch", "--list", "forge/*"}), "");
}

TEST_F(StoppingTest, ADrainThatRunsOutInterruptsWhatIsLeft) {
  Gate at_work;
  start(works_until_stopped(at_work));
  const Job job = service_->create(me_, spec(), true);
  ASSERT_TRUE(at_work.wait());
  service_->drain(Stop::after(std::chrono::milliseconds(10)));
  EXPECT_EQ(service_->live_runs(), 0u);
  EXPECT_EQ(service_->get(job.id.str()).last_run->reason, Reason::interrupted);
  EXPECT_TRUE(service_->draining());
  EXPECT_EQ(code_of([&] { service_->create(me_, spec(), true); }), "unavailable");
  EXPECT_EQ(code_of([&] { service_->new_run(me_, job.id.str(), {}); }), "unavailable");
}

}  // namespace
}  // namespace forge::test
