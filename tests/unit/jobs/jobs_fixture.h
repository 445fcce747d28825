#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/clock.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/redactor.h"
#include "orchestrator/git/repository_cache.h"
#include "orchestrator/jobs/service.h"
#include "orchestrator/store/store.h"
#include "tests/support/dummy_sandbox.h"
#include "tests/support/fake_adapter.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"
#include "tests/support/temp_repo.h"
#include "tests/support/with_store.h"

namespace forge::test {

/// Opens once; waiting has a deadline, so that a broken test fails instead of hanging.
class Gate {
 public:
  void open() {
    auto open = open_.lock();
    *open = true;
    open.notify_all();
  }
  /// False when the gate did not open within 8 s.
  bool wait() {
    auto open = open_.lock();
    return open.wait_until({}, SteadyClock::now() + std::chrono::seconds(50), [](bool is_open) { return is_open; });
  }

 private:
  Guarded<bool> open_;
};

/// A real store, a real repository with one commit, the dummy driver and an agent that the test plays.
class Jobs : public testing::Test, protected WithStore<SystemClock> {
 protected:
  Jobs() {
    repo_.write("README.md", "hello\n");
    repo_.write("src/main.py", "print('one')\n");
    repo_.commit("first");
  }

  jobs::Service& start(FakeAdapter::Play play, jobs::QueueOptions queue = {}, bool push_partial = false) {
    adapter_ = std::make_unique<FakeAdapter>(std::move(play));
    service_ = jobs::make_service({.store = *store_,
                                   .git = *git_,
                                   .drivers = {{"dummy", &driver_}},
                                   .adapters = {adapter_.get()},
                                   .templates = {{"base", {}}},
                                   .clock = clock_,
                                   .log = *log_,
                                   .queue = queue,
                                   .push_partial = push_partial,
                                   .most_trace_bytes = most_trace_bytes_});
    ended_ = service_->subscribe([this](const JobId&, const TraceEvent& event) {
      if (event.type != TraceType::terminal) return;
      auto count = terminals_.lock();
      ++*count;
      count.notify_all();
    });
    return *service_;
  }

  JobSpec spec(const std::string& task = "change it") const {
    JobSpec spec;
    spec.repository = repo_.str();
    spec.task = task;
    spec.adapter = "fake";
    spec.model = "fake/model";
    spec.driver = "dummy";
    return spec;
  }

  /// Waits until `count` runs have ended since start().
  bool wait_for_ends(int count) {
    auto ends = terminals_.lock();
    return ends.wait_until({}, SteadyClock::now() + std::chrono::seconds(50), [&](int seen) { return seen >= count; });
  }

  /// Creates a job, waits for its end and returns it.
  Job run_to_end(const JobSpec& asked) {
    const int before = *terminals_.lock();
    const Job job = service_->create(me_, asked, true);
    EXPECT_TRUE(wait_for_ends(before + 1));
    return service_->get(job.id.str());
  }

  std::vector<TraceEvent> events(const Job& job) { return service_->trace(job.id.str(), 0, 0, 1000).items; }

  std::size_t most_trace_bytes_ = jobs::RunTrace::kMostBytes;
  const Principal me_{"tester", Role::admin, true};
  TempRepo repo_;
  std::unique_ptr<git::RepositoryCache> git_ = git::open_repository_cache(
      {.directory = dir_.str(), .helper_program = test::built_program("forge"), .credentials = {}, .log = *log_});
  DummyDriver driver_;
  std::unique_ptr<FakeAdapter> adapter_;
  Guarded<int> terminals_;
  std::unique_ptr<jobs::Service> service_;
  std::shared_ptr<void> ended_;  // last: it must go before what it calls into
};

/// An agent that writes one file and stops.
inline FakeAdapter::Play writes(std::string path, std::string content) {
  return [path = std::move(path), content = std::move(content)](const adapters::RunContext& context, const std::string&, const Stop& stop) {
    context.sandbox.write_file(path, content, stop);
    return adapters::AgentResult{Reason::completed, "Wrote " + path, ""};
  };
}

}  // namespace forge::test
