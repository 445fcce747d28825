#include "orchestrator/assembly/parts.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/egress/network_driver.h"
#include "orchestrator/sandbox/drivers.h"

namespace forge::assembly {
namespace {

models::ProviderKind kind_of(config::ProviderKind kind) {
  switch (kind) {
    case config::ProviderKind::anthropic: return models::ProviderKind::anthropic;
    case config::ProviderKind::openai: return models::ProviderKind::openai;
    case config::ProviderKind::scripted: return models::ProviderKind::scripted;
  }
  throw Error(ErrorCode::internal, "a provider kind without a name");
}

models::ProviderConfig provider(const std::string& name, const config::ProviderSettings& settings) {
  models::ProviderConfig provider{
      .name = name, .kind = kind_of(settings.kind), .base_url = settings.base_url, .api_key = settings.api_key.value};
  for (const auto& [header, value] : settings.headers) provider.headers.push_back({header, value});
  return provider;
}

/// Headers like anthropic-beta are no secret, and redacting their values would mangle ordinary text.
bool holds_secret(const std::string& header) {
  const std::string name = lower_ascii(header);
  for (const char* part : {"auth", "key", "token", "secret", "cookie"})
    if (name.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

std::string program_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }
std::string program_folder() { return std::filesystem::path(program_path()).parent_path().string(); }

models::ModelSettings model_settings(const config::Config& config) {
  models::ModelSettings settings;
  for (const auto& [name, provided] : config.models.providers) settings.providers.push_back(provider(name, provided));
  settings.default_model = config.jobs.default_model;
  settings.config_file = config.file;
  return settings;
}

std::unique_ptr<models::Cassette> make_cassette(const config::Config& config, const Redactor& redactor) {
  const std::string& asked = config.gateway.cassette;
  const auto colon = asked.find(':');
  if (colon == std::string::npos) return nullptr;
  models::CassetteOptions options{.file = asked.substr(colon + 1), .scrubs = config.gateway.cassette_scrub, .redactor = redactor};
  try {
    return asked.starts_with("record:") ? models::record_cassette(std::move(options)) : models::replay_cassette(std::move(options));
  } catch (const Error& e) {
    if (e.code() != ErrorCode::invalid_argument) throw;
    throw bad_input("gateway.cassette", e.client_text(), e.hint());
  }
}

std::map<std::string, sandbox::Template> templates(const config::Config& config) {
  std::map<std::string, sandbox::Template> templates;
  for (const auto& [name, settings] : config.templates) {
    if (settings.kind != config::TemplateKind::host) continue;  // the other kinds come with drivers that can use them
    sandbox::Template contents;
    contents.name = name;
    contents.limits.memory_bytes = settings.memory_bytes;
    contents.limits.pids = settings.pids;
    contents.limits.cpu_millis = settings.cpu_millis;
    contents.limits.upper_bytes = settings.upper_bytes;
    templates[name] = contents;
  }
  return templates;
}

git::CacheOptions git_options(const config::Config& config, Log& log) {
  git::CacheOptions options{.directory = config.data_dir, .helper_program = program_path(), .credentials = {}, .log = log};
  options.mirrors_max_bytes = config.git.mirrors_max_bytes;
  options.checkouts_max_bytes = config.git.checkouts_max_bytes;
  options.author_name = config.git.author_name;
  options.author_email = config.git.author_email;
  for (const auto& [host, credential] : config.git.credentials)
    if (!credential.token.value.empty()) options.credentials.push_back({host, credential.username, credential.token.value});
  return options;
}

JobSpec job_defaults(const config::Config& config) {
  JobSpec spec;
  spec.adapter = config.jobs.default_adapter;
  spec.model = config.jobs.default_model;
  spec.driver = config.sandbox.provider;
  spec.limits.max_turns = config.jobs.max_turns;
  spec.limits.time_limit_s = config.jobs.time_limit_s;
  spec.limits.stall_limit_s = config.jobs.stall_limit_s;
  spec.limits.verify_rounds = config.jobs.verify_rounds;
  spec.budget_nano_usd = config.budget.run_nano_usd;
  spec.network.allow_hosts = config.network.allow;
  return spec;
}

void add_secrets(const config::Config& config, Redactor& redactor) {
  for (const auto& [name, provided] : config.models.providers) {
    redactor.add(provided.api_key.value);
    for (const auto& [header, value] : provided.headers)
      if (holds_secret(header)) redactor.add(value);
  }
  for (const auto& [host, credential] : config.git.credentials) redactor.add(credential.token.value);
  redactor.add(config.sandbox.e2b_api_key);
  redactor.add(config.sandbox.daytona_api_key);
}

adapters::claude_code::Home claude_home(const config::Config& config) { return {config.data_dir + "/adapters/claude-code"}; }
std::string claude_program(const config::Config& config) {
  return config.adapters.claude_code_program.empty() ? claude_home(config).program() : config.adapters.claude_code_program;
}

std::unique_ptr<sandbox::SandboxDriver> make_driver(const config::Config& config, const std::string& name, Log& log) {
  sandbox::DriverOptions options{.log = log};
  options.run_directory = config.data_dir + "/run";
  options.launcher = program_folder() + "/forge-sandbox";
  options.policy = config.sandbox.policy == config::SandboxPolicy::strict ? sandbox::Policy::strict : sandbox::Policy::degraded;
  egress::NetworkDriverOptions network;
  egress::HostRules::parse_allowed(config.network.allow, "network.allow");  // every run's; told here, and not of each job
  network.deny = egress::HostRules::parse(config.network.deny, "network.deny");
  return egress::make_network_driver(sandbox::make_driver(name, options), std::move(network), log);
}

Drivers make_drivers(const config::Config& config, Log& log) {
  Drivers drivers;
  for (const auto& name : sandbox::driver_names()) drivers[name] = make_driver(config, name, log);
  return drivers;
}

}  // namespace forge::assembly
