#include "tests/bench/jobs_bench.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <ostream>
#include <string>

#include "adapters/pi/pi.h"
#include "orchestrator/base/clock.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/egress/gateway.h"
#include "orchestrator/git/repository_cache.h"
#include "orchestrator/jobs/service.h"
#include "orchestrator/models/price_book.h"
#include "orchestrator/models/providers.h"
#include "orchestrator/sandbox/drivers.h"
#include "orchestrator/store/store.h"
#include "tests/bench/samples.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"
#include "tests/support/temp_repo.h"
#include "tests/support/with_store.h"

namespace forge::bench {
namespace {

constexpr int kWarmUps = 3;
constexpr int kJobRounds = 30;

constexpr const char* kScript = R"([
  {"tools": [{"name": "bash", "input": {"command": "echo done > note.txt"}}], "usage": {"input": 10, "output": 5}},
  {"text": "Write a note", "usage": {"input": 20, "output": 5}}
])";

/// When the first tool call of the running job came, and whether the job has ended.
struct Seen {
  std::optional<SteadyClock::time_point> first_call;
  bool ended = false;
};

/// All real parts in one process, as the server has them.
class Workshop : test::WithStore<SystemClock> {
 public:
  Workshop() {
    repo_.write("README.md", "# small\n");
    repo_.write("src/main.py", "print('hello')\n");
    repo_.commit("first");
    test::write_file(dir_ / "script.json", kScript);
    listening_ = service_->subscribe([this](const JobId&, const TraceEvent& event) {
      auto seen = seen_.lock();
      if (event.type == TraceType::tool_call && !seen->first_call) seen->first_call = SteadyClock::now();
      if (event.type == TraceType::terminal) seen->ended = true;
      seen.notify_all();
    });
  }

  /// From create() to the first tool call; returns when the run has ended.
  SteadyClock::duration run_one() {
    *seen_.lock() = {};
    JobSpec spec;
    spec.repository = repo_.str();
    spec.task = "write a note";
    spec.model = "scripted:" + (dir_ / "script.json").string();
    const auto started = SteadyClock::now();
    service_->create({"bench", Role::admin, true}, spec, true);
    auto seen = seen_.lock();
    seen.wait({}, [](const Seen& s) { return s.ended; });
    if (!seen->first_call) throw Error(ErrorCode::internal, "the benchmark's job made no tool call");
    return *seen->first_call - started;
  }

 private:
  test::TempRepo repo_;
  models::PriceBook prices_;
  models::ModelFactory models_{models::ModelSettings{}, prices_, clock_};
  egress::Gateway gateway_{models_, prices_, *store_, clock_, *log_, {}};
  std::unique_ptr<adapters::AgentAdapter> pi_ = adapters::make_pi(gateway_);
  std::unique_ptr<git::RepositoryCache> git_ = git::open_repository_cache(
      {.directory = dir_.str(), .helper_program = test::built_program("forge"), .credentials = {}, .log = *log_});
  std::unique_ptr<sandbox::SandboxDriver> driver_ = sandbox::make_driver(
      "local", {.run_directory = dir_.str() + "/run", .launcher = test::built_program("forge-sandbox"), .cgroup_parent = "", .log = *log_});
  Guarded<Seen> seen_;
  std::unique_ptr<jobs::Service> service_ = jobs::make_service({.store = *store_,
                                                                .git = *git_,
                                                                .drivers = {{"local", driver_.get()}},
                                                                .adapters = {pi_.get()},
                                                                .templates = {{"base", {}}},
                                                                .clock = clock_,
                                                                .log = *log_,
                                                                .queue = {}});
  std::shared_ptr<void> listening_;
};

}  // namespace

void bench_job_overhead(std::ostream& out) {
  Workshop workshop;
  for (int i = 0; i < kWarmUps; ++i) workshop.run_one();
  Samples samples;
  for (int i = 0; i < kJobRounds; ++i) samples.add(workshop.run_one());
  out << fmt::format("job: create to first tool call   p50 {:6.1f} ms  p95 {:6.1f} ms   goal p50 <= 80 ms   {}\n", samples.p50(),
                     samples.p95(), samples.p50() <= 80 ? "met" : "MISSED");
}

}  // namespace forge::bench
