#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/http/body.h"
#include "orchestrator/http/routes.h"

namespace forge::http {
namespace {

using nlohmann::json;

/// Everything about a token except what would let one use it.
json to_json(const AccessToken& token) {
  return {{"id", token.id.str()},
          {"name", token.name},
          {"role", name_of(token.role)},
          {"created_ms", token.created_ms},
          {"last_used_ms", token.last_used_ms == 0 ? json(nullptr) : json(token.last_used_ms)},
          {"revoked", token.revoked}};
}

Response list_tokens(Services& services, const Request&) {
  json items = json::array();
  for (const AccessToken& token : services.parts.access.tokens()) items.push_back(to_json(token));
  return whole_list(std::move(items));
}

Response make_token(Services& services, const Request& request) {
  const json body = json_body(request);
  JsonReader reader(body);
  const std::string name = reader.text("name");
  const auto role = parse_role(reader.text("role"));
  reader.finish();
  if (!role) throw bad_input("role", "is not a role", "admin, operator, reviewer or viewer");
  const NewToken made = issue_token(services.parts.access, name, *role);
  json answer = to_json(made.token);
  answer["secret"] = made.secret;
  return json_answer(answer, 201);
}

// Requests ask for the token each time; only open streams have to be told.
Response revoke_token(Services& services, const Request& request) {
  const AccessToken token = services.parts.access.revoke_token(request.param("id"));
  services.parts.hub.end_tagged("token:" + token.id.str());
  return json_answer(to_json(token));
}

}  // namespace

void add_token_routes(httpd::Router& router, Services& services) {
  const auto handled = [&services](Response (*handle)(Services&, const Request&)) {
    return [&services, handle](const Request& request, const Stop&) { return handle(services, request); };
  };
  router.add(
      {.method = Method::get, .pattern = "/api/v1/tokens", .access = Access::at_least(Role::admin), .handler = handled(list_tokens)});
  router.add({.method = Method::post,
              .pattern = "/api/v1/tokens",
              .access = Access::at_least(Role::admin),
              .handler = handled(make_token),
              .body_bytes = kSmallBodyBytes});
  router.add({.method = Method::delete_,
              .pattern = "/api/v1/tokens/{id}",
              .access = Access::at_least(Role::admin),
              .handler = handled(revoke_token)});
}

}  // namespace forge::http
