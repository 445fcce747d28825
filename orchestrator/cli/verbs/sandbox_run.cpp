#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "orchestrator/base/clock.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/ids.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/exit_code.h"
#include "orchestrator/cli/verbs.h"
#include "orchestrator/domain/trace.h"

namespace forge::cli {
namespace {

// The sandbox outlives the command's own time-out, so that the time-out is what ends it.
constexpr auto kLifetimeMargin = std::chrono::seconds(60);

struct SandboxOptions {
  std::string driver;
  std::string template_name = "base";
  std::string network = "none";
  std::vector<std::string> allow_hosts;
  std::optional<std::int64_t> timeout_s;
  bool json = false;
  std::vector<std::string> command;
};

/// Shows what the proxy refused, since a command rarely says it clearly.
class RefusedHosts final : public TraceSink {
 public:
  explicit RefusedHosts(const Console& console) : console_(console) {}
  void append(TraceData data, std::optional<int>) override {
    const auto* network = std::get_if<trace::Network>(&data);
    if (network == nullptr || network->decision.starts_with("allow")) return;
    console_.note(fmt::format("forge: {}:{} {} {}", harmless(network->host), network->port, network->decision, network->hint));
  }

 private:
  const Console& console_;
};

/// No network unless asked for; then the named hosts and those of the configuration, never all.
NetworkPolicy network_of(const SandboxOptions& options, const SandboxDefaults& defaults) {
  const bool egress = options.network == "egress" || !options.allow_hosts.empty();
  if (!egress) return {};
  NetworkPolicy policy{options.allow_hosts};
  policy.allow_hosts.insert(policy.allow_hosts.end(), defaults.allow_hosts.begin(), defaults.allow_hosts.end());
  if (!policy.any())
    throw bad_input("--network", "--network egress without a host allows nothing", "name hosts with --allow-host, or in network.allow");
  return policy;
}

/// The result in the words of the sandbox interface that other programs know: camelCase here, as nowhere else.
nlohmann::json as_json(const sandbox::CommandResult& result, const sandbox::Sandbox& box, std::string_view driver) {
  const bool timed_out = result.ended == sandbox::Ended::timed_out;
  return {{"stdout", result.out.text()},
          {"stderr", result.err.text()},
          {"exitCode", result.exit.code ? nlohmann::json(*result.exit.code) : nlohmann::json()},
          {"signal", result.exit.signal ? nlohmann::json(*result.exit.signal) : nlohmann::json()},
          {"timedOut", timed_out},
          {"ended", name_of(result.ended)},
          {"truncated", result.out.truncated() || result.err.truncated()},
          {"durationMs", result.duration_ms},
          {"provider", driver},
          {"limits", box.enforced()},
          {"unenforced", box.unenforced()}};
}

int status_of(const sandbox::CommandResult& result) {
  if (result.ended == sandbox::Ended::timed_out) return kSandboxTimedOut;
  if (result.exit.code) return *result.exit.code;
  if (result.exit.signal) return kSignalBase + *result.exit.signal;
  return kSandboxFailed;
}

/// Why a command ended that did not end by itself; "" when it did.
std::string ending(const sandbox::CommandResult& result, std::chrono::milliseconds timeout) {
  switch (result.ended) {
    case sandbox::Ended::exited: return "";
    case sandbox::Ended::timed_out: return fmt::format("stopped after {} s", std::chrono::duration<double>(timeout).count());
    case sandbox::Ended::out_of_memory: return "killed: out of memory";
    case sandbox::Ended::killed:
    case sandbox::Ended::output_limit:
    case sandbox::Ended::lifetime:
    case sandbox::Ended::evicted:
    case sandbox::Ended::driver_lost: return fmt::format("ended: {}", name_of(result.ended));
  }
  return "";
}

int run_in_sandbox(Context& context, const SandboxOptions& options) {
  const Console& console = context.console;
  if (options.command.empty()) throw bad_input("", "no command", "write it after --: forge sandbox run -- ls -l");
  const SandboxDefaults defaults = context.services.sandbox_defaults();
  const auto timeout = options.timeout_s ? std::chrono::milliseconds(*options.timeout_s * 1000) : defaults.timeout;
  sandbox::SandboxDriver& driver = context.services.driver(options.driver.empty() ? defaults.driver : options.driver);
  RefusedHosts refused(console);
  sandbox::SandboxSpec spec;
  spec.scope = "cli:" + new_id_text(SystemClock().now_ms());
  spec.contents = context.services.template_named(options.template_name);
  spec.network = network_of(options, defaults);
  spec.trace = &refused;
  spec.lifetime = timeout + kLifetimeMargin;
  const auto box = driver.acquire(spec, context.stop);
  for (const auto& limit : box->unenforced()) console.note("forge: not enforced: " + harmless(limit));
  sandbox::CommandSpec command;
  command.argv = options.command;
  command.timeout = timeout;
  if (!options.json)
    command.on_output = [&console](std::string_view piece, bool is_stderr) {
      if (!is_stderr) return console.print(piece);
      console.err << piece << std::flush;
    };
  const auto result = box->run(command, context.stop);
  if (options.json)
    console.print(dump_json(as_json(result, *box, driver.name())) + "\n");
  else if (const auto why = ending(result, timeout); !why.empty())
    console.note("forge: " + why);
  return status_of(result);
}

}  // namespace

Verb sandbox_verb() {
  const auto o = std::make_shared<SandboxOptions>();
  Verb run{
      .name = "run",
      .summary = "Run one command in a fresh sandbox",
      .details =
          "The command finds an empty /workspace. Its output passes through as it comes.\n\n"
          "Exit status: the command's own; 124 time-out, 125 an error of Forge, 128 + n for signal n.",
      .examples =
          "  forge sandbox run -- python3 -c 'print(6 * 7)'\n"
          "  forge sandbox run --allow-host pkg.test --timeout 120 -- pip download six\n"
          "  forge sandbox run --json -- sh -c 'ls /; exit 3'",
      .options =
          {{.name = "--driver", .value = "NAME", .help = "Who provides the sandbox; sandbox.provider unless said", .target = &o->driver},
           {.name = "--template", .value = "NAME", .help = "What it contains; base unless said", .target = &o->template_name},
           {.name = "--network", .value = "MODE", .help = "none unless said", .target = &o->network, .choices = {"none", "egress"}},
           {.name = "--allow-host", .value = "HOST", .help = "Host that it may reach; means --network egress", .target = &o->allow_hosts},
           {.name = "--timeout",
            .value = "S",
            .help = "Seconds; sandbox.timeout_ms unless said",
            .target = &o->timeout_s,
            .least = 1,
            .most = 24LL * 3600},
           {.name = "--json", .value = {}, .help = "Print output and outcome as one JSON object at the end", .target = &o->json}},
      .command = &o->command,
      .failure_status = kSandboxFailed,
      .run = [o](Context& context) { return run_in_sandbox(context, *o); }};
  return {.name = "sandbox", .summary = "Sandboxes without a job", .group = "This machine", .verbs = {std::move(run)}};
}

}  // namespace forge::cli
