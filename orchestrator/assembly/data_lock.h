#pragma once

#include <memory>
#include <optional>
#include <string>

#include "orchestrator/base/fd.h"

namespace forge::assembly {

/// What has a data directory, as far as others must know.
enum class Holder {
  server,   ///< `forge serve`: comes back when it is started again
  command,  ///< a verb that works without a server, and ends with its work
};

/// The right to a data directory: one process has it, as long as this lives. The kernel gives it back when the process dies.
class DataLock {
 public:
  /// Makes the directory (mode 0700) and takes its lock; nothing when another process has it.
  /// Throws permission_denied, not_found (a parent is missing or not a directory), invalid_argument (it serves something else), with a
  /// client text.
  static std::optional<DataLock> take(const std::string& data_dir, Holder holder);
  /// What took the directory last; a command when nothing can be read.
  static Holder last_holder(const std::string& data_dir);

 private:
  explicit DataLock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace forge::assembly
