#include "orchestrator/http/body.h"

#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/http/auth.h"

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

httpd::Response whole_list(nlohmann::json items) { return json_answer({{"items", std::move(items)}, {"next_cursor", nullptr}}); }

}  // namespace forge::http
