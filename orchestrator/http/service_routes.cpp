#include <embedded/index_html.h>
#include <embedded/openapi_json.h>

#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/crypto/crypto.h"
#include "orchestrator/http/body.h"
#include "orchestrator/http/dashboard.h"
#include "orchestrator/http/routes.h"
#include "orchestrator/httpd/static_file.h"

namespace forge::http {
namespace {

using httpd::StaticFile;
using nlohmann::json;

/// SHA-256 of the page's one style element, as a policy names it: nothing else on the page can bring style or script.
std::string style_source(std::string_view page) {
  constexpr std::string_view kOpen = "<style>";
  const std::size_t begin = page.find(kOpen) + kOpen.size();
  const std::string digits = crypto::sha256_hex(page.substr(begin, page.find("</style>") - begin));
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return "'sha256-" + base64(bytes) + "'";
}

// In place of the dashboard, for a server that has none: a page that needs nothing, links to what there is, and could not run a script
// if it held one.
void add_index(httpd::Router& router) {
  const std::string policy = "default-src 'none'; style-src " + style_source(embedded::index_html) +
                             "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  auto file = std::make_shared<StaticFile>("text/html; charset=utf-8", std::string(embedded::index_html));
  router.add(
      {.method = Method::get, .pattern = "/", .access = Access::open(), .handler = [file, policy](const Request& request, const Stop&) {
         return file->answer(request).with("Content-Security-Policy", policy).with("Referrer-Policy", "no-referrer");
       }});
}

}  // namespace

// Health is whether the process answers and nothing more: a supervisor that restarts on it must not do so because a disk is slow.
void add_service_routes(httpd::Router& router, Services& services) {
  const json alive{{"status", "ok"}, {"version", services.options.version}};
  router.add({.method = Method::get, .pattern = "/healthz", .access = Access::open(), .handler = [alive](const Request&, const Stop&) {
                return json_answer(alive);
              }});
  router.add({.method = Method::get, .pattern = "/readyz", .access = Access::open(), .handler = [&services](const Request&, const Stop&) {
                services.parts.check_ready();
                return json_answer({{"status", "ready"}});
              }});
  router.add({.method = Method::get,
              .pattern = "/metrics",
              .access = Access::at_least(Role::viewer),
              .handler = [&services](const Request&, const Stop&) {
                return httpd::text_response(200, std::string(metrics::kContentType), services.parts.metrics.text());
              }});
  auto document = std::make_shared<StaticFile>("application/json", std::string(embedded::openapi_json));
  router.add({.method = Method::get,
              .pattern = "/openapi.json",
              .access = Access::open(),
              .handler = [document](const Request& request, const Stop&) { return document->answer(request); }});
  if (services.options.dashboard.empty())
    add_index(router);
  else
    add_dashboard_routes(router, services.options.dashboard);
}

}  // namespace forge::http
