#include <fmt/format.h>

#include <memory>

#include "orchestrator/base/error.h"
#include "orchestrator/cli/connection.h"
#include "orchestrator/cli/summary.h"
#include "orchestrator/cli/verbs.h"
#include "orchestrator/cli/watch.h"

namespace forge::cli {
namespace {

struct RetryOptions {
  std::string id;
  bool follow_up = false;
  bool fork = false;
  std::optional<std::int64_t> from_run;
  std::string note;
  std::string budget_usd;
  WatchOptions watch;
  ServerChoice server;
};

NewRun wanted_run(const RetryOptions& options) {
  if (options.follow_up && options.fork) throw bad_input("", "--follow-up and --fork exclude each other", "choose one");
  if (options.from_run && !options.follow_up && !options.fork)
    throw bad_input("", "--from-run goes with --follow-up or --fork", "a retry starts from the job's base");
  if (options.follow_up && options.note.empty()) throw bad_input("", "--follow-up needs a note", "--note TEXT: what is to be done now");
  NewRun wanted{.kind = options.follow_up ? RunKind::follow_up
                        : options.fork    ? RunKind::fork
                                          : RunKind::retry,
                .from_run = static_cast<int>(options.from_run.value_or(0)),
                .note = options.note};
  if (!options.budget_usd.empty()) wanted.budget_nano_usd = parse_usd(options.budget_usd, "--budget-usd");
  return wanted;
}

int retry(Context& context, const RetryOptions& options) {
  check_watch_options(options.watch);
  const NewRun wanted = wanted_run(options);
  const std::string id = job_id(options.id);
  Connection connection = connect(context, options.server, EngineUse::work);
  const Run run = connection.client.new_run(id, wanted, context.stop);
  if (!options.watch.events)
    context.console.note(fmt::format("job {}, run {}", context.console.err_paint.bold(short_id(run.job)), run.number));
  return watch_run(context, connection, run.job, run.number, options.watch, OnInterrupt::cancel_job);
}

}  // namespace

Verb retry_verb() {
  const auto o = std::make_shared<RetryOptions>();
  Verb verb{.name = "retry",
            .summary = "Run an ended job again, from its base or from an earlier result, on a branch of its own",
            .group = "Jobs",
            .details = "Watches the new run and exits as `forge run` does.",
            .examples =
                "  forge retry 06f3m2k9qa\n"
                "  forge retry 06f3m2k9qa --follow-up --note \"Add a test, too.\"\n"
                "  forge retry 06f3m2k9qa --fork --from-run 1\n"
                "  forge retry 06f3m2k9qa --follow-up --note \"Go on.\" --budget-usd 2",
            .options = {{.name = "--follow-up",
                         .value = {},
                         .help = "Go on from the last result, with its conversation where it is kept",
                         .target = &o->follow_up},
                        {.name = "--fork", .value = {}, .help = "Go on from the last result with a fresh agent", .target = &o->fork},
                        {.name = "--from-run",
                         .value = "N",
                         .help = "Go on from the result of that run",
                         .target = &o->from_run,
                         .least = 1,
                         .most = 999'999},
                        {.name = "--note", .value = "TEXT", .help = "What the agent is told beside the task", .target = &o->note},
                        {.name = "--budget-usd",
                         .value = "X",
                         .help = "What this run and later ones of the job may cost each, from now on",
                         .target = &o->budget_usd}},
            .positionals = {{.name = "ID", .help = "The job's id, or its first 6 characters or more", .target = &o->id}},
            .run = [o](Context& context) { return retry(context, *o); }};
  for (const auto& group : {watch_options(o->watch), server_options(o->server)})
    verb.options.insert(verb.options.end(), group.begin(), group.end());
  return verb;
}

}  // namespace forge::cli
