#include "tests/bench/store_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ostream>
#include <thread>
#include <vector>

#include "orchestrator/base/guarded.h"
#include "orchestrator/store/store.h"
#include "tests/support/temp_dir.h"

namespace forge::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kDuration = std::chrono::seconds(2);
constexpr std::size_t kEventBytes = 300;

/// What each append of one caller took, until the time is over.
std::vector<double> append_for(store::Store& store, const RunId& run, Clock::time_point until) {
  std::vector<double> took_ms;
  const trace::Text event{{std::string(kEventBytes, 'x')}};
  while (Clock::now() < until) {
    const auto begin = Clock::now();
    store.append_event(run, event, 1);
    took_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  return took_ms;
}

void measure(std::ostream& out, int callers) {
  const test::TempDir directory;
  const SystemClock clock;
  const Redactor redactor;
  const auto log = make_null_log();
  const auto store = store::open_sqlite_store({.directory = directory.str() + "/data", .clock = clock, .redactor = redactor, .log = *log});
  JobSpec spec;
  spec.repository = "/repository";
  const RunId run = store->insert_job(spec, "bench", true).last_run->id;

  Guarded<std::vector<double>> all;
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(callers));
    for (int i = 0; i < callers; ++i) {
      threads.emplace_back([&] {
        const std::vector<double> mine = append_for(*store, run, begin + kDuration);
        auto joined = all.lock();
        joined->insert(joined->end(), mine.begin(), mine.end());
      });
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::vector<double> took = *all.lock();
  std::sort(took.begin(), took.end());
  const auto at = [&](std::size_t percent) { return took.at(std::min(took.size() - 1, took.size() * percent / 100)); };
  out << fmt::format("trace appends, {:2} callers: {:8.0f} events/s   p50 {:7.3f} ms   p95 {:7.3f} ms\n", callers,
                     static_cast<double>(took.size()) / seconds, at(50), at(95));
}

}  // namespace

void bench_trace_appends(std::ostream& out) {
  for (const int callers : {1, 16}) measure(out, callers);
}

}  // namespace forge::bench
