#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"
#include "orchestrator/crypto/crypto.h"
#include "orchestrator/http/auth.h"
#include "orchestrator/http/body.h"
#include "orchestrator/http/routes.h"

namespace forge::http {
namespace {

using nlohmann::json;

// 256 bits: beyond guessing, so that no lock-out after failed attempts is needed.
constexpr std::size_t kSecretBytes = 32;

json to_json(const AccessSession& session) {
  return {{"id", session.id},
          {"principal", session.principal},
          {"role", name_of(session.role)},
          {"created_ms", session.created_ms},
          {"last_used_ms", session.last_used_ms}};
}

/// Makes a session and returns the cookie's secret.
std::string open_session(Services& services, const std::string& principal, Role role, const TokenId& token) {
  std::string secret = crypto::random_token(kSecretBytes);
  const std::int64_t now_ms = services.parts.clock.now_ms();
  services.parts.access.add_session({.id = new_id_text(now_ms),
                                     .secret_hash = hash_secret(secret),
                                     .principal = principal,
                                     .role = role,
                                     .token = token,
                                     .created_ms = now_ms,
                                     .last_used_ms = now_ms});
  return secret;
}

// The token itself never becomes the cookie: a session can be ended alone, and a stolen cookie makes no API client.
Response sign_in_by_token(Services& services, const Request& request) {
  const json body = json_body(request);
  JsonReader reader(body);
  const std::string secret = reader.text("token");
  reader.finish();
  const auto token = services.parts.access.token(hash_secret(trim(secret)));
  if (!token) throw public_failure(ErrorCode::unauthenticated, "the token is unknown or revoked");
  const std::string cookie = open_session(services, token->name, token->role, token->id);
  return json_answer({{"principal", token->name}, {"role", name_of(token->role)}, {"local", false}}, 201)
      .with("Set-Cookie", set_session_cookie(cookie, services.hosts));
}

/// A browser that opens an address names HTML; scripts and the dashboard's own requests do not.
bool wants_page(const Request& request) {
  for (const std::string& part : split(request.header("accept").value_or(""), ','))
    if (lower_ascii(trim(part.substr(0, part.find(';')))) == "text/html") return true;
  return false;
}

/// A person is shown a page: the dashboard where this browser is signed in already, which is what a link opened twice is mostly about,
/// else the page that says what became of the link.
Response void_link(Services& services, const Request& request) {
  if (!wants_page(request))
    throw public_failure(ErrorCode::unauthenticated, "this sign-in link was used already, or it has expired")
        .with_hint("'forge serve' prints a new one when it starts, and POST /api/v1/sign-in-links makes one");
  const auto cookie = session_cookie(request, services.hosts);
  const bool signed_in = cookie && services.parts.access.session(hash_secret(*cookie));
  return httpd::redirect(signed_in ? "/" : "/sign-in?link=used").with("Referrer-Policy", "no-referrer");
}

// What the link gives is a session and no token: it cannot be used from a script, and it ends by itself.
Response sign_in_by_link(Services& services, const Request& request) {
  const auto role = services.parts.access.take_sign_in(hash_secret(request.param("secret")));
  if (!role) return void_link(services, request);
  const std::string cookie = open_session(services, "sign-in link", *role, {});
  return httpd::redirect("/").with("Set-Cookie", set_session_cookie(cookie, services.hosts)).with("Referrer-Policy", "no-referrer");
}

Response show_session(const Request& request) {
  const Principal& who = *request.principal;
  return json_answer({{"principal", who.name}, {"role", name_of(who.role)}, {"local", who.local}});
}

/// Ends a session with everything that is open because of it.
void end_session(Services& services, const std::string& id) {
  services.parts.access.end_session(id);
  services.parts.hub.end_tagged("session:" + id);
}

Response sign_out(Services& services, const Request& request) {
  const auto session =
      std::find_if(request.credentials.begin(), request.credentials.end(), [](const std::string& c) { return c.starts_with("session:"); });
  if (session == request.credentials.end()) throw public_failure(ErrorCode::conflict, "this request was not made with a session");
  end_session(services, session->substr(std::string_view("session:").size()));
  return httpd::no_content().with("Set-Cookie", set_session_cookie("", services.hosts));
}

/// Others' sessions are the administrator's business.
bool may_see(const Principal& who, const AccessSession& session) { return who.role == Role::admin || session.principal == who.name; }

Response list_sessions(Services& services, const Request& request) {
  json items = json::array();
  for (const AccessSession& session : services.parts.access.sessions())
    if (may_see(*request.principal, session)) items.push_back(to_json(session));
  return whole_list(std::move(items));
}

Response remove_session(Services& services, const Request& request) {
  const std::string& id = request.param("id");
  const auto all = services.parts.access.sessions();
  const bool mine =
      std::any_of(all.begin(), all.end(), [&](const AccessSession& s) { return s.id == id && may_see(*request.principal, s); });
  // Not there and not yours read the same: ids of others' sessions are nobody's business.
  if (!mine) throw public_failure(ErrorCode::not_found, "there is no such session");
  end_session(services, id);
  return httpd::no_content();
}

Response make_sign_in_link(Services& services, const Request& request) {
  const json body = optional_json_body(request);
  JsonReader reader(body);
  const auto name = reader.optional_text("role");
  reader.finish();
  const auto role = parse_role(name.value_or("admin"));
  if (!role) throw bad_input("role", "is not a role", "admin, operator, reviewer or viewer");
  const std::int64_t now_ms = services.parts.clock.now_ms();
  const std::string path = "/sign-in/" + issue_sign_in(services.parts.access, *role, now_ms);
  return json_answer({{"path", path}, {"role", name_of(*role)}, {"expires_ms", now_ms + kSignInLifetimeMs}}, 201);
}

}  // namespace

void add_session_routes(httpd::Router& router, Services& services) {
  const auto handled = [&services](Response (*handle)(Services&, const Request&)) {
    return [&services, handle](const Request& request, const Stop&) { return handle(services, request); };
  };
  router.add({.method = Method::post,
              .pattern = "/api/v1/session",
              .access = Access::open(),
              .handler = handled(sign_in_by_token),
              .body_bytes = kSmallBodyBytes});
  router.add({.method = Method::get,
              .pattern = "/api/v1/session",
              .access = Access::at_least(Role::viewer),
              .handler = [](const Request& request, const Stop&) { return show_session(request); }});
  router.add(
      {.method = Method::delete_, .pattern = "/api/v1/session", .access = Access::at_least(Role::viewer), .handler = handled(sign_out)});
  router.add(
      {.method = Method::get, .pattern = "/api/v1/sessions", .access = Access::at_least(Role::viewer), .handler = handled(list_sessions)});
  router.add({.method = Method::delete_,
              .pattern = "/api/v1/sessions/{id}",
              .access = Access::at_least(Role::viewer),
              .handler = handled(remove_session)});
  router.add({.method = Method::post,
              .pattern = "/api/v1/sign-in-links",
              .access = Access::at_least(Role::admin),
              .handler = handled(make_sign_in_link),
              .body_bytes = kSmallBodyBytes});
  // Reading it takes the link: HEAD, as link checkers send it, must not.
  router.add({.method = Method::get,
              .pattern = "/sign-in/{secret}",
              .access = Access::open(),
              .handler = handled(sign_in_by_link),
              .answers_head = false});
}

}  // namespace forge::http
