#pragma once

#include <nlohmann/json_fwd.hpp>

#include "orchestrator/httpd/message.h"

namespace forge::http {

/// Largest body of a request that is not a job.
inline constexpr std::size_t kSmallBodyBytes = 64 << 10;

/// The body as a JSON object. Throws bad_input when it is not application/json, not JSON, or no object.
nlohmann::json json_body(const httpd::Request& request);
/// The same, and {} for no body at all.
nlohmann::json optional_json_body(const httpd::Request& request);
/// 200 with the value.
httpd::Response json_answer(const nlohmann::json& value, int status = 200);
/// {"items", "next_cursor": null}: a list that is never paged.
httpd::Response whole_list(nlohmann::json items);

}  // namespace forge::http
