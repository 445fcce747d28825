#pragma once

#include <optional>
#include <string>

#include "orchestrator/base/clock.h"
#include "orchestrator/domain/access.h"
#include "orchestrator/httpd/host_policy.h"
#include "orchestrator/httpd/message.h"
#include "orchestrator/httpd/router.h"

namespace forge::http {

/// Finds who asks and whether they may. Over TCP: a Bearer token, or the cookie of a session; on the unix socket whoever can open it
/// is the administrator.
class Doorman {
 public:
  Doorman(AccessControl& access, const httpd::HostPolicy& hosts) : access_(access), hosts_(hosts) {}

  /// Sets principal and credentials. Throws unauthenticated; permission_denied when the role is too low, or for a write by cookie
  /// without an Origin of ours or with a body that is not JSON (another site's form could send that).
  void admit(httpd::Request& request, const httpd::Route& route);

 private:
  /// Sets principal and credentials; throws unauthenticated.
  void identify(httpd::Request& request);
  void by_token(httpd::Request& request, std::string_view authorization);
  void by_cookie(httpd::Request& request, const std::string& cookie);
  void check_cookie_write(const httpd::Request& request) const;

  AccessControl& access_;
  const httpd::HostPolicy& hosts_;
};

/// "forge_session", or "__Host-forge_session" under TLS, where browsers then hold it to this host.
std::string session_cookie_name(const httpd::HostPolicy& hosts);
/// Value of that cookie in the request.
std::optional<std::string> session_cookie(const httpd::Request& request, const httpd::HostPolicy& hosts);
/// The Set-Cookie value that hands out `secret`; an empty one takes the cookie away.
std::string set_session_cookie(const std::string& secret, const httpd::HostPolicy& hosts);
/// True when the Content-Type is application/json, with or without parameters.
bool is_json(const httpd::Request& request);

}  // namespace forge::http
