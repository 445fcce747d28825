#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "orchestrator/net/http_client.h"

namespace forge::models {

/// Sends requests to providers: the one place where they go out, whoever asks. One exchange at a time per object.
class Transport {
 public:
  virtual ~Transport() = default;
  /// As net::HttpClient::stream() does, errors included.
  virtual net::HttpHead stream(const net::HttpRequest& request, const net::HttpReceiver& receiver, const Stop& stop) = 0;
};

/// Silence of four minutes is below the default stall limit of a run, and above what reasoning models take before the first byte.
inline constexpr net::HttpLimits kModelLimits{.idle = std::chrono::minutes(4), .max_body_bytes = 256 << 20};

/// `path` (and query) below a base URL, which may end in a slash.
std::string url_below(std::string base_url, std::string_view path);

/// Over the network.
std::unique_ptr<Transport> make_net_transport(const net::HttpLimits& limits = kModelLimits);

/// Puts something around a transport: a cassette. Thread-safe.
using AroundTransport = std::function<std::unique_ptr<Transport>(std::unique_ptr<Transport>)>;

}  // namespace forge::models
