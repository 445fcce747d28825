#include "orchestrator/config/config.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <filesystem>

#include "orchestrator/base/absolute_path.h"
#include "orchestrator/base/loopback.h"
#include "orchestrator/base/text.h"
#include "orchestrator/config/formats.h"
#include "orchestrator/config/keys.h"
#include "orchestrator/config/secrets.h"
#include "orchestrator/config/settings.h"

namespace forge::config {
namespace {

namespace fs = std::filesystem;

std::string variable(const LoadOptions& options, const std::string& name) {
  const auto found = options.environment.find(name);
  return found == options.environment.end() ? "" : found->second;
}

std::string find_data_dir(const LoadOptions& options) {
  if (!options.data_dir.empty()) return absolute_path(options.data_dir);
  if (const auto set = variable(options, "FORGE_DATA_DIR"); !set.empty()) return absolute_path(set);
  // XDG: a relative path in the variable is to be ignored.
  if (const auto xdg = variable(options, "XDG_DATA_HOME"); xdg.starts_with('/')) return absolute_path(xdg + "/forge");
  if (const auto home = variable(options, "HOME"); home.starts_with('/')) return absolute_path(home + "/.local/share/forge");
  throw bad_input("data-dir", "no data directory: neither FORGE_DATA_DIR nor HOME is set", "name one with --data-dir");
}

Setting setting_of(const Override& flag, const std::string& folder) {
  return {split(flag.key, '.'), RawText{flag.value}, {Source::Kind::flag, flag.flag}, folder};
}

/// The kind that an entry of this name has without being told.
std::optional<ProviderKind> kind_by_name(const std::string& name) {
  if (name == "anthropic") return ProviderKind::anthropic;
  if (name == "openai") return ProviderKind::openai;
  return {};
}

void require_kinds(Config& config) {
  for (auto& [name, provider] : config.models.providers) {
    const std::string key = fmt::format("models.providers.{}.kind", join_name({name}));
    if (config.sources.contains(key)) continue;
    const auto kind = kind_by_name(name);
    if (!kind) throw bad_input(key, fmt::format("{} is missing", key), "write kind = \"anthropic\" or kind = \"openai\"");
    provider.kind = *kind;
  }
}

/// Half a price would count half of what is spent.
void require_both_prices(const Config& config) {
  const auto& models = config.models;
  const bool any = models.fallback_input_nano_usd || models.fallback_output_nano_usd || models.fallback_cache_read_nano_usd ||
                   models.fallback_cache_write_nano_usd;
  if (any && !models.fallback_price())
    throw bad_input("models.fallback_price", "models.fallback_price needs input_usd and output_usd", "0 is a price, too");
}

/// Without a public URL the server cannot tell its own Host from one that an attacker made up (DNS rebinding).
void check_listener(const Config& config) {
  if (is_loopback_authority(config.server.listen) || !config.server.public_url.empty()) return;
  const auto source = config.sources.find("server.listen");
  const Source where = source == config.sources.end() ? Source{} : source->second;
  throw setting_error(where, "server.listen",
                      fmt::format("server.listen is {}, which others can reach, and server.public_url is not set", config.server.listen),
                      "set server.public_url to the URL that browsers use, or listen on 127.0.0.1");
}

/// The kernel cuts longer paths without a word in some calls and fails in others: refused here, with the way out.
void set_socket(Config& config) {
  if (config.server.socket.empty()) config.server.socket = config.data_dir + "/forge.sock";
  constexpr std::size_t kMost = sizeof(sockaddr_un::sun_path) - 1;
  if (config.server.socket.size() > kMost)
    throw bad_input("server.socket", fmt::format("the path of the unix socket is longer than {} bytes: {}", kMost, config.server.socket),
                    "set server.socket to a shorter path, or use a shorter data directory");
}

/// A secret in the file itself, which everybody on the machine can read.
void warn_of_open_file(Config& config) {
  struct stat status {};
  const bool holds_secret = std::any_of(keys().begin(), keys().end(), [&](const Key& key) {
    if (!key.secret) return false;
    if (!key.has_entry()) return config.sources.contains(key.name) && config.sources.at(key.name).kind == Source::Kind::file;
    const auto entries = entries_of(key, config);
    return std::any_of(entries.begin(), entries.end(), [&](const auto& entry) { return config.sources.contains(full_name(key, entry)); });
  });
  if (holds_secret && ::stat(config.file.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0)
    config.warnings.push_back(fmt::format("{} holds a secret and everybody can read it: chmod 600 {}", config.file, config.file));
}

}  // namespace

std::optional<Price> ModelSettings::fallback_price() const {
  if (!fallback_input_nano_usd || !fallback_output_nano_usd) return {};
  Price price;
  price.input = *fallback_input_nano_usd;
  price.output = *fallback_output_nano_usd;
  price.cache_read = fallback_cache_read_nano_usd.value_or(price.input);
  price.cache_write = fallback_cache_write_nano_usd.value_or(price.input);
  return price;
}

Config load_config(const LoadOptions& options) {
  Config config;
  config.data_dir = find_data_dir(options);
  config.file = absolute_path(options.file.empty() ? config.data_dir + "/forge.toml" : options.file);
  config.file_found = !options.file.empty() || fs::exists(config.file);
  config.templates["base"];

  const std::string home = variable(options, "HOME");
  const std::string folder = current_directory();
  if (config.file_found)
    for (const Setting& setting : read_toml(config.file)) apply_setting(setting, home, config);
  for (const Setting& setting : read_environment(options.environment, folder)) apply_setting(setting, home, config);
  for (const Override& flag : options.overrides) apply_setting(setting_of(flag, folder), home, config);
  apply_vendor_variables(options.environment, config);

  require_kinds(config);
  require_both_prices(config);
  check_listener(config);
  set_socket(config);
  resolve_secrets(options.environment, config);
  warn_of_open_file(config);
  return config;
}

}  // namespace forge::config
