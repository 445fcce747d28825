#include <memory>
#include <nlohmann/json.hpp>

#include "orchestrator/base/clock.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/cli/connection.h"
#include "orchestrator/cli/summary.h"
#include "orchestrator/cli/verbs.h"

namespace forge::cli {
namespace {

struct JobsOptions {
  std::string state;
  std::string repository;
  std::string cursor;
  std::optional<std::int64_t> limit;
  bool json = false;
  ServerChoice server;
};

int list_jobs(Context& context, const JobsOptions& options) {
  JobFilter filter;
  if (!options.state.empty()) filter.state = parse_job_state(options.state);
  filter.repository = options.repository;
  filter.cursor = options.cursor;
  filter.limit = static_cast<int>(options.limit.value_or(20));
  Connection connection = connect(context, options.server, EngineUse::look);
  const JobPage page = connection.client.jobs(filter, context.stop);
  context.console.print(options.json ? dump_json(to_json(page)) + "\n"
                                     : jobs_table(page, SystemClock().now_ms(), context.console.out_paint, context.console.width));
  return 0;
}

std::vector<std::string> state_names() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(JobState::cancelled); ++i) names.emplace_back(name_of(static_cast<JobState>(i)));
  return names;
}

}  // namespace

Verb jobs_verb() {
  const auto o = std::make_shared<JobsOptions>();
  Verb verb{
      .name = "jobs",
      .summary = "List jobs, newest first",
      .group = "Jobs",
      .examples = "  forge jobs\n  forge jobs --state failed --limit 100 --json",
      .options = {{.name = "--state", .value = "STATE", .help = "Only jobs in that state", .target = &o->state, .choices = state_names()},
                  {.name = "--repo", .value = "PATH|URL", .help = "Only jobs on that repository", .target = &o->repository},
                  {.name = "--limit", .value = "N", .help = "How many; 20 unless said", .target = &o->limit, .least = 1, .most = 200},
                  {.name = "--cursor", .value = "TEXT", .help = "Go on after the page that named it", .target = &o->cursor},
                  {.name = "--json", .value = {}, .help = "Print the page as one JSON object", .target = &o->json}},
      .run = [o](Context& context) { return list_jobs(context, *o); }};
  for (auto& option : server_options(o->server)) verb.options.push_back(std::move(option));
  return verb;
}

}  // namespace forge::cli
