#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/clock.h"
#include "orchestrator/models/model.h"
#include "orchestrator/models/price_book.h"
#include "orchestrator/models/retry.h"
#include "orchestrator/models/transport.h"
#include "orchestrator/net/http_client.h"

namespace forge::models {

enum class ProviderKind { anthropic, openai, scripted };
std::string_view name_of(ProviderKind kind);
std::optional<ProviderKind> parse_provider_kind(std::string_view name);

/// How a program asks for a model over HTTP: Anthropic Messages, or OpenAI chat completions and responses.
enum class WireFormat { anthropic, openai };
std::string_view name_of(WireFormat format);

/// One place where models are had. `base_url` is what the vendor's own SDK expects (Anthropic without /v1, OpenAI with it); empty = the
/// vendor's. Of a scripted provider it is the path of the script. The key goes into requests and nowhere else.
struct ProviderConfig {
  std::string name;
  ProviderKind kind = ProviderKind::anthropic;
  std::string base_url = {};
  std::string api_key = {};
  std::vector<net::HttpHeader> headers = {};
  std::string unix_socket = {};  ///< not configurable: for the gateway's own socket and tests
};

struct ModelSettings {
  std::vector<ProviderConfig> providers;  ///< the first is the default
  std::string default_model = {};
  std::string config_file = {};  ///< for the advice when nothing is configured
  AroundTransport around = {};   ///< put around every way to a provider, and around scripts that are asked over HTTP; empty = nothing
};

/// What a name of a model means: the provider (null for "scripted:FILE"), the vendor's name for the model, the full name.
struct ResolvedModel {
  const ProviderConfig* provider = nullptr;
  std::string model;
  std::string name;  ///< "provider/model" or "scripted:FILE"
};

/// Where the requests for one model go, for those who pass on requests of others.
struct Upstream {
  std::string provider;  ///< for messages
  std::string name;      ///< of the model, as Model::name() says it: "provider/model", "scripted:FILE"
  std::string model;     ///< as the vendor calls it; "scripted" for a script
  std::string base_url;
  std::string api_key;
  std::vector<net::HttpHeader> headers;  ///< of the operator; each replaces another of that name
  std::string unix_socket;
  bool anthropic = false;                                      ///< speaks WireFormat::anthropic
  bool openai = false;                                         ///< speaks WireFormat::openai
  std::function<std::unique_ptr<Transport>()> make_transport;  ///< each for one exchange at a time; thread-safe

  bool speaks(WireFormat format) const { return format == WireFormat::anthropic ? anthropic : openai; }
};

/// Makes models from names. Thread-safe; each model it makes belongs to one thread. The price book and the clock must outlive it.
class ModelFactory {
 public:
  /// Called for each model, since a policy is not shared between threads; itself called from any thread.
  using MakeRetries = std::function<RetryPolicy()>;
  /// Throws bad_input for a provider whose name or base URL makes no sense.
  ModelFactory(ModelSettings settings, const PriceBook& prices, const Clock& clock, MakeRetries make_retries = default_retries);

  /// "provider/model", a bare model name, "scripted:FILE", or "" for the default. Throws invalid_argument that says what to set.
  ResolvedModel resolve(const std::string& name) const;
  /// The model of that name, ready to talk; connects to nothing yet. Throws what resolve() does, and what a bad script does.
  std::unique_ptr<Model> make(const std::string& name) const;

  /// The way to the model of that name over HTTP; a script is played in both formats. Throws what make() does.
  Upstream upstream(const std::string& name) const;

  const std::vector<ProviderConfig>& providers() const { return settings_.providers; }

 private:
  const ProviderConfig* find_provider(std::string_view name) const;
  ResolvedModel resolve_default() const;
  ResolvedModel resolve_bare(const std::string& model) const;
  Error nothing_configured() const;
  std::unique_ptr<Transport> around(std::unique_ptr<Transport> transport) const;

  ModelSettings settings_;
  const PriceBook& prices_;
  const Clock& clock_;
  MakeRetries make_retries_;
};

}  // namespace forge::models
