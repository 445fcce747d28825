#include "orchestrator/http/auth.h"

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::http {
namespace {

constexpr std::int64_t kCookieSeconds = 30LL * 24 * 60 * 60;  // as long as a session may live at most

Error not_signed_in(std::string message) {
  return public_failure(ErrorCode::unauthenticated, std::move(message))
      .with_hint("send 'Authorization: Bearer <token>' (forge token create makes one), or open a sign-in link");
}

}  // namespace

void Doorman::admit(httpd::Request& request, const httpd::Route& route) {
  // A page of another site that signs a browser in here under a foreign account is stopped too.
  const auto origin = request.header("origin");
  const bool foreign_page = origin && !request.is_local() && !hosts_.is_own_origin(request, *origin);
  if (foreign_page && !httpd::is_safe(request.method) && !request.header("authorization"))
    throw public_failure(ErrorCode::permission_denied, "the request comes from a page of another site");
  if (route.access.is_open()) return;
  identify(request);
  if (at_least(request.principal->role, route.access.role())) return;
  throw public_failure(ErrorCode::permission_denied, "this needs the role " + std::string(name_of(route.access.role())) + "; yours is " +
                                                         std::string(name_of(request.principal->role)));
}

void Doorman::identify(httpd::Request& request) {
  // Whoever can open the socket can also read the database beside it: a token would add nothing.
  if (request.is_local()) {
    request.principal = Principal{.name = std::string(kLocalName), .role = Role::admin, .local = true};
    return;
  }
  if (const auto authorization = request.header("authorization")) return by_token(request, *authorization);
  if (const auto cookie = session_cookie(request, hosts_)) return by_cookie(request, *cookie);
  throw not_signed_in("nobody is signed in");
}

// A token that does not hold is never made up for by a cookie: who sends one means it.
void Doorman::by_token(httpd::Request& request, std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (lower_ascii(authorization.substr(0, kScheme.size())) != kScheme) throw not_signed_in("the only scheme known here is Bearer");
  const auto token = access_.token(hash_secret(trim(authorization.substr(kScheme.size()))));
  if (!token) throw not_signed_in("the token is unknown or revoked");
  request.principal = Principal{.name = token->name, .role = token->role, .local = false};
  request.credentials = {"token:" + token->id.str()};
}

// Both the session and the token behind it become credentials, so that ending either ends the streams.
void Doorman::by_cookie(httpd::Request& request, const std::string& cookie) {
  const auto session = access_.session(hash_secret(cookie));
  if (!session) throw not_signed_in("the session has ended");
  if (!httpd::is_safe(request.method)) check_cookie_write(request);
  request.principal = Principal{.name = session->principal, .role = session->role, .local = false};
  request.credentials = {"session:" + session->id};
  if (!session->token.empty()) request.credentials.push_back("token:" + session->token.str());
}

// A browser adds the cookie to whatever page sends the request; it also adds the page's Origin, which the page cannot choose. SameSite
// says the same to new browsers; this holds for all.
void Doorman::check_cookie_write(const httpd::Request& request) const {
  const auto origin = request.header("origin");
  if (!origin || !hosts_.is_own_origin(request, *origin))
    throw public_failure(ErrorCode::permission_denied, "a write with a session cookie needs an Origin of this server");
  const bool has_body = request.header("content-length").value_or("0") != "0";
  if (has_body && !is_json(request))
    throw public_failure(ErrorCode::permission_denied, "a write with a session cookie needs a body of application/json");
}

// The prefix makes a browser insist on Secure, Path=/ and no Domain, so that no neighbouring host can plant a cookie of this name.
std::string session_cookie_name(const httpd::HostPolicy& hosts) { return hosts.is_https() ? "__Host-forge_session" : "forge_session"; }

std::optional<std::string> session_cookie(const httpd::Request& request, const httpd::HostPolicy& hosts) {
  const std::string wanted = session_cookie_name(hosts) + "=";
  for (const httpd::Header& header : request.headers) {
    if (header.name != "cookie") continue;
    for (const std::string& part : split(header.value, ';'))
      if (const std::string_view pair = trim(part); pair.starts_with(wanted)) return std::string(pair.substr(wanted.size()));
  }
  return {};
}

std::string set_session_cookie(const std::string& secret, const httpd::HostPolicy& hosts) {
  return session_cookie_name(hosts) + "=" + secret +
         "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(secret.empty() ? 0 : kCookieSeconds) +
         (hosts.is_https() ? "; Secure" : "");
}

bool is_json(const httpd::Request& request) {
  const std::string_view type = request.header("content-type").value_or("");
  return lower_ascii(trim(type.substr(0, type.find(';')))) == "application/json";
}

}  // namespace forge::http
