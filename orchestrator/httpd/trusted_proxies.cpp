#include "orchestrator/httpd/trusted_proxies.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::httpd {
namespace {

constexpr int kMappedBits = 96;  // an IPv4 address begins after this in its IPv6 form

}  // namespace

std::optional<TrustedProxies::Address> TrustedProxies::parse(const std::string& text) {
  Address address{};
  if (::inet_pton(AF_INET6, text.c_str(), address.data()) == 1) return address;
  address[10] = address[11] = 0xff;
  if (::inet_pton(AF_INET, text.c_str(), address.data() + kMappedBits / 8) == 1) return address;
  return {};
}

TrustedProxies::Network TrustedProxies::parse_network(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string host = text.substr(0, slash);
  const auto address = parse(host);
  const int offset = host.find(':') == std::string::npos ? kMappedBits : 0;
  int bits = 128 - offset;
  bool sound = address.has_value();
  if (slash != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data() + slash + 1, end, bits);
    sound = sound && error == std::errc() && stopped == end && bits >= 0 && bits <= 128 - offset;
  }
  if (!sound)
    throw bad_input("server.trusted_proxies", "'" + text + "' is not an IP address or network", "for example 127.0.0.1 or 10.0.0.0/8");
  return {*address, bits + offset};
}

TrustedProxies::TrustedProxies(const std::vector<std::string>& networks) {
  for (const std::string& network : networks) networks_.push_back(parse_network(network));
}

bool TrustedProxies::trusts(const std::string& text) const {
  const auto address = parse(text);
  if (!address) return false;
  return std::any_of(networks_.begin(), networks_.end(), [&](const Network& network) {
    for (int bit = 0; bit < network.bits; ++bit) {
      const auto byte = static_cast<std::size_t>(bit / 8);
      const int mask = 0x80 >> (bit % 8);
      if (((network.address.at(byte) ^ address->at(byte)) & mask) != 0) return false;
    }
    return true;
  });
}

std::string TrustedProxies::client_of(const Request& request) const {
  if (!trusts(request.peer)) return request.peer;
  std::vector<std::string> hops;
  for (const Header& header : request.headers)
    if (header.name == "x-forwarded-for")
      for (const std::string& part : split(header.value, ',')) hops.emplace_back(trim(part));
  // Each proxy appends whom it heard from: read from the end until somebody is nobody's proxy.
  std::string client = request.peer;
  for (auto hop = hops.rbegin(); hop != hops.rend() && trusts(client) && parse(*hop); ++hop) client = *hop;
  return client;
}

}  // namespace forge::httpd
