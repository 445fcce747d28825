#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/store/store.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace forge::store {

/// An implementation that the conformance suite runs over. One line more here is one suite more.
struct SqliteBackend {
  static std::unique_ptr<Store> open(const StoreOptions& options) { return open_sqlite_store(options); }
};
using Backends = testing::Types<SqliteBackend>;

/// A store in a directory of its own.
template <typename Backend>
class StoreTest : public testing::Test {
 protected:
  StoreTest() { reopen(); }

  void reopen() {
    store_.reset();
    store_ = Backend::open({.directory = directory(), .clock = clock_, .redactor = redactor_, .log = *log_});
  }
  std::string directory() const { return directory_.str() + "/data"; }
  Store& store() { return *store_; }

  static JobSpec spec(const std::string& task = "fix the test") {
    JobSpec spec;
    spec.repository = "/srv/repository";
    spec.task = task;
    spec.model = "scripted:x.json";
    return spec;
  }
  Job queued(const std::string& task = "fix the test") { return store().insert_job(spec(task), "anna", true); }
  Lease claimed() {
    queued();
    return store().claim_run(clock_.now_ms() + 60'000).value();
  }
  /// Claimed and moved on to `state`.
  Lease in_state(JobState state) {
    Lease lease = claimed();
    JobState at = JobState::leased;
    for (const JobState next : {JobState::preparing, JobState::running, JobState::finalizing}) {
      if (at == state) break;
      EXPECT_TRUE(store().move_run(lease, at, next));
      at = next;
    }
    return lease;
  }
  TraceEvent say(const RunId& run, const std::string& text) { return store().append_event(run, trace::Text{{text}}, {}); }
  std::vector<TraceEvent> all_events(const RunId& run) { return store().events(run, 0, 1000).items; }

  test::FakeClock clock_;
  Redactor redactor_;
  std::unique_ptr<Log> log_ = make_null_log();
  test::TempDir directory_;
  std::unique_ptr<Store> store_;
};

/// The code and the client's text of what `body` throws; "no error" when it does not.
template <typename Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& e) {
    return std::string(name_of(e.code())) + ": " + (e.client_text().empty() ? e.what() : e.client_text());
  }
  return "no error";
}

/// Runs `body(0..count-1)`, each on a thread of its own, and waits for all.
template <typename Body>
void on_threads(int count, Body&& body) {
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
}

/// 1, 2, ... without a hole, which is what every reader of a trace may rely on.
inline void expect_gap_free(const std::vector<TraceEvent>& events, std::int64_t after = 0) {
  for (std::size_t i = 0; i < events.size(); ++i) ASSERT_EQ(events[i].seq, after + static_cast<std::int64_t>(i) + 1);
}

}  // namespace forge::store
