#include "orchestrator/models/transport.h"

namespace forge::models {
namespace {

class NetTransport final : public Transport {
 public:
  explicit NetTransport(const net::HttpLimits& limits) : client_(limits) {}
  net::HttpHead stream(const net::HttpRequest& request, const net::HttpReceiver& receiver, const Stop& stop) override {
    return client_.stream(request, receiver, stop);
  }

 private:
  net::HttpClient client_;
};

}  // namespace

std::string url_below(std::string base_url, std::string_view path) {
  while (base_url.ends_with('/')) base_url.pop_back();
  return base_url.append(path);
}

std::unique_ptr<Transport> make_net_transport(const net::HttpLimits& limits) { return std::make_unique<NetTransport>(limits); }

}  // namespace forge::models
