#include "orchestrator/models/providers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/models/anthropic.h"
#include "orchestrator/models/http_model.h"
#include "orchestrator/models/openai.h"
#include "orchestrator/models/script_transport.h"
#include "orchestrator/models/scripted.h"

namespace forge::models {
namespace {

constexpr std::array<std::string_view, 3> kProviderKindNames = {"anthropic", "openai", "scripted"};
static_assert(kProviderKindNames.size() == static_cast<std::size_t>(ProviderKind::scripted) + 1);

constexpr std::string_view kScripted = "scripted:";
constexpr std::string_view kAnthropicUrl = "https://api.anthropic.com";
constexpr std::string_view kOpenAiUrl = "https://api.openai.com/v1";

/// At the start, so that a wrong URL is a configuration error and not a failed run.
void check_provider(const ProviderConfig& provider) {
  const std::string where = "models.providers." + provider.name;
  if (provider.name.empty() || provider.name.find_first_of("/: \t\n") != std::string::npos)
    throw bad_input(where, "a provider's name has no slash, colon or blank, and is not empty");
  if (provider.kind == ProviderKind::scripted) {
    if (provider.base_url.empty()) throw bad_input(where + ".base_url", "a scripted provider needs the path of its script here");
    return;
  }
  const bool http = provider.base_url.starts_with("http://") || provider.base_url.starts_with("https://");
  if (!http) throw bad_input(where + ".base_url", "expected an http or https URL, found '" + net::printable_url(provider.base_url) + "'");
}

std::string names_of(const std::vector<ProviderConfig>& providers) {
  std::string list;
  for (const ProviderConfig& provider : providers) list += (list.empty() ? "" : ", ") + provider.name;
  return list;
}

}  // namespace

std::string_view name_of(ProviderKind kind) { return kProviderKindNames.at(static_cast<std::size_t>(kind)); }

std::optional<ProviderKind> parse_provider_kind(std::string_view name) {
  const auto found = std::find(kProviderKindNames.begin(), kProviderKindNames.end(), name);
  if (found == kProviderKindNames.end()) return {};
  return static_cast<ProviderKind>(found - kProviderKindNames.begin());
}

std::string_view name_of(WireFormat format) {
  return name_of(format == WireFormat::anthropic ? ProviderKind::anthropic : ProviderKind::openai);
}

ModelFactory::ModelFactory(ModelSettings settings, const PriceBook& prices, const Clock& clock, MakeRetries make_retries)
    : settings_(std::move(settings)), prices_(prices), clock_(clock), make_retries_(std::move(make_retries)) {
  for (ProviderConfig& provider : settings_.providers) {
    if (provider.base_url.empty() && provider.kind == ProviderKind::anthropic) provider.base_url = kAnthropicUrl;
    if (provider.base_url.empty() && provider.kind == ProviderKind::openai) provider.base_url = kOpenAiUrl;
    check_provider(provider);
  }
}

const ProviderConfig* ModelFactory::find_provider(std::string_view name) const {
  const auto& all = settings_.providers;
  const auto found = std::find_if(all.begin(), all.end(), [&](const ProviderConfig& provider) { return provider.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Error ModelFactory::nothing_configured() const {
  return public_failure(ErrorCode::invalid_argument,
                        "no model configured: set ANTHROPIC_API_KEY, or OPENAI_API_KEY, or models.providers in " + settings_.config_file +
                            ", or use --model scripted:FILE");
}

ResolvedModel ModelFactory::resolve(const std::string& name) const {
  if (name.empty() && settings_.default_model.empty()) return resolve_default();
  const std::string& wanted = name.empty() ? settings_.default_model : name;
  if (wanted.starts_with(kScripted)) return {nullptr, wanted.substr(kScripted.size()), wanted};
  if (settings_.providers.empty()) throw nothing_configured();
  const auto slash = wanted.find('/');
  if (slash == std::string::npos) return resolve_bare(wanted);
  const ProviderConfig* provider = find_provider(wanted.substr(0, slash));
  if (provider == nullptr || slash + 1 == wanted.size()) {
    throw bad_input("model", "the model '" + wanted + "' names no provider that is configured",
                    "PROVIDER/MODEL with one of: " + names_of(settings_.providers));
  }
  return {provider, wanted.substr(slash + 1), wanted};
}

/// Nobody named a model: the default of the first provider.
ResolvedModel ModelFactory::resolve_default() const {
  if (settings_.providers.empty()) throw nothing_configured();
  const ProviderConfig& provider = settings_.providers.front();
  const std::string model = provider.kind == ProviderKind::scripted ? "scripted" : prices_.default_model(provider.name);
  if (model.empty()) {
    throw bad_input("model", "no model named, and the provider '" + provider.name + "' has no default",
                    "set jobs.default_model, or use --model " + provider.name + "/MODEL");
  }
  return {&provider, model, provider.name + "/" + model};
}

/// A model of the price file goes to its provider; one that nobody knows goes to the default provider.
ResolvedModel ModelFactory::resolve_bare(const std::string& model) const {
  const std::string owner = prices_.provider_of(model);
  const ProviderConfig* provider = owner.empty() ? &settings_.providers.front() : find_provider(owner);
  if (provider == nullptr) {
    throw bad_input("model", "the model '" + model + "' belongs to the provider '" + owner + "', which is not configured",
                    "configure it, or name another as PROVIDER/" + model + " with one of: " + names_of(settings_.providers));
  }
  return {provider, model, provider->name + "/" + model};
}

std::unique_ptr<Transport> ModelFactory::around(std::unique_ptr<Transport> transport) const {
  return settings_.around ? settings_.around(std::move(transport)) : std::move(transport);
}

Upstream ModelFactory::upstream(const std::string& name) const {
  const ResolvedModel resolved = resolve(name);
  if (resolved.provider == nullptr || resolved.provider->kind == ProviderKind::scripted) {
    const std::string file = resolved.provider == nullptr ? resolved.model : resolved.provider->base_url;
    return {.provider = "scripted",
            .name = std::string(kScripted) + file,
            .model = "scripted",
            .base_url = "http://scripted.invalid",
            .anthropic = true,
            .openai = true,
            .make_transport = [this, play = make_script_transports(load_script(file))] { return around(play()); }};
  }
  const ProviderConfig& provider = *resolved.provider;
  return {.provider = provider.name,
          .name = resolved.name,
          .model = resolved.model,
          .base_url = provider.base_url,
          .api_key = provider.api_key,
          .headers = provider.headers,
          .unix_socket = provider.unix_socket,
          .anthropic = provider.kind == ProviderKind::anthropic,
          .openai = provider.kind == ProviderKind::openai,
          .make_transport = [this] { return around(make_net_transport()); }};
}

std::unique_ptr<Model> ModelFactory::make(const std::string& name) const {
  ResolvedModel resolved = resolve(name);
  if (resolved.provider == nullptr) return make_scripted_model(resolved.name, make_retries_());
  const ProviderConfig& provider = *resolved.provider;
  if (provider.kind == ProviderKind::scripted) return make_scripted_model(std::string(kScripted) + provider.base_url, make_retries_());
  HttpModelOptions options{.model = resolved.model, .retries = make_retries_(), .transport = around(make_net_transport())};
  if (const auto row = prices_.find(resolved.name)) options.context_window = row->context_window;
  std::unique_ptr<Wire> wire;
  if (provider.kind == ProviderKind::anthropic) {
    wire = make_anthropic_wire(resolved.model);
  } else {
    // The vendor itself no longer takes the old name; servers that copied the API early know no other.
    const bool vendor = lower_ascii(provider.base_url).starts_with("https://api.openai.com");
    wire = make_openai_wire(resolved.model, {.stream_options = true, .max_completion_tokens = vendor});
  }
  return make_http_model({.provider = provider.name,
                          .base_url = provider.base_url,
                          .api_key = provider.api_key,
                          .headers = provider.headers,
                          .unix_socket = provider.unix_socket},
                         std::move(wire), std::move(options), clock_);
}

}  // namespace forge::models
