#include <fcntl.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "orchestrator/base/absolute_path.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"
#include "orchestrator/base/text.h"
#include "orchestrator/cli/connection.h"
#include "orchestrator/cli/summary.h"
#include "orchestrator/cli/verbs.h"
#include "orchestrator/cli/watch.h"

namespace forge::cli {
namespace {

/// What was typed. Empty and absent mean: not said.
struct RunOptions {
  std::string repository = ".";
  std::string base;
  std::string task;
  std::string task_file;
  std::string adapter;
  std::string model;
  std::string template_name;
  std::string driver;
  std::vector<std::string> setup;
  std::vector<std::string> verify;
  std::vector<std::string> allow_hosts;
  std::string budget_usd;
  std::optional<std::int64_t> max_turns;
  std::optional<std::int64_t> timeout_s;
  bool no_push = false;
  WatchOptions watch;
  ServerChoice server;
};

// Nothing of a request may be equal to these by chance: what equals them is left to the server's configuration.
JobSpec unsaid_spec() {
  JobSpec spec;
  spec.adapter = spec.template_name = spec.driver = "";
  spec.limits = {.max_turns = -1, .time_limit_s = -1, .stall_limit_s = -1, .max_tokens = -1, .verify_rounds = -1};
  return spec;
}

/// Capped as the server caps a task, so that a wrong file fails before it is sent.
std::string read_task_file(const std::string& file, const Stop& stop) {
  if (file == "-") return read_all(0, kTaskBytes, stop);
  const std::filesystem::path path(file);
  if (!std::filesystem::is_regular_file(path))
    throw bad_input("", fmt::format("{}: no such file", file), "a file, or - for standard input");
  const UniqueFd fd = checked_fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC), "opening " + file);
  return read_all(fd.get(), kTaskBytes, stop);
}

/// Exactly one of --task and --task-file.
std::string task_of(const RunOptions& options, const Stop& stop) {
  if (options.task.empty() == options.task_file.empty())
    throw bad_input("", options.task.empty() ? "no task: say what the agent is to do" : "--task and --task-file exclude each other",
                    options.task.empty() ? "--task TEXT, or --task-file FILE" : "choose one");
  std::string task = options.task.empty() ? read_task_file(options.task_file, stop) : options.task;
  if (trim(task).empty()) throw bad_input("", "the task is empty", "say what the agent is to do");
  return task;
}

/// The server may run in another directory: a path goes to it whole.
std::string repository_of(const std::string& text) {
  const bool scp_like = text.find(':') != text.npos && !text.starts_with('/') && !std::filesystem::exists(text);
  if (text.find("://") != text.npos || scp_like) return text;
  return absolute_path(text);
}

/// A script is a file of this machine; the path must hold in the server's working directory, too.
std::string model_of(const std::string& text) {
  constexpr std::string_view kScripted = "scripted:";
  if (!text.starts_with(kScripted)) return text;
  return std::string(kScripted) + absolute_path(text.substr(kScripted.size()));
}

JobRequest request_of(const RunOptions& options, const Stop& stop) {
  JobRequest request{unsaid_spec(), true};
  JobSpec& spec = request.spec;
  spec.repository = repository_of(options.repository);
  spec.base = options.base;
  spec.task = task_of(options, stop);
  spec.adapter = options.adapter;
  spec.model = model_of(options.model);
  spec.template_name = options.template_name;
  spec.driver = options.driver;
  spec.setup = options.setup;
  spec.verify = options.verify;
  spec.network.allow_hosts = options.allow_hosts;
  if (!options.budget_usd.empty()) spec.budget_nano_usd = parse_usd(options.budget_usd, "--budget-usd");
  if (options.max_turns) spec.limits.max_turns = *options.max_turns;
  if (options.timeout_s) spec.limits.time_limit_s = *options.timeout_s;
  spec.push = !options.no_push;
  return request;
}

int run_job(Context& context, const RunOptions& options) {
  check_watch_options(options.watch);
  const JobRequest request = request_of(options, context.stop);
  Connection connection = connect(context, options.server, EngineUse::work);
  const Job job = connection.client.create(request, unsaid_spec(), context.stop);
  if (!options.watch.events)
    context.console.note(fmt::format("job {} on {}", context.console.err_paint.bold(short_id(job.id)), harmless(job.spec.repository)));
  return watch_run(context, connection, job.id, 1, options.watch, OnInterrupt::cancel_job);
}

std::vector<Option> what_to_do(RunOptions& o) {
  return {
      {.name = "--repo",
       .value = "PATH|URL",
       .help = "Git repository; the current directory unless said",
       .target = &o.repository,
       .group = "What to do"},
      {.name = "--task", .value = "TEXT", .help = "What the agent is to do", .target = &o.task, .group = "What to do"},
      {.name = "--task-file",
       .value = "FILE|-",
       .help = "The task from a file, or from standard input",
       .target = &o.task_file,
       .group = "What to do"},
      {.name = "--base",
       .value = "REF",
       .help = "Branch, tag or commit to start from; the repository's HEAD unless said",
       .target = &o.base,
       .group = "What to do"},
      {.name = "--verify",
       .value = "CMD",
       .help = "Shell command that must succeed afterwards; its failure is told to the agent",
       .target = &o.verify,
       .group = "What to do"},
      {.name = "--no-push",
       .value = {},
       .help = "Keep the branch to Forge; get it with forge apply",
       .target = &o.no_push,
       .group = "What to do"},
  };
}

std::vector<Option> who_does_it(RunOptions& o) {
  return {
      {.name = "--adapter", .value = "NAME", .help = "Agent", .target = &o.adapter, .group = "Agent and sandbox"},
      {.name = "--model",
       .value = "MODEL",
       .help = "provider/model, or scripted:FILE for a replay",
       .target = &o.model,
       .group = "Agent and sandbox"},
      {.name = "--template",
       .value = "NAME",
       .help = "What the sandbox contains",
       .target = &o.template_name,
       .group = "Agent and sandbox"},
      {.name = "--driver", .value = "NAME", .help = "Who provides the sandbox", .target = &o.driver, .group = "Agent and sandbox"},
      {.name = "--setup",
       .value = "CMD",
       .help = "Shell command before the agent starts",
       .target = &o.setup,
       .group = "Agent and sandbox"},
      {.name = "--allow-host",
       .value = "HOST",
       .help = "Host that setup and agent may reach; none unless said",
       .target = &o.allow_hosts,
       .group = "Agent and sandbox"},
  };
}

std::vector<Option> limits(RunOptions& o) {
  return {
      {.name = "--budget-usd", .value = "X", .help = "Dollars that the run may cost", .target = &o.budget_usd, .group = "Limits"},
      {.name = "--max-turns",
       .value = "N",
       .help = "Turns of the agent",
       .target = &o.max_turns,
       .group = "Limits",
       .least = 1,
       .most = 10'000},
      {.name = "--timeout",
       .value = "S",
       .help = "Seconds that the run may last",
       .target = &o.timeout_s,
       .group = "Limits",
       .least = 1,
       .most = 7LL * 24 * 3600},
  };
}

}  // namespace

Verb run_verb() {
  const auto o = std::make_shared<RunOptions>();
  Verb verb{.name = "run",
            .summary = "Run an agent on a repository and show what it does",
            .group = "Jobs",
            .details =
                "The agent works in a sandbox, on a copy. What it changed becomes one commit on the branch\n"
                "forge/<job>-<run>, which is pushed to the repository; your work tree stays as it is.\n\n"
                "Exit status: 0 succeeded, 1 failed, 2 usage or configuration, 3 no changes, 4 cancelled,\n"
                "5 budget exhausted, 6 time-out, 7 server or dependency unavailable.\n"
                "Ctrl-C cancels the job and waits for its end; once more stops at once.",
            .examples =
                "  forge run --task \"Make the login test pass\" --verify \"make test\" --budget-usd 1.50\n"
                "  forge run --repo https://git.example.com/app.git --base release --task-file task.md\n"
                "  forge run --setup \"npm ci\" --allow-host packages.test --task \"Update lodash\"\n"
                "  git log -1 --format=%B | forge run --task-file - --json",
            .run = [o](Context& context) { return run_job(context, *o); }};
  for (const auto& group : {what_to_do(*o), who_does_it(*o), limits(*o), watch_options(o->watch), server_options(o->server)})
    verb.options.insert(verb.options.end(), group.begin(), group.end());
  return verb;
}

}  // namespace forge::cli
