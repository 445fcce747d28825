#pragma once

#include <exception>
#include <string>

#include "orchestrator/base/error.h"
#include "orchestrator/httpd/message.h"

namespace forge::http {

/// The only mapping from an error's code to an HTTP status.
int status_of(ErrorCode code);
/// What a client is told when the error brings no text for it.
std::string public_text(ErrorCode code);
/// The answer to an error: its code, its text for clients (never what()), field and hint. An exception that is no Error is `internal`.
httpd::Response error_response(const std::exception& error);

}  // namespace forge::http
