#include "tests/bench/store_bench.h"

#include <fmt/format.h>

#include <chrono>
#include <ostream>
#include <thread>
#include <vector>

#include "orchestrator/base/guarded.h"
#include "orchestrator/store/store.h"
#include "tests/bench/samples.h"
#include "tests/support/temp_dir.h"

namespace forge::bench {
namespace {

constexpr auto kDuration = std::chrono::seconds(2);
constexpr std::size_t kEventBytes = 300;

/// One caller: appends until the time is over.
void append_until(SteadyClock::time_point end, store::Store& store, const RunId& run, Guarded<Samples>& samples) {
  const trace::Text event{{std::string(kEventBytes, 'x')}};
  while (SteadyClock::now() < end) {
    const auto begin = SteadyClock::now();
    store.append_event(run, event, 1);
    samples.lock()->add(SteadyClock::now() - begin);
  }
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

  Guarded<Samples> guarded;
  const auto begin = SteadyClock::now();
  {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(callers));
    for (int i = 0; i < callers; ++i) threads.emplace_back([&] { append_until(begin + kDuration, *store, run, guarded); });
  }
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  const Samples samples = *guarded.lock();
  out << fmt::format("trace appends, {:2} callers: {:8.0f} events/s   p50 {:7.3f} ms   p95 {:7.3f} ms\n", callers,
                     static_cast<double>(samples.count()) / seconds, samples.p50(), samples.p95());
}

}  // namespace

void bench_trace_appends(std::ostream& out) {
  for (const int callers : {1, 16}) measure(out, callers);
}

}  // namespace forge::bench
