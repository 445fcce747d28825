#include "orchestrator/config/keys.h"

#include "orchestrator/config/formats.h"

namespace forge::config {
namespace {

// Short, because the table below is read as a table.
using C = Config&;
using E = const std::string&;
using Where = std::function<Slot(Config&, const std::string&)>;

constexpr std::int64_t kDay_s = 24LL * 3600;
constexpr std::int64_t kMiB = 1LL << 20;
constexpr std::int64_t kTiB = 1LL << 40;

/// `member` is an enum whose values are 0, 1, ... in the order of the key's choices.
template <typename Enum>
Slot choice(Enum& member) {
  return ChoiceSlot{[&member] { return static_cast<std::size_t>(member); },
                    [&member](std::size_t index) { member = static_cast<Enum>(index); }};
}

/// A switch or an amount of dollars: the type says it all.
Key plain(const char* name, const char* doc, Where slot) { return {.name = name, .doc = doc, .slot = std::move(slot)}; }

/// A limit in dollars. Nothing could be done under one of zero, which looks like "no limit" to whoever writes it.
Key limit_usd(const char* name, const char* doc, Where slot) {
  Key key = plain(name, doc, std::move(slot));
  key.least = 1;  // nano-dollar
  return key;
}

/// Ranges are where a typing error is likelier than a wish.
Key number(const char* name, std::int64_t least, std::int64_t most, const char* doc, Where slot) {
  return {.name = name, .doc = doc, .slot = std::move(slot), .least = least, .most = most};
}

Key one_of(const char* name, std::vector<std::string> choices, const char* doc, Where slot) {
  return {.name = name, .doc = doc, .slot = std::move(slot), .choices = std::move(choices)};
}

/// A text, or a list of texts.
Key text(const char* name, const Format& format, const char* doc, Where slot, const char* unset = "") {
  return {.name = name, .doc = doc, .slot = std::move(slot), .format = &format, .unset = unset};
}

/// A file: relative ones are resolved when they are read.
Key path(const char* name, const char* doc, Where slot, const char* unset = "") {
  return {.name = name, .doc = doc, .slot = std::move(slot), .path = true, .unset = unset};
}

/// Never printed, neither in `config show` nor in an error.
Key secret(const char* name, const char* doc, Where slot) { return {.name = name, .doc = doc, .slot = std::move(slot), .secret = true}; }

std::vector<Key> server_keys() {
  return {
      text("server.listen", kAddress, "Address and port of the HTTP server. Another address than loopback needs `server.public_url`.",
           [](C c, E) { return &c.server.listen; }),
      path(
          "server.socket", "Unix socket that the command line talks to; mode 0600.", [](C c, E) { return &c.server.socket; },
          "<data>/forge.sock"),
      text("server.public_url", kUrl, "URL under which browsers reach the server; Host and Origin are checked against it.",
           [](C c, E) { return &c.server.public_url; }),
      number("server.max_body_bytes", 1024, 1024 * kMiB, "Largest request body.", [](C c, E) { return &c.server.max_body_bytes; }),
      text("server.trusted_proxies", kNetwork, "Addresses whose X-Forwarded-For is believed.",
           [](C c, E) { return &c.server.trusted_proxies; }),
  };
}

std::vector<Key> job_keys() {
  return {
      number("jobs.concurrency", 1, 64, "Runs at the same time.", [](C c, E) { return &c.jobs.concurrency; }),
      text("jobs.default_adapter", kWord, "Adapter of a job that names none.", [](C c, E) { return &c.jobs.default_adapter; }),
      text("jobs.default_model", kModelName, "Model of a job that names none: provider/model, a model of the price file, or scripted:FILE.",
           [](C c, E) { return &c.jobs.default_model; }),
      number("jobs.max_turns", 1, 10'000, "Turns of the agent, at most.", [](C c, E) { return &c.jobs.max_turns; }),
      number("jobs.time_limit_s", 1, kDay_s, "Seconds that a run may last.", [](C c, E) { return &c.jobs.time_limit_s; }),
      number("jobs.stall_limit_s", 1, kDay_s, "Seconds without a sign of the agent after which a run ends as `no_output`.",
             [](C c, E) { return &c.jobs.stall_limit_s; }),
      number("jobs.verify_rounds", 0, 20, "How often a failed verify command is told to the agent.",
             [](C c, E) { return &c.jobs.verify_rounds; }),
      plain("jobs.push_partial", "Push the branch of a failed run, too.", [](C c, E) { return &c.jobs.push_partial; }),
  };
}

std::vector<Key> sandbox_keys() {
  return {
      one_of("sandbox.provider", {"local", "docker", "e2b", "daytona", "none"}, "Driver of a job that names none; `none` refuses.",
             [](C c, E) { return &c.sandbox.provider; }),
      one_of("sandbox.policy", {"strict", "degraded"},
             "`strict` refuses to run when a limit cannot be enforced; `degraded` runs and lists it in every result.",
             [](C c, E) { return choice(c.sandbox.policy); }),
      number("sandbox.lifetime_s", 1, kDay_s, "Seconds that a sandbox outside a job may live, counted from ready.",
             [](C c, E) { return &c.sandbox.lifetime_s; }),
      number("sandbox.timeout_ms", 100, kDay_s * 1000, "Milliseconds of a command that names no time-out of its own.",
             [](C c, E) { return &c.sandbox.timeout_ms; }),
      number("sandbox.warm", 0, 64, "Sandboxes of each template kept ready.", [](C c, E) { return &c.sandbox.warm; }),
      number("sandbox.memoryMb", 16, kMiB, "docker: MiB of memory of a container.", [](C c, E) { return &c.sandbox.docker_memory_mb; }),
      number("sandbox.cpus", 0, 1024, "docker: processors of a container.", [](C c, E) { return &c.sandbox.docker_cpus; }),
      number("sandbox.pidsLimit", 1, kMiB, "docker: processes of a container.", [](C c, E) { return &c.sandbox.docker_pids_limit; }),
      plain("sandbox.network", "docker: the bridge network instead of none.", [](C c, E) { return &c.sandbox.docker_network; }),
      secret("sandbox.e2bApiKey", "e2b: the key; better in the environment variable E2B_API_KEY.",
             [](C c, E) { return &c.sandbox.e2b_api_key; }),
      text("sandbox.daytonaApiUrl", kUrl, "daytona: base URL of the server.", [](C c, E) { return &c.sandbox.daytona_api_url; }),
      secret("sandbox.daytonaApiKey", "daytona: the key; better in the environment variable DAYTONA_API_KEY.",
             [](C c, E) { return &c.sandbox.daytona_api_key; }),
  };
}

std::vector<Key> template_keys() {
  return {
      one_of("templates.*.kind", {"host", "tree", "image"},
             "`host`: the machine's /usr, read-only; `tree`: a directory tree; `image`: a container image.",
             [](C c, E e) { return choice(c.templates[e].kind); }),
      text("templates.*.packages", kWord, "Packages that a tree or image is built with.",
           [](C c, E e) { return &c.templates[e].packages; }),
      number("templates.*.memory_bytes", 16 * kMiB, kTiB, "Memory of a sandbox, hard, without swap.",
             [](C c, E e) { return &c.templates[e].memory_bytes; }),
      number("templates.*.pids", 8, kMiB, "Processes and threads of a sandbox.", [](C c, E e) { return &c.templates[e].pids; }),
      number("templates.*.cpu_millis", 10, 1'000'000, "Processor time: 1000 is one core.",
             [](C c, E e) { return &c.templates[e].cpu_millis; }),
      number("templates.*.upper_bytes", kMiB, kTiB, "What may be written to the root and the work tree.",
             [](C c, E e) { return &c.templates[e].upper_bytes; }),
  };
}

std::vector<Key> adapter_keys() {
  return {
      path(
          "adapters.claude_code.program", "The executable of claude-code, where another one than the installed shall be used.",
          [](C c, E) { return &c.adapters.claude_code_program; }, "what `forge adapter install claude-code` installs"),
  };
}

std::vector<Key> model_keys() {
  return {
      one_of(
          "models.providers.*.kind", {"anthropic", "openai", "scripted"},
          "Wire format: Anthropic Messages, OpenAI chat completions, or a replay. An entry named `anthropic` or `openai` has its name's.",
          [](C c, E e) { return choice(c.models.providers[e].kind); }),
      text(
          "models.providers.*.base_url", kUrl, "What the vendor's own SDK expects: Anthropic without /v1, OpenAI with it.",
          [](C c, E e) { return &c.models.providers[e].base_url; }, "the vendor's"),
      text("models.providers.*.api_key_env", kVariable, "Environment variable that holds the key.",
           [](C c, E e) { return &c.models.providers[e].api_key_env; }),
      path("models.providers.*.api_key_file", "File that holds the key; readable by its owner only.",
           [](C c, E e) { return &c.models.providers[e].api_key_file; }),
      secret("models.providers.*.headers", "Headers sent with every request; their values are treated as secrets.",
             [](C c, E e) { return &c.models.providers[e].headers; }),
      plain("models.aliases",
            "Names under which agents in sandboxes may ask for a model, each with the model meant: a job's own, or one of "
            "`gateway.allow_models`.",
            [](C c, E) { return &c.models.aliases; }),
      path(
          "models.prices_file", "Price file used instead of the one built in.", [](C c, E) { return &c.models.prices_file; }, "built in"),
      plain("models.fallback_price.input_usd", "Dollars per million input tokens of a model that the price file does not know.",
            [](C c, E) { return &c.models.fallback_input_nano_usd; }),
      plain("models.fallback_price.output_usd", "The same for output tokens; both or none.",
            [](C c, E) { return &c.models.fallback_output_nano_usd; }),
      plain("models.fallback_price.cache_read_usd", "The same for tokens read from the cache; the input price unless set.",
            [](C c, E) { return &c.models.fallback_cache_read_nano_usd; }),
      plain("models.fallback_price.cache_write_usd", "The same for tokens written to the cache; the input price unless set.",
            [](C c, E) { return &c.models.fallback_cache_write_nano_usd; }),
  };
}

std::vector<Key> gateway_keys() {
  Key cassette = text("gateway.cassette", kCassette,
                      "Writes every exchange with a model provider into a new file, or plays a file in the providers' place.",
                      [](C c, E) { return &c.gateway.cassette; });
  cassette.path = cassette.prefixed = true;
  return {
      text("gateway.allow_models", kModelName,
           "Models that an agent in a sandbox may ask for beside its job's own: the small one that a CLI wants for side work.",
           [](C c, E) { return &c.gateway.allow_models; }),
      cassette,
      text("gateway.cassette_scrub", kWord,
           "Members of requests that differ from run to run and are left out of cassettes: names with dots between, `*` for any.",
           [](C c, E) { return &c.gateway.cassette_scrub; }),
  };
}

std::vector<Key> budget_keys() {
  return {
      limit_usd("budget.run_usd", "Dollars that one run may cost.", [](C c, E) { return &c.budget.run_nano_usd; }),
      limit_usd("budget.job_usd", "Dollars that all runs of a job may cost.", [](C c, E) { return &c.budget.job_nano_usd; }),
      limit_usd("budget.day_usd", "Dollars that all runs of a day (UTC) may cost.", [](C c, E) { return &c.budget.day_nano_usd; }),
      one_of("budget.unpriced", {"refuse", "allow"}, "What a budget does with a model that has no price: refuse it, or allow it uncounted.",
             [](C c, E) { return choice(c.budget.unpriced); }),
  };
}

std::vector<Key> git_keys() {
  return {
      text("git.author_name", kPersonName, "Author of the commits.", [](C c, E) { return &c.git.author_name; }),
      text("git.author_email", kEmail, "Their e-mail address.", [](C c, E) { return &c.git.author_email; }),
      text("git.credentials.*.username", kWord, "User name sent with the token to that host.",
           [](C c, E e) { return &c.git.credentials[e].username; }),
      text("git.credentials.*.token_env", kVariable, "Environment variable that holds the token.",
           [](C c, E e) { return &c.git.credentials[e].token_env; }),
      path("git.credentials.*.token_file", "File that holds the token; readable by its owner only.",
           [](C c, E e) { return &c.git.credentials[e].token_file; }),
      number("git.mirrors_max_bytes", kMiB, 1000 * kTiB, "Disk space of the mirrors; the longest unused goes first.",
             [](C c, E) { return &c.git.mirrors_max_bytes; }),
      number("git.checkouts_max_bytes", kMiB, 1000 * kTiB, "Disk space of the checkouts; the longest unused goes first.",
             [](C c, E) { return &c.git.checkouts_max_bytes; }),
  };
}

std::vector<Key> access_keys() {
  return {
      text("repositories.allow_local", kAbsolutePath,
           "Path prefixes under which HTTP callers may name repositories of this machine; the command line may name any.",
           [](C c, E) { return &c.repositories.allow_local; }),
      text("network.allow", kHost, "Hosts that every run may reach; not localhost or private addresses.",
           [](C c, E) { return &c.network.allow; }),
      text("network.deny", kHost, "Hosts that no run may reach, whatever the job allows.", [](C c, E) { return &c.network.deny; }),
  };
}

}  // namespace

const std::vector<Key>& keys() {
  static const std::vector<Key> all = [] {
    std::vector<Key> joined;
    for (const auto& section : {server_keys(), job_keys(), sandbox_keys(), template_keys(), adapter_keys(), model_keys(), gateway_keys(),
                                budget_keys(), git_keys(), access_keys()})
      joined.insert(joined.end(), section.begin(), section.end());
    return joined;
  }();
  return all;
}

}  // namespace forge::config
