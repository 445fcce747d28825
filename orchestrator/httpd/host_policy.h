#pragma once

#include <string>
#include <string_view>

#include "orchestrator/httpd/message.h"

namespace forge::httpd {

/// Which names a server answers to. A page on another site can make a browser send requests here under its own name (DNS rebinding)
/// or from its own origin; neither is a name of ours.
class HostPolicy {
 public:
  /// `public_url` as configured ("https://forge.example:8443"), or empty: then only loopback names are ours.
  /// Throws bad_input("server.public_url") when it is not an http(s) URL without path.
  explicit HostPolicy(const std::string& public_url);

  /// Throws permission_denied when the Host of a TCP request is not ours. Unix sockets cannot be reached by a browser: any Host passes.
  void check_host(const Request& request) const;
  /// True when `origin` is where our own pages come from.
  bool is_own_origin(const Request& request, std::string_view origin) const;
  bool is_https() const { return https_; }
  /// "https://forge.example:8443"; empty when none is configured.
  const std::string& public_origin() const { return origin_; }

 private:
  bool is_own_name(std::string_view authority) const;
  std::string origin_;
  std::string host_;  // of the public URL, without port
  bool https_ = false;
};

/// Host part of "host:port", "[::1]:port", "host", in lower case and without brackets; "" when malformed.
std::string host_of(std::string_view authority);
/// localhost, 127.0.0.0/8 or ::1.
bool is_loopback_name(std::string_view host);

}  // namespace forge::httpd
