#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "orchestrator/base/clock.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/domain/job_control.h"
#include "orchestrator/domain/review_control.h"
#include "orchestrator/httpd/event_hub.h"

namespace forge::http {

/// The latest events of all jobs, numbered for the stream of everything. Numbers begin with the process's start time, so that a
/// position of an earlier process is never mistaken for one of this.
class RecentEvents {
 public:
  static constexpr std::size_t kEvents = 4096;
  static constexpr std::size_t kBytes = 4 << 20;

  explicit RecentEvents(std::int64_t now_ms) : next_seq_(now_ms * 1000) {}
  /// Gives the event its number and keeps it while there is room.
  httpd::Event add(std::string data);
  /// Events after `seq`; when some of them are gone, one event `reset` instead, whose reader has to fetch everything anew.
  httpd::EventSource::Batch after(std::int64_t seq);
  /// Number of the newest event, also when nothing has happened yet.
  std::int64_t last_seq();

 private:
  struct Window {
    std::deque<httpd::Event> events;
    std::size_t bytes = 0;
  };
  std::int64_t next_seq_;  // guarded by window_
  Guarded<Window> window_;
};

/// Carries stored trace events, and word of changed reviews, from the engine to the event hub, and opens streams.
class JobEvents {
 public:
  JobEvents(JobControl& jobs, ReviewControl& reviews, httpd::EventHub& hub, const Clock& clock);
  JobEvents(const JobEvents&) = delete;
  JobEvents& operator=(const JobEvents&) = delete;

  /// Tells the stream of everything of a job that has no run yet: the events of runs tell of all others.
  void created(const JobId& job);
  /// Stream of one run, from the event after `after`; ends with `event: end`.
  httpd::EventStream of_run(const JobId& job, int run, std::int64_t after);
  /// Stream of all jobs; `after` nothing = from now on.
  httpd::EventStream of_all(std::optional<std::int64_t> after);

 private:
  /// One stored event: to the stream of its run, and to the stream of everything.
  void happened(const JobId& job, const TraceEvent& event);
  /// To the stream of everything: what a reader of the review must fetch anew.
  void reviewed(const JobId& job, int run, std::int64_t revision, ReviewStatus status);

  JobControl& jobs_;
  httpd::EventHub& hub_;
  std::shared_ptr<RecentEvents> recent_;  // shared with the streams' sources, which the hub owns
  // Last: they end before what they use.
  std::shared_ptr<void> subscription_;
  std::shared_ptr<void> review_subscription_;
};

}  // namespace forge::http
