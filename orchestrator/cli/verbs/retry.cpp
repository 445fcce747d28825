#include <fmt/format.h>

#include <memory>

#include "orchestrator/cli/connection.h"
#include "orchestrator/cli/summary.h"
#include "orchestrator/cli/verbs.h"
#include "orchestrator/cli/watch.h"

namespace forge::cli {
namespace {

struct RetryOptions {
  std::string id;
  WatchOptions watch;
  ServerChoice server;
};

int retry(Context& context, const RetryOptions& options) {
  check_watch_options(options.watch);
  const std::string id = job_id(options.id);
  Connection connection = connect(context, options.server, EngineUse::work);
  const Run run = connection.client.new_run(id, context.stop);
  if (!options.watch.events)
    context.console.note(fmt::format("job {}, run {}", context.console.err_paint.bold(short_id(run.job)), run.number));
  return watch_run(context, connection, run.job, run.number, options.watch, OnInterrupt::cancel_job);
}

}  // namespace

Verb retry_verb() {
  const auto o = std::make_shared<RetryOptions>();
  Verb verb{.name = "retry",
            .summary = "Run an ended job again, from its base, on a branch of its own",
            .group = "Jobs",
            .details = "Watches the new run and exits as `forge run` does.",
            .examples = "  forge retry 06f3m2k9qa",
            .positionals = {{.name = "ID", .help = "The job's id, or its first 6 characters or more", .target = &o->id}},
            .run = [o](Context& context) { return retry(context, *o); }};
  for (const auto& group : {watch_options(o->watch), server_options(o->server)})
    verb.options.insert(verb.options.end(), group.begin(), group.end());
  return verb;
}

}  // namespace forge::cli
