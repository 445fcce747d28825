#pragma once

#include <chrono>
#include <exception>

#include "orchestrator/httpd/message.h"
#include "orchestrator/httpd/router.h"

namespace forge::httpd {

/// One answered request, for logs and metrics. Holds the pattern and not the path: a path may hold a secret.
struct Served {
  const Request& request;
  const Route* route = nullptr;  ///< null when none matched
  int status = 0;
  std::chrono::microseconds duration{};
};

/// What a server serves. Called from its workers, several at once. For each request, in this order: screen, the router, admit, the route's
/// handler; an exception of any of them goes to failure().
class Site {
 public:
  virtual ~Site() = default;
  virtual const Router& router() const = 0;
  /// Host and Origin. Throws permission_denied.
  virtual void screen(const Request& request) = 0;
  /// Finds who asks and whether the route lets them; sets principal and credentials. The body is read afterwards, so that only those
  /// who may send one are listened to. Throws unauthenticated, permission_denied.
  virtual void admit(Request& request, const Route& route) = 0;
  /// The answer to an error. Must not throw.
  virtual Response failure(const Request& request, const std::exception& error) noexcept = 0;
  virtual void served(const Served& served) = 0;
};

}  // namespace forge::httpd
