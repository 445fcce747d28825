#include "orchestrator/config/secrets.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "orchestrator/base/text.h"
#include "orchestrator/config/formats.h"
#include "orchestrator/config/settings.h"

namespace forge::config {
namespace {

using Environment = std::map<std::string, std::string>;

// A key is one line; this leaves room for long tokens and refuses a wrong file.
constexpr std::size_t kMaxSecretBytes = 16 << 10;

std::string variable(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

/// One line without control characters: anything else would break, or smuggle, a header.
bool is_one_line(std::string_view text) {
  for (const unsigned char c : text)
    if (c < 0x20 || c == 0x7f) return false;
  return true;
}

/// Keys copied from a page end with blanks or a line break; these are not part of them.
Secret checked_secret(std::string text, std::string origin) {
  text = std::string(trim(text));
  if (text.empty()) return {.origin = origin, .problem = fmt::format("{} is empty", origin)};
  if (!is_one_line(text)) return {.origin = origin, .problem = fmt::format("{} holds more than one line", origin)};
  return {.value = std::move(text), .origin = std::move(origin)};
}

Secret from_environment(const Environment& environment, const std::string& name) {
  const std::string origin = "environment " + name;
  if (!environment.contains(name)) return {.origin = origin, .problem = fmt::format("environment variable {} is not set", name)};
  return checked_secret(variable(environment, name), origin);
}

Secret from_file(const std::string& path, std::vector<std::string>& warnings) {
  const std::string origin = "file " + path;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {.origin = origin, .problem = fmt::format("{}: {}", path, std::strerror(errno))};
  if (!S_ISREG(status.st_mode)) return {.origin = origin, .problem = fmt::format("{}: not a file", path)};
  if ((status.st_mode & S_IROTH) != 0)
    warnings.push_back(fmt::format("{} holds a secret and everybody can read it: chmod 600 {}", path, path));
  std::ifstream in(path, std::ios::binary);
  std::string text(kMaxSecretBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || !in.is_open()) return {.origin = origin, .problem = fmt::format("{}: cannot be read", path)};
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMaxSecretBytes) return {.origin = origin, .problem = fmt::format("{}: too long for a secret", path)};
  return checked_secret(std::move(text), origin);
}

/// `name` is the section; exactly one of `env` and `file` may be set.
Secret resolve(const std::string& name, const std::string& env, const std::string& file, const Environment& environment, Config& config) {
  if (!env.empty() && !file.empty())
    throw bad_input(name, fmt::format("{} names both a variable ({}) and a file ({})", name, env, file), "keep one of the two");
  if (!env.empty()) return from_environment(environment, env);
  if (!file.empty()) return from_file(file, config.warnings);
  return {};
}

/// The variables that a vendor's own tools read.
struct Vendor {
  ProviderKind kind;
  const char* name;
  const char* key_variable;
  const char* url_variable;
};
constexpr std::array kVendors{
    Vendor{ProviderKind::anthropic, "anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"},
    Vendor{ProviderKind::openai, "openai", "OPENAI_API_KEY", "OPENAI_BASE_URL"},
};

void apply_vendor(const Vendor& vendor, const Environment& environment, Config& config) {
  const bool has_key = !variable(environment, vendor.key_variable).empty();
  const std::string url = variable(environment, vendor.url_variable);
  if (!has_key && url.empty()) return;
  const bool is_new = !config.models.providers.contains(vendor.name);
  ProviderSettings& provider = config.models.providers[vendor.name];
  if (is_new) provider.kind = vendor.kind;
  const std::string section = fmt::format("models.providers.{}", vendor.name);
  if (has_key && provider.api_key_env.empty() && provider.api_key_file.empty()) {
    provider.api_key_env = vendor.key_variable;
    config.sources[section + ".api_key_env"] = {Source::Kind::environment, vendor.key_variable};
  }
  const auto named = config.sources.find(section + ".base_url");
  if (url.empty() || (named != config.sources.end() && named->second.kind > Source::Kind::file)) return;
  const Source source{Source::Kind::environment, vendor.url_variable};
  if (!kUrl.fits(url)) throw setting_error(source, section + ".base_url", fmt::format("must be {}", kUrl.expected), "");
  provider.base_url = url;
  config.sources[section + ".base_url"] = source;
}

}  // namespace

void apply_vendor_variables(const Environment& environment, Config& config) {
  for (const Vendor& vendor : kVendors) apply_vendor(vendor, environment, config);
  const auto take = [&](const char* name, const char* key, std::string& into) {
    if (variable(environment, name).empty()) return;
    into = variable(environment, name);
    config.sources[key] = {Source::Kind::environment, name};
  };
  take("E2B_API_KEY", "sandbox.e2bApiKey", config.sandbox.e2b_api_key);
  take("DAYTONA_API_KEY", "sandbox.daytonaApiKey", config.sandbox.daytona_api_key);
}

void resolve_secrets(const Environment& environment, Config& config) {
  for (auto& [name, provider] : config.models.providers)
    provider.api_key = resolve("models.providers." + name, provider.api_key_env, provider.api_key_file, environment, config);
  for (auto& [host, credential] : config.git.credentials)
    credential.token = resolve("git.credentials." + host, credential.token_env, credential.token_file, environment, config);
}

}  // namespace forge::config
