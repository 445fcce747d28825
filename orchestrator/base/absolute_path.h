#pragma once

#include <string>

namespace forge {

/// `path` from the root on, without "." and "..", and without a trailing slash, so that paths below it can be joined by "/". Throws
/// invalid_argument when it is empty, or relative and the current directory was deleted.
std::string absolute_path(const std::string& path);
/// The current directory; empty when it was deleted, which only what is relative to it needs to mind.
std::string current_directory();
/// What those who need it throw then.
[[noreturn]] void throw_current_directory_gone();

}  // namespace forge
