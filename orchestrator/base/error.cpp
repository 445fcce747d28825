#include "orchestrator/base/error.h"

#include <array>
#include <cerrno>
#include <cstring>

namespace forge {
namespace {

constexpr std::array<std::string_view, 19> kNames{"invalid_argument",
                                                  "unauthenticated",
                                                  "permission_denied",
                                                  "not_found",
                                                  "conflict",
                                                  "precondition_failed",
                                                  "limit_exceeded",
                                                  "unsupported",
                                                  "busy",
                                                  "unavailable",
                                                  "timed_out",
                                                  "cancelled",
                                                  "corrupt",
                                                  "budget_exhausted",
                                                  "context_overflow",
                                                  "sandbox_unavailable",
                                                  "sandbox_policy",
                                                  "sandbox_config",
                                                  "internal"};
static_assert(kNames.size() == static_cast<std::size_t>(ErrorCode::internal) + 1);

/// What a caller can react to. Whatever is not listed is our own fault or one that nobody can react to: internal.
ErrorCode code_of_errno(int value) {
  switch (value) {
    case ENOENT:
    case ESRCH:
    case ENOTDIR: return ErrorCode::not_found;
    case EEXIST:
    case ENOTEMPTY: return ErrorCode::conflict;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::permission_denied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case E2BIG: return ErrorCode::limit_exceeded;
    case EAGAIN:
    case EBUSY:
    case ETXTBSY: return ErrorCode::busy;
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE: return ErrorCode::unavailable;
    case ETIMEDOUT: return ErrorCode::timed_out;
    default: return ErrorCode::internal;
  }
}

}  // namespace

std::string_view name_of(ErrorCode code) { return kNames.at(static_cast<std::size_t>(code)); }

std::optional<ErrorCode> parse_error_code(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<ErrorCode>(i);
  return {};
}

Error public_failure(ErrorCode code, std::string message) {
  // Taken before the message is moved: evaluation order is not ours to rely on.
  std::string text = message;
  return Error(code, std::move(message)).for_client(std::move(text));
}

Error bad_input(std::string field, std::string message, std::string hint) {
  std::string text = field.empty() ? message : field + ": " + message;
  return Error(ErrorCode::invalid_argument, std::move(text))
      .for_client(std::move(message))
      .in_field(std::move(field))
      .with_hint(std::move(hint));
}

Error system_failure(std::string_view what, int errno_value) {
  return Error(code_of_errno(errno_value), std::string(what) + ": " + std::strerror(errno_value));
}

}  // namespace forge
