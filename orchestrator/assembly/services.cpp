#include "orchestrator/assembly/services.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "adapters/claude_code/command_line.h"
#include "adapters/claude_code/install.h"
#include "orchestrator/assembly/engine.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/base/text.h"
#include "orchestrator/config/show.h"
#include "orchestrator/sandbox/drivers.h"

namespace forge::assembly {
namespace {

using std::chrono::milliseconds;
namespace claude_code = adapters::claude_code;

// An owner that has just taken the lock needs a moment to open its socket.
constexpr auto kOwnerAnswers = std::chrono::seconds(10);
// A server is not started beside a verb that works for longer than this.
constexpr auto kCommandEnds = std::chrono::seconds(3);
constexpr auto kRetryConnect = milliseconds(50);
// Runs get this long to end by themselves when a server is asked to stop; a second signal ends the process at once.
constexpr auto kDrain = std::chrono::minutes(10);
constexpr auto kCleanup = std::chrono::seconds(30);

bool answers(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return socket && ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// The data directory's lock, or nothing when its owner answers. An owner that is ending answers no more and frees the directory soon.
std::optional<DataLock> lock_or_owner(const config::Config& config, const Stop& stop) {
  const Stop wait = stop.shorter(kOwnerAnswers);
  while (true) {
    if (auto lock = DataLock::take(config.data_dir, Holder::command)) return lock;
    if (answers(config.server.socket)) return {};
    if (wait.expired())
      throw public_failure(ErrorCode::unavailable,
                           "another process owns the data directory, but does not answer at " + config.server.socket)
          .with_hint("it hangs or is about to end; `fuser " + config.data_dir + "/lock` names it");
    pause(kRetryConnect, stop);
  }
}

/// The lock for a server. A verb that only looks has it for a moment, and keeps no server from starting.
std::optional<DataLock> lock_to_serve(const config::Config& config, const Stop& stop) {
  const Stop wait = stop.shorter(kCommandEnds);
  while (true) {
    if (auto lock = DataLock::take(config.data_dir, Holder::server)) return lock;
    if (wait.expired() || DataLock::last_holder(config.data_dir) == Holder::server) return {};
    pause(kRetryConnect, stop);
  }
}

/// A driver keeps its files in the data directory, which may be read-only or full.
sandbox::Capability could_not_be_made(const Error& e) {
  return {.name = "start of the driver",
          .available = false,
          .required = true,
          .detail = e.client_text().empty() ? e.what() : e.client_text(),
          .remedy = e.hint()};
}

void need_installable(const std::string& name) {
  if (name == "claude-code") return;
  throw bad_input("adapter", name == "pi" ? "pi is built in" : "there is no adapter '" + name + "' that can be installed",
                  "claude-code can be installed");
}

/// What `forge doctor` says of claude-code. An executable that the configuration names is asked for its version.
sandbox::Capability claude_code_row(const config::Config& config, bool has_npm, const Stop& stop) {
  const std::string program = claude_program(config);
  sandbox::Capability row{.name = "claude-code", .available = false, .required = false, .detail = "not installed", .remedy = ""};
  try {
    if (config.adapters.claude_code_program.empty() && !claude_home(config).installed()) {
      row.remedy = has_npm ? "forge adapter install claude-code"
                           : "install npm (on Debian: apt-get install npm), then: forge adapter install claude-code";
      return row;
    }
    const std::string version = claude_code::version_of(program, stop);
    row.available = true;
    row.detail = "version " + version + ", " + program;
    if (version != claude_code::kPinnedVersion)
      row.detail +=
          "; this Forge was checked against " + std::string(claude_code::kPinnedVersion) + ", another version may behave differently";
  } catch (const Error& e) {
    if (e.code() != ErrorCode::unavailable) throw;
    row.detail = e.client_text();
    row.remedy = config.adapters.claude_code_program.empty() ? "forge adapter remove claude-code, then: forge adapter install claude-code"
                                                             : "set adapters.claude_code.program to an executable of claude-code";
  }
  return row;
}

class OwnEngine final : public cli::EngineHandle {
 public:
  explicit OwnEngine(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
  ~OwnEngine() override { engine_->shut_down(Stop::after(std::chrono::seconds(0))); }
  std::size_t live_runs() override { return engine_->live_runs(); }
  void drain(const Stop& stop) override { engine_->wait_until_idle(stop); }

 private:
  std::unique_ptr<Engine> engine_;
};

}  // namespace

RealServices::~RealServices() = default;

void RealServices::configure(const cli::ConfigChoice& choice) {
  config::LoadOptions options{.file = choice.file, .data_dir = choice.data_dir, .overrides = {}, .environment = environment_};
  for (const auto& chosen : choice.overrides) options.overrides.push_back({chosen.key, chosen.value, chosen.flag});
  config_ = config::load_config(options);
  add_secrets(config_, redactor_);
}

std::vector<cli::ConfigRow> RealServices::config_rows() {
  std::vector<cli::ConfigRow> rows;
  for (const auto& shown : config::show(config_)) rows.push_back({shown.key, shown.value, shown.value_json, shown.source});
  return rows;
}

cli::EngineAccess RealServices::open_engine(cli::EngineUse use, const Stop& stop) {
  auto lock = lock_or_owner(config_, stop);
  if (!lock) return {config_.server.socket, nullptr, DataLock::last_holder(config_.data_dir) == Holder::server};
  auto engine = std::make_unique<Engine>(config_, std::move(*lock), EngineOptions{.work = use == cli::EngineUse::work}, redactor_, *log_);
  return {config_.server.socket, std::make_unique<OwnEngine>(std::move(engine)), false};
}

void RealServices::serve(const std::function<void(const cli::Listening&)>& ready, const Stop& stop) {
  auto lock = lock_to_serve(config_, stop);
  if (!lock)
    throw public_failure(ErrorCode::conflict, "another process owns the data directory " + config_.data_dir)
        .with_hint("stop it first, or take another directory with --data-dir; all other verbs go through that process");
  server_log_ = make_stderr_log(LogLevel::info, &redactor_);
  Engine engine(config_, std::move(*lock), {.work = true, .tcp = true}, redactor_, *server_log_);
  ready({engine.url(), engine.sign_in_url(), engine.socket()});
  server_log_->info("serving", {{"url", engine.url()}, {"socket", engine.socket()}});
  Guarded<bool> never;
  never.lock().wait(stop.token(), [](bool) { return false; });
  server_log_->info("stopping: waiting for live runs", {{"runs", engine.live_runs()}});
  engine.shut_down(Stop::after(kDrain));
}

cli::SandboxDefaults RealServices::sandbox_defaults() {
  return {config_.sandbox.provider, milliseconds(config_.sandbox.timeout_ms), config_.network.allow};
}

Drivers& RealServices::drivers() {
  for (const auto& name : sandbox::driver_names())
    if (!drivers_.contains(name)) drivers_[name] = make_driver(config_, name, *log_);
  return drivers_;
}

sandbox::SandboxDriver& RealServices::driver(const std::string& name) {
  const auto found = drivers().find(name);
  if (found != drivers().end()) return *found->second;
  std::string known;
  for (const auto& [other, driver] : drivers()) known += (known.empty() ? "" : ", ") + other;
  throw bad_input("driver", "there is no driver named '" + name + "'", "use one of: " + known);
}

sandbox::Template RealServices::template_named(const std::string& name) {
  const auto known = templates(config_);
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  throw bad_input("template", "there is no template named '" + name + "'", "templates are sections [templates.NAME] of " + config_.file);
}

std::vector<sandbox::CapabilityReport> RealServices::probe_drivers(const Stop& stop) {
  std::vector<sandbox::CapabilityReport> reports;
  for (const auto& name : sandbox::driver_names()) {
    try {
      if (!drivers_.contains(name)) drivers_[name] = make_driver(config_, name, *log_);
      reports.push_back(drivers_.at(name)->probe(stop));
    } catch (const Error& e) {
      if (e.code() == ErrorCode::cancelled || e.code() == ErrorCode::timed_out) throw;
      // A finding like others: who asks what is wrong shall see the rest, too.
      reports.push_back({.driver = name, .usable = false, .rows = {could_not_be_made(e)}});
    }
  }
  return reports;
}

std::vector<std::string> RealServices::environment_without_secrets() const {
  std::vector<std::string> secrets{config_.sandbox.e2b_api_key, config_.sandbox.daytona_api_key};
  for (const auto& [name, provider] : config_.models.providers) secrets.push_back(provider.api_key.value);
  for (const auto& [host, credential] : config_.git.credentials) secrets.push_back(credential.token.value);
  std::vector<std::string> kept;
  for (const auto& [name, value] : environment_)
    if (value.empty() || std::find(secrets.begin(), secrets.end(), value) == secrets.end()) kept.push_back(name + "=" + value);
  return kept;
}

bool RealServices::install_adapter(const std::string& name, const std::function<void(const std::string&)>& tell, const Stop& stop) {
  need_installable(name);
  if (!std::filesystem::exists(config_.data_dir)) DataLock::take(config_.data_dir, Holder::command);  // makes it, closed to others
  return claude_code::install(claude_home(config_), claude_code::find_npm(environment_without_secrets()), tell, stop);
}

bool RealServices::remove_adapter(const std::string& name) {
  need_installable(name);
  return claude_code::uninstall(claude_home(config_));
}

std::vector<sandbox::Capability> RealServices::probe_adapters(const Stop& stop) {
  return {{.name = "pi", .available = true, .required = true, .detail = "built in: Forge's own tool loop", .remedy = ""},
          claude_code_row(config_, !claude_code::find_npm(environment_without_secrets()).program.empty(), stop)};
}

std::vector<sandbox::Capability> RealServices::probe_models(const Stop& /*stop*/) {
  std::vector<sandbox::Capability> rows;
  for (const auto& [name, provider] : config_.models.providers) {
    const bool needs_key = provider.kind != config::ProviderKind::scripted;
    const bool has_key = !provider.api_key.value.empty();
    sandbox::Capability row{.name = name, .available = has_key || !needs_key, .required = false, .detail = "", .remedy = ""};
    row.detail = has_key ? "key from " + provider.api_key.origin : needs_key ? "no key" : "scripted";
    if (!provider.base_url.empty()) row.detail += ", at " + provider.base_url;
    if (!row.available) row.remedy = provider.api_key.problem.empty() ? "set its key" : provider.api_key.problem;
    rows.push_back(row);
  }
  if (rows.empty())
    rows.push_back({.name = "model provider",
                    .available = false,
                    .required = false,
                    .detail = "none configured",
                    .remedy = "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or models.providers in " + config_.file});
  return rows;
}

std::vector<sandbox::Capability> RealServices::probe_data_dir(const Stop& /*stop*/) {
  sandbox::Capability row{.name = "data directory", .available = true, .required = true, .detail = config_.data_dir, .remedy = ""};
  try {
    row.detail += DataLock::take(config_.data_dir, Holder::command) ? ", free"
                  : answers(config_.server.socket)                  ? ", owned by a running Forge"
                                                                    : ", owned";
  } catch (const Error& e) {
    row.available = false;
    row.detail = e.client_text();
    row.remedy = e.hint();
  }
  return {row};
}

}  // namespace forge::assembly
