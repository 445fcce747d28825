#include "orchestrator/httpd/host_policy.h"

#include <Poco/Exception.h>
#include <Poco/Net/IPAddress.h>
#include <Poco/URI.h>

#include <algorithm>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::httpd {
namespace {

Poco::URI parse_public_url(const std::string& text) {
  const auto wrong = [] {
    return bad_input("server.public_url", "is not an http or https URL without a path", "for example https://forge.example");
  };
  try {
    Poco::URI url(text);
    const bool is_http = url.getScheme() == "http" || url.getScheme() == "https";
    const bool bare = (url.getPath().empty() || url.getPath() == "/") && url.getRawQuery().empty() && url.getFragment().empty();
    if (!is_http || !bare || url.getHost().empty() || !url.getUserInfo().empty()) throw wrong();
    return url;
  } catch (const Poco::Exception&) {
    throw wrong();
  }
}

/// A port.
bool all_digits(std::string_view text) {
  return !text.empty() && text.size() <= 5 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

HostPolicy::HostPolicy(const std::string& public_url) {
  if (public_url.empty()) return;
  const Poco::URI url = parse_public_url(public_url);
  https_ = url.getScheme() == "https";
  host_ = host_of(url.getAuthority());
  origin_ = url.getScheme() + "://" + lower_ascii(url.getAuthority());
}

bool HostPolicy::is_own_name(std::string_view authority) const {
  // The port is not compared: a forwarded port is still ours, and a foreign page cannot choose our name.
  const std::string host = host_of(authority);
  return !host.empty() && (is_loopback_name(host) || host == host_);
}

void HostPolicy::check_host(const Request& request) const {
  if (request.is_local()) return;
  const std::string_view host = request.header("host").value_or("");
  if (is_own_name(host)) return;
  throw public_failure(ErrorCode::permission_denied, "this server does not answer to the Host of the request")
      .with_hint("set server.public_url to the address under which it is reached");
}

// An Origin has scheme and port, and both count: another program on another port of this machine is another site.
bool HostPolicy::is_own_origin(const Request& request, std::string_view origin) const {
  if (!origin_.empty() && lower_ascii(origin) == origin_) return true;
  // Reached under a loopback name: the page came from the very address that the request goes to.
  const std::string_view host = request.header("host").value_or("");
  return is_own_name(host) && is_loopback_name(host_of(host)) && lower_ascii(origin) == "http://" + lower_ascii(host);
}

// Strict rather than lenient: what is not plainly a name or an address gives "", which is nobody's.
std::string host_of(std::string_view authority) {
  std::string_view host = authority;
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return {};
    host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
  } else if (const std::size_t colon = authority.find(':'); colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (!port.empty() && (port.front() != ':' || !all_digits(port.substr(1)))) return {};
  constexpr std::string_view kMarks = ".-_:";
  const bool plain = std::all_of(host.begin(), host.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kMarks.find(c) != std::string_view::npos;
  });
  return plain ? lower_ascii(host) : std::string();
}

bool is_loopback_name(std::string_view host) {
  if (host == "localhost") return true;
  Poco::Net::IPAddress address;
  return Poco::Net::IPAddress::tryParse(std::string(host), address) && address.isLoopback();
}

}  // namespace forge::httpd
