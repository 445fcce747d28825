#include "orchestrator/cli/watch.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/numbers.h"
#include "orchestrator/cli/exit_code.h"
#include "orchestrator/cli/follow.h"
#include "orchestrator/cli/live_line.h"
#include "orchestrator/cli/summary.h"
#include "orchestrator/cli/trace_text.h"

namespace forge::cli {
namespace {

// A cancel that the server does not answer by then is reported; the person can press Ctrl-C again.
constexpr auto kCancelPatience = std::chrono::seconds(10);

/// While it lives, the first Ctrl-C cancels the job.
class CancelOnInterrupt {
 public:
  CancelOnInterrupt(Interrupts& interrupts, const Endpoint& endpoint, const JobId& job, LiveLine& live)
      : interrupts_(interrupts), endpoint_(endpoint), job_(job), live_(live), thread_([this](const std::stop_token& token) {
          wait(token);
        }) {
    interrupts_.handle(
        [this] {
          auto asked = asked_.lock();
          *asked = true;
          asked.notify_all();
        },
        number(ExitCode::cancelled));
  }
  ~CancelOnInterrupt() { interrupts_.reset(); }
  CancelOnInterrupt(const CancelOnInterrupt&) = delete;
  CancelOnInterrupt& operator=(const CancelOnInterrupt&) = delete;

 private:
  void wait(const std::stop_token& token) {
    if (!asked_.lock().wait(token, [](bool asked) { return asked; })) return;
    live_.note("cancelling the job; Ctrl-C again stops at once");
    try {
      ApiClient(endpoint_).cancel(job_.str(), Stop(token).shorter(kCancelPatience));
    } catch (const Error& e) {
      // A conflict means that the run has just ended by itself.
      if (e.code() != ErrorCode::conflict && e.code() != ErrorCode::cancelled)
        live_.note("the job could not be cancelled: " + (e.client_text().empty() ? std::string(e.what()) : e.client_text()));
    }
  }

  Interrupts& interrupts_;
  const Endpoint endpoint_;
  const JobId job_;
  LiveLine& live_;
  Guarded<bool> asked_;
  std::jthread thread_;  // last: it uses the rest
};

/// Events go to the terminal as lines, and into the tally of the status line.
Run follow_with_progress(Context& context, Connection& connection, const JobId& job, int run, const WatchOptions& options,
                         OnInterrupt on_interrupt) {
  LiveLine live(context.console);
  std::optional<CancelOnInterrupt> cancel;
  if (on_interrupt == OnInterrupt::cancel_job) cancel.emplace(context.interrupts, connection.client.endpoint(), job, live);
  // With a cancel on the way the run is watched to its end.
  const Stop stop = cancel ? Stop() : context.stop;
  const TraceTextOptions text{.paint = context.console.err_paint, .width = context.console.width};
  RunTally tally;
  const auto hear = [&](const TraceEvent& event) {
    if (options.events) return context.console.print(envelope_json(event) + "\n");
    for (auto& line : trace_lines(event, text)) live.note(std::move(line));
    tally.add(event);
    live.status(tally.text());
  };
  return follow_run(
      connection.client, job.str(), run, hear, [&](const std::string& line) { live.note(line); }, stop);
}

/// Other jobs that this process took on meanwhile, through its socket.
void finish_others(Context& context, Connection& connection) {
  EngineHandle* own = connection.own->get();
  if (own == nullptr || own->live_runs() == 0) return;
  context.console.note(fmt::format("waiting for {} that this process works on; Ctrl-C interrupts", counted(own->live_runs(), "more run")));
  try {
    own->drain(context.stop);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::cancelled) throw;
    context.console.note("interrupted them");
  }
}

}  // namespace

std::vector<Option> watch_options(WatchOptions& options) {
  return {
      {.name = "--json",
       .value = {},
       .help = "Print the result as one JSON object; progress goes to standard error",
       .target = &options.json,
       .group = "Output"},
      {.name = "--events",
       .value = {},
       .help = "Print each trace event as a line of JSON, and nothing else",
       .target = &options.events,
       .group = "Output"},
  };
}

void check_watch_options(const WatchOptions& options) {
  if (options.json && options.events) throw bad_input("--events", "--json and --events exclude each other", "choose one");
}

int watch_run(Context& context, Connection& connection, const JobId& job, int run, const WatchOptions& options, OnInterrupt on_interrupt) {
  const Run ended = follow_with_progress(context, connection, job, run, options, on_interrupt);
  const Job whole = connection.client.job(job.str(), context.stop);
  if (options.json) context.console.print(dump_json(run_report(whole, ended)) + "\n");
  if (!options.json && !options.events) context.console.print(run_summary(whole, ended, context.console.out_paint));
  finish_others(context, connection);
  return number(exit_code_of(ended));
}

}  // namespace forge::cli
