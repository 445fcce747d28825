#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "tools/tool.h"

namespace forge::tools {

inline constexpr std::chrono::seconds kDefaultBashTimeout{120};
/// One argument of a program may hold 128 KiB on Linux, with its NUL; a longer script belongs into a file.
inline constexpr std::size_t kMaxCommandBytes = 128 << 10;

/// {command, timeout_s?}: one shell per call in /workspace. Output of both streams in the order of arrival: head 20 % and tail 80 % of what
/// a model is shown, the whole in a file inside the sandbox. A non-zero exit, a time-out and a kill are outcomes with ok = false.
std::unique_ptr<Tool> make_bash(std::vector<Caller> callers);

}  // namespace forge::tools
