#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "tools/tool.h"

namespace forge::tools {

/// Largest file that read_file and edit_file take, and largest content of write_file.
inline constexpr std::size_t kMaxFileBytes = 10 << 20;
inline constexpr std::size_t kMaxPathBytes = 4096;
/// U+FEFF in UTF-8: at the begin of a file it is no part of the text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Absolute path inside of what the model wrote: relative to /workspace, or absolute. Links and ".." are left to the sandbox, which
/// confines them. Throws invalid_argument for an empty path, a NUL byte or more than kMaxPathBytes.
std::string inside_path(std::string_view path);

/// Runs `body` on the file; failures that the model can mend become an outcome that names `path` as the model wrote it.
ToolOutcome on_file(std::string_view path, const std::function<ToolOutcome(const std::string& inside)>& body);

/// `path` as one word of a shell command.
std::string shell_word(std::string_view path);

}  // namespace forge::tools
