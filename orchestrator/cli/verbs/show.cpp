#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/cli/connection.h"
#include "orchestrator/cli/follow.h"
#include "orchestrator/cli/summary.h"
#include "orchestrator/cli/trace_text.h"
#include "orchestrator/cli/verbs.h"
#include "orchestrator/cli/watch.h"

namespace forge::cli {
namespace {

constexpr int kTracePage = 500;

struct ShowOptions {
  std::string id;
  bool diff = false;
  bool trace = false;
  bool cost = false;
  bool follow = false;
  std::optional<std::int64_t> run;
  WatchOptions watch;
  ServerChoice server;
  int run_number() const { return static_cast<int>(run.value_or(0)); }
};

void show_diff(Context& context, ApiClient& client, const std::string& id, const ShowOptions& options) {
  if (options.watch.json) return context.console.print(client.diff_json(id, options.run_number(), context.stop) + "\n");
  const std::string diff = client.diff(id, options.run_number(), context.stop);
  // Byte by byte into a pipe or file, where git apply reads it; harmless where a person does.
  context.console.print(context.console.out_is_terminal ? harmless(diff) : diff);
}

/// Page by page, so that a long trace begins to appear at once.
void show_trace(Context& context, ApiClient& client, const std::string& id, const ShowOptions& options) {
  const TraceTextOptions text{.paint = context.console.out_paint, .width = context.console.width, .output_lines = 0, .thinking = true};
  std::int64_t after = 0;
  while (true) {
    const TracePage page = client.trace(id, options.run_number(), after, kTracePage, context.stop);
    for (const TraceEvent& event : page.items) {
      if (options.watch.events || options.watch.json)
        context.console.print(envelope_json(event) + "\n");
      else
        for (const auto& line : trace_lines(event, text)) context.console.print(line + "\n");
    }
    if (page.items.empty() || page.complete) return;
    after = page.items.back().seq;
  }
}

void show_cost(Context& context, ApiClient& client, const std::string& id, const ShowOptions& options) {
  const RunCost cost = client.cost(id, options.run_number(), context.stop);
  context.console.print(options.watch.json ? dump_json(to_json(cost)) + "\n" : cost_table(cost));
}

void show_summary(Context& context, ApiClient& client, const Job& job, const ShowOptions& options) {
  const Paint& paint = context.console.out_paint;
  if (!job.last_run) {
    context.console.print(options.watch.json ? dump_json(to_json(job)) + "\n"
                                             : fmt::format("job {} is {}: it has not run yet\n", short_id(job.id), name_of(job.state)));
    return;
  }
  const Run run = options.run ? client.run(job.id.str(), options.run_number(), context.stop) : *job.last_run;
  if (options.watch.json) return context.console.print(dump_json(run_report(job, run)) + "\n");
  const std::string title = job.spec.title.empty() ? default_title(job.spec.task) : job.spec.title;
  context.console.print(fmt::format("{} {}\n  on {}, {} with {}\n", paint.bold("job " + job.id.str()), one_line(title, 72),
                                    one_line(job.spec.repository, 120), job.spec.adapter, one_line(job.spec.model, 80)));
  context.console.print(run_summary(job, run, paint));
}

int follow(Context& context, Connection& connection, const Job& job, const ShowOptions& options) {
  if (!job.last_run)
    throw public_failure(ErrorCode::conflict, fmt::format("job {} has not run yet", short_id(job.id))).with_hint("`forge retry` starts it");
  const int number = options.run ? options.run_number() : job.last_run->number;
  if (number == job.last_run->number) check_attended(connection.client, *job.last_run);
  return watch_run(context, connection, job.id, number, options.watch, OnInterrupt::stop_watching);
}

int show(Context& context, const ShowOptions& options) {
  check_watch_options(options.watch);
  if (options.diff + options.trace + options.cost + options.follow > 1)
    throw bad_input("", "--diff, --trace, --cost and --follow exclude each other", "choose one");
  const std::string id = job_id(options.id);
  Connection connection = connect(context, options.server, EngineUse::look);
  ApiClient& client = connection.client;
  const Job job = client.job(id, context.stop);
  if (options.follow) return follow(context, connection, job, options);
  if (options.diff)
    show_diff(context, client, job.id.str(), options);
  else if (options.trace || options.watch.events)
    show_trace(context, client, job.id.str(), options);
  else if (options.cost)
    show_cost(context, client, job.id.str(), options);
  else
    show_summary(context, client, job, options);
  return 0;
}

}  // namespace

Verb show_verb() {
  const auto o = std::make_shared<ShowOptions>();
  Verb verb{
      .name = "show",
      .summary = "Show a job: what came of it, its diff, trace or cost",
      .group = "Jobs",
      .examples =
          "  forge show 06f3m2k9qa\n"
          "  forge show 06f3m2k9qa --diff | git apply\n"
          "  forge show 06f3m2k9qa --trace --run 1\n"
          "  forge show 06f3m2k9qa --follow          exits as forge run does",
      .options =
          {{.name = "--diff", .value = {}, .help = "The unified diff of the run", .target = &o->diff},
           {.name = "--trace", .value = {}, .help = "Every step; with --json or --events one JSON object per line", .target = &o->trace},
           {.name = "--cost", .value = {}, .help = "Tokens and dollars by model", .target = &o->cost},
           {.name = "--follow", .value = {}, .help = "Watch the run until it ends; Ctrl-C stops watching only", .target = &o->follow},
           {.name = "--run", .value = "N", .help = "Another run than the latest", .target = &o->run, .least = 1, .most = 1'000'000}},
      .positionals = {{.name = "ID", .help = "The job's id, or its first 6 characters or more", .target = &o->id}},
      .run = [o](Context& context) { return show(context, *o); }};
  for (const auto& group : {watch_options(o->watch), server_options(o->server)})
    verb.options.insert(verb.options.end(), group.begin(), group.end());
  return verb;
}

}  // namespace forge::cli
