#include "orchestrator/base/absolute_path.h"

#include <filesystem>
#include <system_error>

#include "orchestrator/base/error.h"

namespace forge {

std::string absolute_path(const std::string& path) {
  if (path.empty()) throw public_failure(ErrorCode::invalid_argument, "a path is empty");
  const std::string folder = path.starts_with('/') ? "/" : current_directory();
  if (folder.empty()) throw_current_directory_gone();
  std::string text = (std::filesystem::path(folder) / path).lexically_normal().string();
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

std::string current_directory() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::current_path(error);
  return error ? std::string() : folder.string();
}

void throw_current_directory_gone() {
  throw public_failure(ErrorCode::invalid_argument, "the current directory is gone")
      .with_hint("change to a directory that is there, or name the path from / on");
}

}  // namespace forge
