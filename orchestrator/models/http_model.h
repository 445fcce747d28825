#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "orchestrator/base/clock.h"
#include "orchestrator/models/model.h"
#include "orchestrator/models/retry.h"
#include "orchestrator/models/transport.h"
#include "orchestrator/models/wire.h"

namespace forge::models {

/// Where a model is reached over HTTP. `api_key` goes into the request and nowhere else: it is taken out of every message.
struct Endpoint {
  std::string provider;
  std::string base_url;
  std::string api_key = {};
  std::vector<net::HttpHeader> headers = {};  ///< of the operator; each replaces ours of that name
  std::string unix_socket = {};
};

struct HttpModelOptions {
  std::string model;
  std::int64_t context_window = 0;
  RetryPolicy retries;
  std::unique_ptr<Transport> transport = make_net_transport();
};

/// A model behind an HTTP API: streams, retries, counts. `clock` (for retry-after dates) must outlive it.
std::unique_ptr<Model> make_http_model(Endpoint endpoint, std::unique_ptr<Wire> wire, HttpModelOptions options, const Clock& clock);

}  // namespace forge::models
