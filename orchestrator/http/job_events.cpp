#include "orchestrator/http/job_events.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "orchestrator/base/json_reader.h"

namespace forge::http {
namespace {

// Of at most 16 KiB each, head and tail: one page is in the order of a stream's ring.
constexpr int kPageEvents = 64;
const char* const kAll = "all";

std::string topic_of(const JobId& job, int run) { return "run:" + job.str() + ":" + std::to_string(run); }

/// Stored events of one run.
class RunSource final : public httpd::EventSource {
 public:
  RunSource(JobControl& jobs, JobId job, int run) : jobs_(jobs), job_(std::move(job)), run_(run) {}

  Batch after(std::int64_t seq) override {
    const TracePage page = jobs_.trace(job_.str(), run_, seq, kPageEvents);
    Batch batch;
    for (const TraceEvent& event : page.items) batch.events.push_back({.seq = event.seq, .name = {}, .data = envelope_json(event)});
    // A short page has reached what was stored when it was read; what came after it is published.
    batch.more = !page.complete && page.items.size() == static_cast<std::size_t>(kPageEvents);
    if (page.complete) batch.end = end_event();
    return batch;
  }

 private:
  /// How it ended, so that a client needs no second request.
  httpd::Event end_event() {
    const Run run = jobs_.run(job_.str(), run_);
    const nlohmann::json data{{"run", run.number},
                              {"state", name_of(run.state)},
                              {"reason", run.reason ? nlohmann::json(name_of(*run.reason)) : nlohmann::json(nullptr)}};
    return {.seq = 0, .name = "end", .data = dump_json(data), .last = true};
  }

  JobControl& jobs_;
  JobId job_;
  int run_;
};

class AllSource final : public httpd::EventSource {
 public:
  explicit AllSource(std::shared_ptr<RecentEvents> recent) : recent_(std::move(recent)) {}
  Batch after(std::int64_t seq) override { return recent_->after(seq); }

 private:
  std::shared_ptr<RecentEvents> recent_;
};

}  // namespace

httpd::Event RecentEvents::add(std::string data) {
  auto window = window_.lock();
  httpd::Event event{.seq = next_seq_++, .name = {}, .data = std::move(data)};
  window->bytes += event.data.size();
  window->events.push_back(event);
  while (window->events.size() > kEvents || (window->bytes > kBytes && window->events.size() > 1)) {
    window->bytes -= window->events.front().data.size();
    window->events.pop_front();
  }
  return event;
}

std::int64_t RecentEvents::last_seq() {
  auto window = window_.lock();
  return next_seq_ - 1;
}

httpd::EventSource::Batch RecentEvents::after(std::int64_t seq) {
  auto window = window_.lock();
  const std::int64_t last = next_seq_ - 1;
  const std::int64_t first = window->events.empty() ? next_seq_ : window->events.front().seq;
  httpd::EventSource::Batch batch;
  if (seq > last || seq < first - 1) {
    batch.events.push_back({.seq = last, .name = "reset", .data = "{}"});
    return batch;
  }
  // The window has no holes: the position is an index.
  for (auto index = static_cast<std::size_t>(seq + 1 - first); index < window->events.size(); ++index) {
    if (batch.events.size() == static_cast<std::size_t>(kPageEvents)) {
      batch.more = true;
      return batch;
    }
    batch.events.push_back(window->events[index]);
  }
  return batch;
}

JobEvents::JobEvents(JobControl& jobs, ReviewControl& reviews, httpd::EventHub& hub, const Clock& clock)
    : jobs_(jobs),
      hub_(hub),
      recent_(std::make_shared<RecentEvents>(clock.now_ms())),
      subscription_(jobs.subscribe([this](const JobId& job, const TraceEvent& event) { happened(job, event); })),
      review_subscription_(reviews.subscribe(
          [this](const JobId& job, int run, std::int64_t revision, ReviewStatus status) { reviewed(job, run, revision, status); })) {}

// Called on the store's writer thread: two strings are made and handed on, and no client can make it wait.
void JobEvents::happened(const JobId& job, const TraceEvent& event) {
  const std::string envelope = envelope_json(event);
  hub_.publish(topic_of(job, event.run), {.seq = event.seq, .name = {}, .data = envelope, .last = event.type == TraceType::terminal});
  hub_.publish(kAll, recent_->add(R"({"job":")" + job.str() + "\"," + envelope.substr(1)));
}

// Called on the thread of the request that changed it. Two threads may number their events in one order and publish them in the other; the
// hub then reads both from the window.
void JobEvents::reviewed(const JobId& job, int run, std::int64_t revision, ReviewStatus status) {
  const nlohmann::json event{{"job", job.str()}, {"type", "review"}, {"run", run}, {"revision", revision}, {"status", name_of(status)}};
  hub_.publish(kAll, recent_->add(dump_json(event)));
}

void JobEvents::created(const JobId& job) { hub_.publish(kAll, recent_->add(dump_json({{"job", job.str()}, {"type", "created"}}))); }

httpd::EventStream JobEvents::of_run(const JobId& job, int run, std::int64_t after) {
  return {.topic = topic_of(job, run), .after = after, .source = std::make_unique<RunSource>(jobs_, job, run), .tags = {}};
}

httpd::EventStream JobEvents::of_all(std::optional<std::int64_t> after) {
  return {.topic = kAll, .after = after.value_or(recent_->last_seq()), .source = std::make_unique<AllSource>(recent_), .tags = {}};
}

}  // namespace forge::http
