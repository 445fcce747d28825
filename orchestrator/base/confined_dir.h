#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "orchestrator/base/fd.h"

namespace forge {

class Log;

/// A directory whose content is hostile. The host touches files below it by path only through this class: every open uses
/// openat2 with RESOLVE_BENEATH, NO_SYMLINKS and NO_MAGICLINKS, so that no name, link or race leads out of it; FIFOs, devices and
/// sockets are refused without being opened for I/O. Names are bytes: newline and non-UTF-8 are fine, NUL is not.
class ConfinedDir {
 public:
  /// Holds an O_PATH descriptor of `path`; later changes of the path itself do not matter.
  static ConfinedDir open(const std::string& path);
  explicit ConfinedDir(UniqueFd directory) : directory_(std::move(directory)) {}

  struct Entry {
    std::string path;    ///< relative to the directory, '/' between components
    struct stat status;  ///< of the entry itself, links not followed
  };
  /// Walks everything below `path` ("" = all) depth first, a directory before its content, names in byte order. `visit` returns
  /// false to leave a directory's content out. Throws limit_exceeded after `max_entries`.
  /// A directory that cannot be read is reported through `visit_unreadable` (may be empty) and skipped.
  void walk(const std::string& path, std::size_t max_entries, const std::function<bool(const Entry&)>& visit,
            const std::function<void(const std::string&)>& visit_unreadable = {}) const;

  /// A regular file, open for reading, not yet read. Throws not_found, permission_denied, or invalid_argument for anything else than
  /// a regular file or a path that leads out.
  UniqueFd open_file(const std::string& path) const;
  /// Whole file; throws limit_exceeded past `max_bytes`.
  std::string read_file(const std::string& path, std::size_t max_bytes) const;
  std::string read_link(const std::string& path) const;
  struct stat status(const std::string& path) const;
  /// Extended attribute of the entry itself; empty when there is none.
  std::string attribute(const std::string& path, const std::string& name) const;
  bool exists(const std::string& path) const;

  int fd() const { return directory_.get(); }

 private:
  UniqueFd directory_;
};

/// Opens `path` below `directory` as ConfinedDir does: no link is followed and nothing leads out; mounts below are entered.
/// `flags` as for open() without O_CREAT; close-on-exec. Throws like ConfinedDir::open_file.
UniqueFd open_beneath(int directory, const std::string& path, int flags);

/// Removes `path` and all below it without following links. Nothing happens when it does not exist.
void remove_tree(const std::string& path);
/// The same beside another failure, or where nobody waits for it: what goes wrong is logged, so that it never hides the first error.
void clean_up_tree(const std::string& path, Log& log) noexcept;

}  // namespace forge
