#pragma once

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/base/text.h"
#include "orchestrator/domain/job_json.h"
#include "tests/support/loopback_server.h"

namespace forge::cli {

inline constexpr const char* kJobId = "06f3m2k9qaw5x7y8z9t0v1b2c3";

/// Signals that the command line handles, blocked for the threads of the test, as main.cpp's threads have them.
class SignalsOfMain {
 public:
  SignalsOfMain() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~SignalsOfMain() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsOfMain(const SignalsOfMain&) = delete;
  SignalsOfMain& operator=(const SignalsOfMain&) = delete;

 private:
  sigset_t before_{};
};

/// An event of run 1.
inline TraceEvent event(std::int64_t seq, const TraceData& data, std::optional<int> turn = {}) {
  TraceEvent made;
  made.seq = seq;
  made.ts_ms = 1'767'225'600'000 + seq * 100;
  made.turn = turn;
  made.type = type_of(data);
  made.data_json = nlohmann::json(to_json(data)).dump();
  return made;
}

/// A run that went well, in eight events.
inline std::vector<TraceEvent> good_run() {
  return {event(1, trace::State{JobState::queued, JobState::running, {}, ""}),
          event(2, trace::Git{"fetch", "refs/heads/main at 1111111111", 12}),
          event(3, trace::Turn{1}, 1),
          event(4, trace::ToolCall{"c1", "bash", {R"({"command":"make test"})"}}, 1),
          event(5, trace::ToolResult{"c1", "bash", true, 0, false, 12, 340, {"all passed\n"}}, 1),
          event(6, trace::Model{"r1", "fake/model", {1200, 34, 0, 0}, 12'300'000, 80, 900, "end_turn"}, 1),
          event(7, trace::State{JobState::finalizing, JobState::succeeded, Reason::completed, ""}),
          event(8, trace::Terminal{Reason::completed, ""})};
}

/// The job that the fake server knows.
inline Job sample_job() {
  Job job;
  job.id = JobId(kJobId);
  job.spec.repository = "/srv/git/app";
  job.spec.task = "Repair the parser";
  job.spec.model = "fake/model";
  job.created_by = "local";
  job.created_ms = 1'767'225'600'000;
  job.state = JobState::succeeded;
  Run run;
  run.id = RunId("06f3m2k9qaw5x7y8z9t0v1b2c4");
  run.job = job.id;
  run.state = JobState::succeeded;
  run.reason = Reason::completed;
  run.branch = "forge/06f3m2k9qa-1";
  run.base_ref = "refs/heads/main";
  run.base_commit = std::string(40, '1');
  run.head_commit = std::string(40, '2');
  run.pushed = true;
  run.summary = "Repaired the parser.\n\nIt stopped at the first comma.";
  run.diff_stat = {2, 1234, 5};
  run.usage = {1200, 34, 5600, 0};
  run.cost_nano_usd = 12'300'000;
  run.verify = {{"make test", 0}};
  run.created_ms = run.started_ms = 1'767'225'600'000;
  run.ended_ms = run.started_ms + 42'300;
  job.last_run = run;
  return job;
}

/// What the fake server does. Changed by the test before it is asked.
struct Script {
  Job job = sample_job();
  std::vector<TraceEvent> events = good_run();
  std::string diff = "diff --git a/a.txt b/a.txt\n";
  std::vector<std::size_t> cut_after{};          ///< the n-th stream ends after so many events, unorderly
  bool wait_for_cancel = false;                  ///< the stream sends nothing until the job is cancelled
  std::map<std::string, std::string> answers{};  ///< "GET /api/v1/jobs": the whole answer, before anything else is looked at
};

/// Forge's HTTP API on a unix socket or a port, as far as the command line uses it, out of memory.
class FakeForge {
 public:
  explicit FakeForge(Script script) : script_(std::move(script)), server_([this](test::Connection& c) { serve(c); }) {}
  FakeForge(Script script, const std::string& socket)
      : script_(std::move(script)), server_([this](test::Connection& c) { serve(c); }, socket) {}

  std::string url() const { return server_.url(); }
  /// "POST /api/v1/jobs" of each request so far.
  std::vector<std::string> requests() { return state_.lock()->requests; }
  /// The last request with that beginning.
  test::SeenRequest last(const std::string& beginning) {
    auto state = state_.lock();
    for (auto at = state->seen.rbegin(); at != state->seen.rend(); ++at)
      if ((at->method + " " + at->target).starts_with(beginning)) return *at;
    return {};
  }
  /// Waits until that was asked for.
  void wait_for_request(const std::string& line, const Stop& stop) {
    auto state = state_.lock();
    state.wait_until(stop.token(), stop.deadline(),
                     [&](const State& s) { return std::find(s.requests.begin(), s.requests.end(), line) != s.requests.end(); });
  }
  /// Waits until somebody listens to events.
  void wait_for_stream(const Stop& stop) {
    auto state = state_.lock();
    state.wait_until(stop.token(), stop.deadline(), [](const State& s) { return s.streams > 0; });
  }

 private:
  struct State {
    std::vector<std::string> requests;
    std::vector<test::SeenRequest> seen;
    std::size_t streams = 0;
    bool cancelled = false;
  };

  void serve(test::Connection& connection) {
    while (const auto request = connection.read_request()) {
      const std::string line = request->method + " " + request->target;
      {
        auto state = state_.lock();
        state->requests.push_back(line);
        state->seen.push_back(*request);
        state.notify_all();
      }
      if (const auto fixed = script_.answers.find(line); fixed != script_.answers.end())
        connection.send(fixed->second);
      else if (line.find("/events") != line.npos)
        return stream(connection, *request);
      else
        connection.send(answer(*request, line));
    }
  }

  std::string answer(const test::SeenRequest& request, const std::string& line) {
    if (line == "POST /api/v1/jobs") return test::http_answer(201, created(request.body).dump());
    if (line.starts_with("GET /api/v1/jobs?")) return test::http_answer(200, nlohmann::json(to_json(JobPage{{script_.job}, ""})).dump());
    if (line.ends_with("/cancel")) {
      auto state = state_.lock();
      state->cancelled = true;
      state.notify_all();
    }
    if (line.ends_with("/diff")) return test::http_answer(200, script_.diff, "Content-Type: text/x-diff\r\n");
    if (line.ends_with("/cost")) return test::http_answer(200, nlohmann::json(to_json(cost())).dump());
    if (line.find("/trace?") != line.npos)
      return test::http_answer(200, trace_page_json(TracePage{script_.events, script_.events.back().seq, true}));
    if (line.find("/runs/") != line.npos || line.ends_with("/run"))
      return test::http_answer(200, nlohmann::json(to_json(run_now())).dump());
    return test::http_answer(200, nlohmann::json(to_json(job_now())).dump());
  }

  nlohmann::json created(const std::string& body) {
    Job job = script_.job;
    job.spec = job_request_from_json(nlohmann::json::parse(body), job.spec).spec;
    script_.job.spec = job.spec;
    return to_json(job);
  }

  RunCost cost() const {
    const Run& run = *script_.job.last_run;
    return {run.usage, run.cost_nano_usd, 2'000'000'000, {{"fake/model", run.usage, run.cost_nano_usd, 3}}};
  }

  Run run_now() {
    Run run = *script_.job.last_run;
    if (script_.wait_for_cancel) {
      const bool cancelled = state_.lock()->cancelled;
      run.state = cancelled ? JobState::cancelled : JobState::running;
      run.reason = cancelled ? std::optional(Reason::cancelled) : std::nullopt;
    }
    return run;
  }
  Job job_now() {
    Job job = script_.job;
    if (job.last_run) {
      job.last_run = run_now();
      job.state = job.last_run->state;
    }
    return job;
  }

  void stream(test::Connection& connection, const test::SeenRequest& request) {
    std::size_t number = 0;
    {
      auto state = state_.lock();
      number = state->streams++;
      state.notify_all();
      if (script_.wait_for_cancel)
        state.wait_until(connection.stop().token(), connection.stop().deadline(), [](const State& s) { return s.cancelled; });
    }
    const std::int64_t after = std::stoll("0" + request.header("last-event-id"));
    connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: hello\n\n");
    std::size_t sent = 0;
    for (const TraceEvent& one : script_.events) {
      if (one.seq <= after) continue;
      if (number < script_.cut_after.size() && sent == script_.cut_after[number]) return connection.reset();
      connection.send("id: " + std::to_string(one.seq) + "\ndata: " + envelope_json(one) + "\n\n");
      ++sent;
    }
    connection.send("event: end\ndata: {}\n\n");
  }

  Script script_;
  Guarded<State> state_;
  test::LoopbackServer server_;  // last: its threads use the rest
};

}  // namespace forge::cli
