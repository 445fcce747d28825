#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/cli/connection.h"
#include "orchestrator/cli/summary.h"
#include "orchestrator/cli/verbs.h"

namespace forge::cli {
namespace {

struct CancelOptions {
  std::string id;
  bool json = false;
  ServerChoice server;
};

int cancel(Context& context, const CancelOptions& options) {
  const std::string id = job_id(options.id);
  Connection connection = connect(context, options.server, EngineUse::look);
  const Job job = connection.client.cancel(id, context.stop);
  if (options.json) {
    context.console.print(dump_json(to_json(job)) + "\n");
  } else {
    const std::string name = short_id(job.id);
    context.console.print(is_final(job.state)
                              ? fmt::format("job {} is cancelled\n", name)
                              : fmt::format("job {} is asked to stop; forge show {} --follow tells when it has\n", name, name));
  }
  return 0;
}

}  // namespace

Verb cancel_verb() {
  const auto o = std::make_shared<CancelOptions>();
  Verb verb{.name = "cancel",
            .summary = "Stop a job's run; what it did so far is kept",
            .group = "Jobs",
            .examples = "  forge cancel 06f3m2k9qa",
            .options = {{.name = "--json", .value = {}, .help = "Print the job as one JSON object", .target = &o->json}},
            .positionals = {{.name = "ID", .help = "The job's id, or its first 6 characters or more", .target = &o->id}},
            .run = [o](Context& context) { return cancel(context, *o); }};
  for (auto& option : server_options(o->server)) verb.options.push_back(std::move(option));
  return verb;
}

}  // namespace forge::cli
