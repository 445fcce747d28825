#include "tools/workspace_file.h"

#include <fmt/format.h>

#include "orchestrator/base/error.h"
#include "tools/registry.h"

namespace forge::tools {
namespace {

/// What the model can do about it. The text of the error itself names paths of the inside at most, but no remedy.
std::string advice(std::string_view path, const Error& error) {
  switch (error.code()) {
    case ErrorCode::not_found:
      return fmt::format("There is no file '{}'. Paths are relative to {} or absolute.", path, sandbox::kWorkspace);
    case ErrorCode::permission_denied: return fmt::format("'{}' may not be read or written.", path);
    case ErrorCode::invalid_argument: return fmt::format("'{}' is not a regular file (a directory?): look at it with bash.", path);
    case ErrorCode::limit_exceeded:
      return fmt::format("'{}' is larger than {} bytes: take a part of it with bash (sed -n, head, grep).", path, kMaxFileBytes);
    default: return fmt::format("'{}': {}", path, error.what());
  }
}

}  // namespace

std::string inside_path(std::string_view path) {
  if (path.empty()) throw bad_input("path", "the path is empty", "a path relative to /workspace, or an absolute one");
  if (path.size() > kMaxPathBytes) throw bad_input("path", fmt::format("the path is longer than {} bytes", kMaxPathBytes));
  if (path.find('\0') != std::string_view::npos) throw bad_input("path", "the path holds a NUL byte");
  if (path.front() == '/') return std::string(path);
  return fmt::format("{}/{}", sandbox::kWorkspace, path);
}

ToolOutcome on_file(std::string_view path, const std::function<ToolOutcome(const std::string&)>& body) {
  std::string inside;
  try {
    inside = inside_path(path);
  } catch (const Error& e) {
    return failed(std::string(e.what()) + ".");
  }
  try {
    return body(inside);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::cancelled || e.code() == ErrorCode::timed_out || e.code() == ErrorCode::unavailable) throw;
    return failed(advice(path, e));
  }
}

std::string shell_word(std::string_view path) {
  std::string word = "'";
  for (const char c : path) {
    if (c == '\'') {
      word += R"('\'')";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace forge::tools
