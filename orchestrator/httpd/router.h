#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/stop.h"
#include "orchestrator/domain/principal.h"
#include "orchestrator/httpd/message.h"

namespace forge::httpd {

/// Who may call a route. There is no default: a route that names none cannot be added.
class Access {
 public:
  Access() = default;
  static Access open() { return Access(Kind::open, {}); }
  static Access at_least(Role role) { return Access(Kind::role, role); }
  bool is_set() const { return kind_ != Kind::unset; }
  bool is_open() const { return kind_ == Kind::open; }
  /// Only for a route that is not open.
  Role role() const { return role_; }

 private:
  enum class Kind { unset, open, role };
  Access(Kind kind, Role role) : kind_(kind), role_(role) {}
  Kind kind_ = Kind::unset;
  Role role_ = Role::admin;
};

/// Called on a worker thread, several at once. Parse > call > print; errors are thrown and the site prints them.
using Handler = std::function<Response(const Request&, const Stop&)>;

struct Route {
  Method method = Method::get;
  std::string pattern;  ///< "/api/v1/jobs/{id}": a parameter is a whole segment
  Access access;
  Handler handler;
  std::vector<std::string> query = {};  ///< parameters it knows; another one is refused
  bool any_query = false;               ///< takes every parameter: they are passed on
  std::size_t body_bytes = 0;           ///< largest body; 0 = takes none
  bool answers_head = true;             ///< a GET route also answers HEAD, unless reading it has an effect
};

class Router {
 public:
  /// Throws internal for a route without access, without handler, or with the method and shape of another.
  void add(Route route);
  const std::vector<Route>& routes() const { return routes_; }

  /// Answers what no route does, a known path with another method included, in place of the server's own 404 and 405. The body is not
  /// read. For sites whose clients expect errors of another shape.
  void otherwise(Handler handler) { otherwise_ = std::move(handler); }
  const Handler& otherwise() const { return otherwise_; }

  /// What a path leads to: a route, or the methods that it has, or nothing at all.
  struct Match {
    const Route* route = nullptr;
    std::map<std::string, std::string, std::less<>> params;
    std::string allow;  ///< for 405, "GET, HEAD, POST"; empty = no such path
  };
  /// A literal segment goes before a parameter.
  Match match(Method method, const std::vector<std::string>& segments) const;

 private:
  std::vector<Route> routes_;
  Handler otherwise_;
  std::vector<std::vector<std::string>> shapes_;  // of each route: its segments; a parameter begins with '{'
};

}  // namespace forge::httpd
