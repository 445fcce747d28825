#include <cstring>
#include <exception>
#include <iostream>
#include <string_view>

#include "tests/bench/gateway_bench.h"
#include "tests/bench/git_bench.h"
#include "tests/bench/http_bench.h"
#include "tests/bench/jobs_bench.h"
#include "tests/bench/review_bench.h"
#include "tests/bench/sandbox_bench.h"
#include "tests/bench/store_bench.h"

namespace {

struct Benchmark {
  std::string_view name;
  void (*run)(std::ostream& out);
};

// Each prints Forge beside its anchor in one run: read the ratios, absolute times move with the machine.
constexpr Benchmark kBenchmarks[] = {
    {"sandbox", forge::bench::bench_sandbox},     {"git", forge::bench::bench_work_tree},      {"jobs", forge::bench::bench_job_overhead},
    {"store", forge::bench::bench_trace_appends}, {"http", forge::bench::bench_event_streams}, {"gateway", forge::bench::bench_gateway},
    {"review", forge::bench::bench_review},
};

}  // namespace

/// forge-bench [NAME...]: all benchmarks, or the named ones. Exit 2 for an unknown name.
int main(int argc, char** argv) {
  const auto asked = [&](std::string_view name) {
    for (int i = 1; i < argc; ++i)
      if (name == argv[i]) return true;
    return argc == 1;
  };
  for (int i = 1; i < argc; ++i) {
    bool known = false;
    for (const auto& benchmark : kBenchmarks) known = known || benchmark.name == argv[i];
    if (known) continue;
    std::cerr << "forge-bench: there is no benchmark '" << argv[i] << "'; there are:";
    for (const auto& benchmark : kBenchmarks) std::cerr << ' ' << benchmark.name;
    std::cerr << '\n';
    return 2;
  }
  int failed = 0;
  for (const auto& benchmark : kBenchmarks) {
    if (!asked(benchmark.name)) continue;
    try {
      benchmark.run(std::cout);
    } catch (const std::exception& e) {
      std::cout << benchmark.name << ": could not be measured: " << e.what() << '\n';
      ++failed;
    }
    std::cout << std::flush;
  }
  return failed == 0 ? 0 : 1;
}
