#include "orchestrator/http/body.h"

#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/http/auth.h"
#include "orchestrator/httpd/static_file.h"

namespace forge::http {

// The type is asked for even where only JSON could be meant: a form of another site can send anything but this type.
nlohmann::json json_body(const httpd::Request& request) {
  if (!is_json(request)) throw bad_input("", "the body must be JSON", "send 'Content-Type: application/json'");
  nlohmann::json body = parse_json(request.body, "the body");
  if (!body.is_object()) throw bad_input("", "the body must be a JSON object");
  return body;
}

nlohmann::json optional_json_body(const httpd::Request& request) {
  return request.body.empty() ? nlohmann::json::object() : json_body(request);
}

httpd::Response json_answer(const nlohmann::json& value, int status) { return httpd::json_response(status, dump_json(value)); }

httpd::Response stranger_answer(const httpd::Request& request, const std::string& etag, Lifetime lifetime,
                                const std::function<httpd::Response()>& make) {
  httpd::Response unchanged;
  unchanged.status = 304;
  httpd::Response response = has_etag(request, etag) ? std::move(unchanged) : make();
  return std::move(response)
      .with("ETag", etag)
      .with("Cache-Control", lifetime == Lifetime::immutable ? "private, max-age=31536000, immutable" : "private, no-cache")
      .with("Content-Security-Policy", "sandbox; default-src 'none'");
}

httpd::Response whole_list(nlohmann::json items) { return json_answer({{"items", std::move(items)}, {"next_cursor", nullptr}}); }

}  // namespace forge::http
