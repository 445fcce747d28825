#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace forge {

/// What a caller can react to. Doors map each to one HTTP status (http/public_error) and one exit code (cli).
enum class ErrorCode {
  invalid_argument,     ///< the request is wrong; `field` names the part
  unauthenticated,      ///< nobody asked, or with a credential we do not know
  permission_denied,    ///< known, but not allowed
  not_found,            ///<
  conflict,             ///< the state does not allow it, or somebody was first
  precondition_failed,  ///< If-Match named an old revision
  limit_exceeded,       ///< over a named cap
  unsupported,          ///< understood, and not something Forge does
  busy,                 ///< try again later
  unavailable,          ///< a dependency does not answer
  timed_out,            ///<
  cancelled,            ///<
  corrupt,              ///< stored or received data breaks its own rules
  budget_exhausted,     ///< a money or token cap was reached
  context_overflow,     ///< the conversation no longer fits the model
  sandbox_unavailable,  ///< no sandbox can be made on this machine as asked
  sandbox_policy,       ///< the policy forbids it
  sandbox_config,       ///< the template or the limits make no sense
  internal,             ///< our own fault
};

/// "invalid_argument" and so on; the `code` of the API's error object.
std::string_view name_of(ErrorCode code);
std::optional<ErrorCode> parse_error_code(std::string_view name);

/// The one error of Forge: a code for machines, a message for logs, and, where a client may read one, a text for the client.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  ErrorCode code() const noexcept { return code_; }
  /// For logs: may hold paths and library texts. Never sent to a client.
  const char* what() const noexcept override { return message_.c_str(); }
  /// Empty when nothing was written for clients; then they see a sentence made of the code.
  const std::string& client_text() const noexcept { return client_text_; }
  const std::string& field() const noexcept { return field_; }
  const std::string& hint() const noexcept { return hint_; }

  /// Puts `what` before the message: "opening repository /x: " + message.
  void add_context(std::string_view what) { message_.insert(0, std::string(what) + ": "); }

  Error&& for_client(std::string text) && {
    client_text_ = std::move(text);
    return std::move(*this);
  }
  Error&& in_field(std::string field) && {
    field_ = std::move(field);
    return std::move(*this);
  }
  Error&& with_hint(std::string hint) && {
    hint_ = std::move(hint);
    return std::move(*this);
  }

 private:
  ErrorCode code_;
  std::string message_;
  std::string client_text_;
  std::string field_;
  std::string hint_;
};

/// An Error whose message holds nothing internal and is shown to the client as it is.
Error public_failure(ErrorCode code, std::string message);

/// Bad input: `field` is where ("limits.max_turns"), `message` what was wrong, `hint` what would be right.
Error bad_input(std::string field, std::string message, std::string hint = {});

/// Error of a failed system call, from `errno_value`: EACCES, ENOENT, EEXIST, ENOSPC ... become codes.
Error system_failure(std::string_view what, int errno_value);

/// Runs `body`; if it throws, the message gains what we were doing.
template <typename Body>
decltype(auto) doing(std::string_view what, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (Error& e) {
    e.add_context(what);
    throw;
  }
}

}  // namespace forge
