#include "orchestrator/assembly/engine.h"

#include <utility>
#include <vector>

#include "adapters/claude_code/claude_code.h"
#include "adapters/pi/pi.h"
#include "orchestrator/assembly/dashboard_pack.h"
#include "orchestrator/assembly/parts.h"
#include "orchestrator/assembly/run_metrics.h"
#include "orchestrator/base/clock.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/domain/access.h"
#include "orchestrator/egress/gateway.h"
#include "orchestrator/git/repository_cache.h"
#include "orchestrator/http/api.h"
#include "orchestrator/httpd/listener.h"
#include "orchestrator/httpd/server.h"
#include "orchestrator/jobs/service.h"
#include "orchestrator/metrics/metrics.h"
#include "orchestrator/models/price_book.h"
#include "orchestrator/store/access.h"
#include "orchestrator/store/store.h"

namespace forge::assembly {
namespace {

constexpr std::string_view kVersion = FORGE_VERSION;

// For the answers to requests under way when the server ends.
constexpr auto kLastAnswers = std::chrono::seconds(5);

egress::GatewayOptions gateway_options(const config::Config& config) {
  return {.job_nano_usd = config.budget.job_nano_usd,
          .day_nano_usd = config.budget.day_nano_usd,
          .unpriced = config.budget.unpriced == config::Unpriced::allow ? egress::Unpriced::allow : egress::Unpriced::refuse,
          .fallback = config.models.fallback_price(),
          .aliases = config.models.aliases,
          .allowed = config.gateway.allow_models};
}

/// With the cassette, if there is one, around every way to a provider.
models::ModelSettings recorded_settings(const config::Config& config, models::Cassette* cassette) {
  models::ModelSettings settings = model_settings(config);
  if (cassette != nullptr)
    settings.around = [cassette](std::unique_ptr<models::Transport> transport) { return cassette->around(std::move(transport)); };
  return settings;
}

/// Jobs store the model that they will run on, so that a later change of the default does not change them.
JobSpec resolved_defaults(const config::Config& config, const models::ModelFactory& models) {
  JobSpec spec = job_defaults(config);
  try {
    spec.model = models.resolve(spec.model).name;
  } catch (const Error& e) {
    if (e.code() != ErrorCode::invalid_argument) throw;  // nothing is configured: said when a job is created
  }
  return spec;
}

std::string claude_remedy(const config::Config& config) {
  return config.adapters.claude_code_program.empty() ? "run: forge adapter install claude-code"
                                                     : "adapters.claude_code.program names a file that is not there";
}

/// The default first, then the aliases, then what the configured providers are known to have.
std::vector<http::ModelEntry> model_entries(const config::Config& config, const models::PriceBook& prices, const std::string& usual) {
  std::vector<http::ModelEntry> entries;
  const auto add = [&](const std::string& name, const std::optional<models::PriceRow>& row) {
    const bool listed = std::any_of(entries.begin(), entries.end(), [&](const http::ModelEntry& entry) { return entry.name == name; });
    if (!name.empty() && !listed) entries.push_back({name, row ? row->price : std::nullopt, row ? row->context_window : 0});
  };
  add(usual, prices.find(usual));
  for (const auto& [alias, model] : config.models.aliases) add(alias, prices.find(model));
  for (const auto& [provider, settings] : config.models.providers)
    for (const models::PriceRow& row : prices.rows_of(provider)) add(row.model, row);
  return entries;
}

http::ApiOptions api_options(const config::Config& config, JobSpec defaults, const models::PriceBook& prices) {
  http::ApiOptions options;
  options.models = model_entries(config, prices, defaults.model);
  options.defaults = std::move(defaults);
  for (const auto& [name, contents] : templates(config))
    options.templates.push_back({name, contents.kind, "The host's /usr, read-only, with a minimal /etc", {}, contents.limits});
  options.allow_local = config.repositories.allow_local;
  options.public_url = config.server.public_url;
  options.trusted_proxies = config.server.trusted_proxies;
  options.max_body_bytes = static_cast<std::size_t>(config.server.max_body_bytes);
  options.version = kVersion;
  options.dashboard = dashboard_pack();
  return options;
}

std::map<std::string, sandbox::SandboxDriver*> by_name(const Drivers& drivers) {
  std::map<std::string, sandbox::SandboxDriver*> named;
  for (const auto& [name, driver] : drivers) named[name] = driver.get();
  return named;
}

}  // namespace

/// In the order of construction; destroyed from the bottom up, so that nobody uses what is gone.
struct Engine::Parts {
  Parts(const config::Config& config, DataLock held, const EngineOptions& options, const Redactor& redactor, Log& log)
      : lock(std::move(held)),
        store(store::open_sqlite_store({.directory = config.data_dir, .clock = clock, .redactor = redactor, .log = log})),
        access(store::make_access_control(*store)),
        drivers(make_drivers(config, log)),
        prices(models::PriceBook::load(config.models.prices_file)),
        cassette(options.work ? make_cassette(config, redactor) : nullptr),  // one that cannot be used hinders nobody who only looks
        models(recorded_settings(config, cassette.get()), prices, clock),
        gateway(models, prices, *store, clock, log, gateway_options(config)),
        pi(adapters::make_pi(gateway)),
        claude_code(adapters::make_claude_code(gateway, {.program = claude_program(config), .remedy = claude_remedy(config)})),
        git(git::open_repository_cache(git_options(config, log))),
        service(jobs::make_service({.store = *store,
                                    .git = *git,
                                    .drivers = by_name(drivers),
                                    .adapters = {pi.get(), claude_code.get()},
                                    .templates = templates(config),
                                    .clock = clock,
                                    .log = log,
                                    .queue = {.concurrency = options.work ? static_cast<int>(config.jobs.concurrency) : 0},
                                    .push_partial = config.jobs.push_partial,
                                    .day_budget_nano_usd = config.budget.day_nano_usd})),
        ends(count_run_ends(*service, registry)),
        live(registry.before_text([this] {
          registry.gauge({"forge_runs_live", "Runs at work now."}).set(static_cast<double>(service->live_runs()));
        })),
        hub(httpd::HubOptions{}, log),
        site(http::make_api({.jobs = *service,
                             .reviews = service->reviews(),
                             .access = *access,
                             .hub = hub,
                             .metrics = registry,
                             .clock = clock,
                             .log = log,
                             .check_ready = [this] { check_ready(); }},
                            api_options(config, resolved_defaults(config, models), prices))),
        server(httpd::ServerOptions{}, *site, hub, log),
        socket(config.server.socket) {
    if (options.tcp) {
      auto listener = httpd::listen_tcp(config.server.listen);
      url = config.server.public_url.empty() ? "http://" + httpd::bound_address(listener) : config.server.public_url;
      server.add_listener(std::move(listener));
    }
    server.add_listener(httpd::listen_unix(socket));
  }

  /// Throws when no work can be taken: the server ends, or the database does not answer.
  void check_ready() const {
    if (service->draining()) throw public_failure(ErrorCode::unavailable, "the server is stopping");
    store->ping();
  }

  DataLock lock;
  SystemClock clock;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<AccessControl> access;
  Drivers drivers;
  models::PriceBook prices;
  std::unique_ptr<models::Cassette> cassette;
  models::ModelFactory models;
  egress::Gateway gateway;
  std::unique_ptr<adapters::AgentAdapter> pi;
  std::unique_ptr<adapters::AgentAdapter> claude_code;
  std::unique_ptr<git::RepositoryCache> git;
  metrics::Registry registry;
  std::unique_ptr<jobs::Service> service;
  std::shared_ptr<void> ends;
  std::shared_ptr<void> live;
  httpd::EventHub hub;
  std::unique_ptr<httpd::Site> site;
  httpd::Server server;
  std::string socket;
  std::string url;
};

Engine::Engine(const config::Config& config, DataLock lock, const EngineOptions& options, const Redactor& redactor, Log& log)
    : parts_(std::make_unique<Parts>(config, std::move(lock), options, redactor, log)) {}
Engine::~Engine() = default;

const std::string& Engine::socket() const { return parts_->socket; }
const std::string& Engine::url() const { return parts_->url; }

std::string Engine::sign_in_url() { return url() + "/sign-in/" + issue_sign_in(*parts_->access, Role::admin, parts_->clock.now_ms()); }

std::size_t Engine::live_runs() {
  std::size_t count = 0;
  for (const JobState state : {JobState::queued, JobState::leased, JobState::preparing, JobState::running, JobState::finalizing}) {
    JobFilter filter;
    filter.state = state;
    filter.limit = 200;
    count += parts_->service->list(filter).items.size();
  }
  return count;
}

void Engine::wait_until_idle(const Stop& stop) {
  // Every end of a run is an event; the first look comes after the subscription, so that none is missed.
  Guarded<bool> ended(true);
  const auto watching = parts_->service->subscribe([&](const JobId&, const TraceEvent& event) {
    if (event.type != TraceType::terminal) return;
    auto flag = ended.lock();
    *flag = true;
    flag.notify_all();
  });
  while (true) {
    {
      auto flag = ended.lock();
      if (!flag.wait_until(stop.token(), stop.deadline(), [](bool is_ended) { return is_ended; })) stop.check();
      *flag = false;
    }
    if (live_runs() == 0) return;
  }
}

void Engine::shut_down(const Stop& stop) {
  parts_->service->drain(stop);
  parts_->server.stop(Stop::after(kLastAnswers));
}

}  // namespace forge::assembly
