#include "orchestrator/http/public_error.h"

namespace forge::http {

int status_of(ErrorCode code) {
  switch (code) {  // no default: a new code is a compile warning here
    case ErrorCode::invalid_argument: return 400;
    case ErrorCode::unauthenticated: return 401;
    case ErrorCode::budget_exhausted: return 402;
    case ErrorCode::permission_denied:
    case ErrorCode::sandbox_policy: return 403;
    case ErrorCode::not_found: return 404;
    case ErrorCode::conflict: return 409;
    case ErrorCode::precondition_failed: return 412;
    case ErrorCode::limit_exceeded: return 413;
    case ErrorCode::unsupported:
    case ErrorCode::context_overflow:
    case ErrorCode::sandbox_config: return 422;
    case ErrorCode::busy:
    case ErrorCode::unavailable:
    case ErrorCode::cancelled:  // a handler that was cut because the server stops
    case ErrorCode::sandbox_unavailable: return 503;
    case ErrorCode::timed_out: return 504;
    case ErrorCode::corrupt:
    case ErrorCode::internal: return 500;
  }
  return 500;
}

std::string public_text(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "the request is not valid";
    case ErrorCode::unauthenticated: return "nobody is signed in";
    case ErrorCode::permission_denied: return "not allowed";
    case ErrorCode::not_found: return "not found";
    case ErrorCode::conflict: return "the present state does not allow it";
    case ErrorCode::precondition_failed: return "somebody changed it meanwhile";
    case ErrorCode::limit_exceeded: return "larger than allowed";
    case ErrorCode::unsupported: return "not something that Forge does";
    case ErrorCode::busy: return "too much at once; try again in a moment";
    case ErrorCode::unavailable: return "something that is needed does not answer; try again later";
    case ErrorCode::timed_out: return "it took too long";
    case ErrorCode::cancelled: return "cut short, because the server stops";
    case ErrorCode::corrupt: return "stored data is damaged; the log says where";
    case ErrorCode::budget_exhausted: return "the budget is spent";
    case ErrorCode::context_overflow: return "the conversation is too long for the model";
    case ErrorCode::sandbox_unavailable: return "no sandbox can be made on this machine as asked";
    case ErrorCode::sandbox_policy: return "the sandbox policy forbids it";
    case ErrorCode::sandbox_config: return "the sandbox template or its limits make no sense";
    case ErrorCode::internal: return "an error on our side; the log says more";
  }
  return "an error on our side; the log says more";
}

// what() may hold paths, SQL and library texts; it goes to the log and nowhere else.
httpd::Response error_response(const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  const ErrorCode code = known != nullptr ? known->code() : ErrorCode::internal;
  const std::string text = known != nullptr && !known->client_text().empty() ? known->client_text() : public_text(code);
  httpd::Response response = httpd::json_response(
      status_of(code), httpd::error_json(code, text, known != nullptr ? known->field() : "", known != nullptr ? known->hint() : ""));
  if (response.status == 401) return std::move(response).with("WWW-Authenticate", "Bearer realm=\"forge\"");
  if (response.status == 503) return std::move(response).with("Retry-After", "1");
  return response;
}

}  // namespace forge::http
