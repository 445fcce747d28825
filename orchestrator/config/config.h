#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/domain/limits.h"
#include "orchestrator/domain/usage.h"

namespace forge::config {

/// Where the value of a key came from, later ones winning over earlier ones.
struct Source {
  enum class Kind { built_in, file, environment, flag };
  Kind kind = Kind::built_in;
  std::string where;  ///< "forge.toml:12", "FORGE_JOBS__MAX_TURNS", "--listen"; empty for built_in
  /// "default", "forge.toml:12", "environment FORGE_JOBS__MAX_TURNS", "flag --listen"
  std::string text() const;
};

/// A credential that the configuration names and does not hold.
struct Secret {
  std::string value;    ///< empty when it could not be had; never printed
  std::string origin;   ///< "environment ANTHROPIC_API_KEY", "file /etc/forge/key"; empty when none was named
  std::string problem;  ///< why `value` is empty although one was named
};

struct ServerSettings {
  std::string listen = "127.0.0.1:8700";
  std::string socket;  ///< absolute; `<data>/forge.sock` unless set
  std::string public_url;
  std::int64_t max_body_bytes = 8 << 20;
  std::vector<std::string> trusted_proxies;
};

struct JobSettings {
  std::int64_t concurrency = 2;
  std::string default_adapter = "pi";
  std::string default_model;
  std::int64_t max_turns = RunLimits{}.max_turns;
  std::int64_t time_limit_s = RunLimits{}.time_limit_s;
  std::int64_t stall_limit_s = RunLimits{}.stall_limit_s;
  std::int64_t verify_rounds = RunLimits{}.verify_rounds;
  bool push_partial = false;
};

enum class SandboxPolicy { strict, degraded };

/// The keys behind docker_, e2b_ and daytona_ keep the names of the sandbox configuration they come from: memoryMb, e2bApiKey ...
struct SandboxSettings {
  std::string provider = "local";
  SandboxPolicy policy = SandboxPolicy::strict;
  std::int64_t lifetime_s = 600;
  std::int64_t timeout_ms = 60'000;
  std::int64_t warm = 2;
  std::int64_t docker_memory_mb = 512;
  double docker_cpus = 1;
  std::int64_t docker_pids_limit = 100;
  bool docker_network = false;
  std::string e2b_api_key;
  std::string daytona_api_url;
  std::string daytona_api_key;
};

enum class TemplateKind { host, tree, image };

struct TemplateSettings {
  TemplateKind kind = TemplateKind::host;
  std::vector<std::string> packages;
  std::int64_t memory_bytes = SandboxLimits{}.memory_bytes;
  std::int64_t pids = SandboxLimits{}.pids;
  std::int64_t cpu_millis = SandboxLimits{}.cpu_millis;
  std::int64_t upper_bytes = SandboxLimits{}.upper_bytes;
};

enum class ProviderKind { anthropic, openai, scripted };

struct ProviderSettings {
  ProviderKind kind = ProviderKind::anthropic;
  std::string base_url;  ///< empty = the vendor's own; else what the vendor's SDK expects
  std::string api_key_env;
  std::string api_key_file;  ///< absolute
  std::map<std::string, std::string> headers;
  Secret api_key;  ///< resolved from the two above
};

struct ModelSettings {
  std::map<std::string, ProviderSettings> providers;
  std::map<std::string, std::string> aliases;           ///< what agents may call a model > the model
  std::string prices_file;                              ///< absolute; empty = the one built in
  std::optional<std::int64_t> fallback_input_nano_usd;  ///< these four: per million tokens
  std::optional<std::int64_t> fallback_output_nano_usd;
  std::optional<std::int64_t> fallback_cache_read_nano_usd;
  std::optional<std::int64_t> fallback_cache_write_nano_usd;
  /// The price of a model that the price file does not know; nothing = such a model is unpriced.
  std::optional<Price> fallback_price() const;
};

/// What stands between agents, Forge and the providers.
struct GatewaySettings {
  std::vector<std::string> allow_models;  ///< beside a job's own
  std::string cassette;                   ///< "record:FILE" or "replay:FILE", absolute; empty = none
  std::vector<std::string> cassette_scrub = {"metadata.user_id"};
};

enum class Unpriced { refuse, allow };

/// Caps in nano-dollars; nothing = no cap.
struct BudgetSettings {
  std::optional<std::int64_t> run_nano_usd;
  std::optional<std::int64_t> job_nano_usd;
  std::optional<std::int64_t> day_nano_usd;
  Unpriced unpriced = Unpriced::refuse;
};

struct CredentialSettings {
  std::string username = "x-access-token";
  std::string token_env;
  std::string token_file;  ///< absolute
  Secret token;            ///< resolved from the two above
};

struct GitSettings {
  std::string author_name = "Forge";
  std::string author_email = "forge@localhost";
  std::map<std::string, CredentialSettings> credentials;  ///< by host, with ":port" where it has one
  std::int64_t mirrors_max_bytes = 20LL << 30;
  std::int64_t checkouts_max_bytes = 10LL << 30;
};

struct AdapterSettings {
  std::string claude_code_program;  ///< absolute; empty = the one that `forge adapter install claude-code` installs
};

struct RepositorySettings {
  std::vector<std::string> allow_local;  ///< absolute path prefixes
};

struct NetworkSettings {
  std::vector<std::string> allow;
  std::vector<std::string> deny;
};

/// Everything that can be set, checked, with the source of each key. Read once, passed down in pieces, never changed.
struct Config {
  std::string data_dir;  ///< absolute
  std::string file;      ///< the file that was read, or the one that would have been; absolute
  bool file_found = false;

  ServerSettings server;
  JobSettings jobs;
  SandboxSettings sandbox;
  std::map<std::string, TemplateSettings> templates;  ///< always holds "base"
  AdapterSettings adapters;
  ModelSettings models;
  GatewaySettings gateway;
  BudgetSettings budget;
  GitSettings git;
  RepositorySettings repositories;
  NetworkSettings network;

  std::map<std::string, Source> sources;  ///< by full key; a key that is not here has its default
  std::vector<std::string> warnings;      ///< for people, each a sentence
};

/// A key set on the command line.
struct Override {
  std::string key;
  std::string value;
  std::string flag;  ///< as typed: "--listen"
};

struct LoadOptions {
  std::string file;      ///< --config; empty = `<data>/forge.toml`, which may be absent
  std::string data_dir;  ///< --data-dir; empty = FORGE_DATA_DIR, XDG_DATA_HOME/forge, HOME/.local/share/forge
  std::vector<Override> overrides;
  std::map<std::string, std::string> environment;
};

/// File, then environment, then flags. Throws invalid_argument: the message names file and line (or the variable, or the flag), the
/// key and what was wrong, the hint what would be right. A named secret that cannot be read is not an error here: see Secret.
Config load_config(const LoadOptions& options);

}  // namespace forge::config
