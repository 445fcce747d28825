#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/httpd/message.h"

namespace forge::httpd {

/// Proxies whose X-Forwarded-For is believed. Anybody can send that header; only what a known proxy added to it is true.
class TrustedProxies {
 public:
  /// Addresses and networks: "127.0.0.1", "10.0.0.0/8", "fd00::/8". Throws bad_input("server.trusted_proxies").
  explicit TrustedProxies(const std::vector<std::string>& networks);

  /// Who sent the request: the peer, or, when that is a trusted proxy, the nearest address in X-Forwarded-For that is none.
  std::string client_of(const Request& request) const;

 private:
  using Address = std::array<std::uint8_t, 16>;  ///< IPv4 as mapped into IPv6
  struct Network {
    Address address{};
    int bits = 0;
  };
  static std::optional<Address> parse(const std::string& text);
  static Network parse_network(const std::string& text);
  bool trusts(const std::string& address) const;
  std::vector<Network> networks_;
};

}  // namespace forge::httpd
