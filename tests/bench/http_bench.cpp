#include "tests/bench/http_bench.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "orchestrator/domain/access.h"
#include "orchestrator/http/api.h"
#include "orchestrator/httpd/server.h"
#include "tests/bench/memory.h"
#include "tests/support/fake_access.h"
#include "tests/support/fake_job_control.h"
#include "tests/support/fake_review_control.h"
#include "tests/support/raw_http.h"

namespace forge::bench {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kStreams = 5000;
constexpr std::size_t kRequests = 3000;
constexpr std::size_t kOtherDescriptors = 200;  // what the process has open besides both ends of each stream

/// Raises the soft limit to the hard one; how many streams fit under it.
std::size_t streams_that_fit() {
  rlimit limit{};
  checked(::getrlimit(RLIMIT_NOFILE, &limit), "reading the descriptor limit");
  limit.rlim_cur = limit.rlim_max;
  checked(::setrlimit(RLIMIT_NOFILE, &limit), "raising the descriptor limit");
  const std::size_t most = std::max<std::size_t>(limit.rlim_cur, kOtherDescriptors + 2);
  return std::min(kStreams, (most - kOtherDescriptors) / 2);
}

std::size_t thread_count() {
  const auto entries = std::filesystem::directory_iterator("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

struct Latency {
  double p50_us = 0;
  double p95_us = 0;
};

struct Door {
  std::unique_ptr<Log> log = make_null_log();
  test::FakeJobControl jobs;
  test::FakeReviewControl reviews;
  test::FakeAccess access;
  metrics::Registry metrics;
  SystemClock clock;
  httpd::EventHub hub{{}, *log};
  std::unique_ptr<httpd::Site> api = http::make_api({.jobs = jobs,
                                                     .reviews = reviews,
                                                     .access = access,
                                                     .hub = hub,
                                                     .metrics = metrics,
                                                     .clock = clock,
                                                     .log = *log,
                                                     .check_ready = [] {}},
                                                    {});
  httpd::Server server{{}, *api, hub, *log};
  int port = listen();
  std::string id = jobs.create({.name = "bench"}, {.repository = "/srv/repo", .task = "Wait."}, true).id.str();
  std::string token = "Authorization: Bearer " + issue_token(access, "bench", Role::viewer).secret + "\r\n";

  int listen() {
    httpd::Listener listener = httpd::listen_tcp("127.0.0.1:0");
    const std::string address = httpd::bound_address(listener);
    server.add_listener(std::move(listener));
    return std::stoi(address.substr(address.rfind(':') + 1));
  }

  /// A plain request over one kept connection, again and again.
  Latency measure() {
    test::RawClient client = test::RawClient::tcp(port);
    const std::string request = test::get_request("/api/v1/jobs/" + id, token);
    std::vector<double> times_us;
    for (std::size_t i = 0; i < kRequests; ++i) {
      const auto start = steady_clock::now();
      if (client.ask(request).status != 200) throw Error(ErrorCode::internal, "the bench's request was refused");
      times_us.push_back(std::chrono::duration<double, std::micro>(steady_clock::now() - start).count());
    }
    std::sort(times_us.begin(), times_us.end());
    return {times_us[times_us.size() / 2], times_us[times_us.size() * 95 / 100]};
  }

  std::vector<UniqueFd> open_streams(std::size_t count) {
    const std::string request = test::get_request("/api/v1/jobs/" + id + "/events", token);
    std::vector<UniqueFd> streams;
    for (std::size_t i = 0; i < count; ++i) {
      test::RawClient client = test::RawClient::tcp(port);
      client.send(request);
      client.read_to(":\n\n");
      streams.emplace_back(client.take_fd());
    }
    const Stop patience = Stop::after(std::chrono::seconds(30));
    while (hub.size() != count) pause(std::chrono::milliseconds(1), patience);
    return streams;
  }

  /// Milliseconds until one event has reached the last of `streams`.
  double spread(const std::vector<UniqueFd>& streams) {
    const auto start = steady_clock::now();
    jobs.happen(id, TraceType::log, R"({"level":"info","message":"hello"})");
    for (const UniqueFd& stream : streams) wait_ready(stream.get(), POLLIN, Stop::after(std::chrono::seconds(30)));
    return std::chrono::duration<double, std::milli>(steady_clock::now() - start).count();
  }
};

void row(std::ostream& out, std::string_view name, double alone, double with_streams) {
  out << fmt::format("  {:<28}{:>10.0f} us{:>10.0f} us   ratio {:.2f}\n", name, alone, with_streams, with_streams / alone);
}

}  // namespace

void bench_event_streams(std::ostream& out) {
  const std::size_t count = streams_that_fit();
  Door door;
  door.measure();  // warms caches and allocator, so that they do not count as streams
  const Latency alone = door.measure();
  const std::int64_t before_kib = resident_kib();
  const auto start = steady_clock::now();
  const std::vector<UniqueFd> streams = door.open_streams(count);
  const double opened_s = std::chrono::duration<double>(steady_clock::now() - start).count();
  const std::int64_t with_kib = resident_kib();
  const Latency with_streams = door.measure();
  out << fmt::format("{} idle event streams{}\n", count, count < kStreams ? " (the descriptor limit allows no more)" : "");
  out << fmt::format("  resident memory             {:>10.1f} MiB before, {:.1f} MiB with them: {:.2f} KiB per stream\n",
                     static_cast<double>(before_kib) / 1024, static_cast<double>(with_kib) / 1024,
                     static_cast<double>(with_kib - before_kib) / static_cast<double>(count));
  out << fmt::format("  opened one after another in {:>10.2f} s; {} threads in the process\n", opened_s, thread_count());
  row(out, "plain request p50", alone.p50_us, with_streams.p50_us);
  row(out, "plain request p95", alone.p95_us, with_streams.p95_us);
  out << fmt::format("  one event to all of them in {:>10.1f} ms\n", door.spread(streams));
}

}  // namespace forge::bench
