#include "orchestrator/httpd/router.h"

#include <algorithm>
#include <set>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::httpd {
namespace {

bool is_parameter(const std::string& segment) { return segment.starts_with('{'); }

/// Number of literal segments when the path has this shape.
std::optional<std::size_t> literals(const std::vector<std::string>& shape, const std::vector<std::string>& segments) {
  if (shape.size() != segments.size()) return {};
  std::size_t count = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (is_parameter(shape[i])) {
      if (segments[i].empty()) return {};
    } else if (shape[i] != segments[i]) {
      return {};
    } else {
      ++count;
    }
  }
  return count;
}

/// Two routes of one shape could not be told apart, whatever their parameters are called.
bool same_shape(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const std::string& x, const std::string& y) { return x == y || (is_parameter(x) && is_parameter(y)); });
}

/// Whether the route answers this method, HEAD included.
bool serves(const Route& route, Method method) {
  return route.method == method || (method == Method::head && route.method == Method::get && route.answers_head);
}

}  // namespace

void Router::add(Route route) {
  const std::string name = std::string(name_of(route.method)) + " " + route.pattern;
  if (!route.access.is_set()) throw Error(ErrorCode::internal, "route " + name + " does not say who may call it");
  if (!route.handler || !route.pattern.starts_with('/')) throw Error(ErrorCode::internal, "route " + name + " is malformed");
  std::vector<std::string> shape = split(route.pattern.substr(1), '/');
  for (std::size_t i = 0; i < routes_.size(); ++i)
    if (routes_[i].method == route.method && same_shape(shapes_[i], shape))
      throw Error(ErrorCode::internal, "route " + name + " exists already");
  routes_.push_back(std::move(route));
  shapes_.push_back(std::move(shape));
}

Router::Match Router::match(Method method, const std::vector<std::string>& segments) const {
  // All routes are tried: there are some forty, and a tree would save less than a request's parsing costs.
  Match match;
  std::optional<std::size_t> best;
  std::size_t at = 0;
  std::set<std::string> allowed;
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    const auto count = literals(shapes_[i], segments);
    if (!count) continue;
    allowed.emplace(name_of(routes_[i].method));
    if (serves(routes_[i], Method::head)) allowed.emplace("HEAD");
    if (!serves(routes_[i], method) || (best && *best >= *count)) continue;
    best = count;
    at = i;
  }
  if (!best) {
    for (const std::string& name : allowed) match.allow += (match.allow.empty() ? "" : ", ") + name;
    return match;
  }
  match.route = &routes_[at];
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::string& name = shapes_[at][i];
    if (is_parameter(name)) match.params[name.substr(1, name.size() - 2)] = segments[i];
  }
  return match;
}

}  // namespace forge::httpd
