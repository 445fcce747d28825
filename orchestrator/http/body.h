#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

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
/// How long a browser may keep what it got.
enum class Lifetime {
  immutable,    ///< the address names this content for ever
  asked_again,  ///< kept, and asked for each time whether it is still that
};
/// What came out of a sandbox or a repository: it must not run in a browser. 304 when the request has `etag` (with its quotes) already,
/// else what `make` answers.
httpd::Response stranger_answer(const httpd::Request& request, const std::string& etag, Lifetime lifetime,
                                const std::function<httpd::Response()>& make);
/// {"items", "next_cursor": null}: a list that is never paged.
httpd::Response whole_list(nlohmann::json items);

}  // namespace forge::http
