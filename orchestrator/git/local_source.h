#pragma once

#include <string>

#include "orchestrator/base/stop.h"
#include "orchestrator/git/handles.h"
#include "orchestrator/git/remote_refs.h"

namespace forge::git {

/// A repository of this machine, named by its path and opened there: its work tree or its git directory, nothing is searched above.
class LocalSource {
 public:
  /// Throws not_found (no such directory), invalid_argument (not a repository, or one with a FIFO or device where git would read),
  /// unsupported (SHA-256, partial clone), permission_denied, cancelled, timed_out.
  static LocalSource open(const std::string& path, const Stop& stop);

  git_repository* repository() const { return repository_.get(); }
  /// With links resolved: the name of its mirror.
  const std::string& path() const { return path_; }
  /// What holds objects and references; shared by linked work trees.
  std::string git_dir() const;
  std::string objects_dir() const { return git_dir() + "objects"; }
  bool is_bare() const;
  /// History is cut off, so a walk over it fails.
  bool is_shallow() const;
  /// Objects of another repository are part of this one.
  bool has_alternates() const;

  RemoteRefs refs(const std::string& named) const;

 private:
  LocalSource(Repository repository, std::string path) : repository_(std::move(repository)), path_(std::move(path)) {}
  Repository repository_;
  std::string path_;
};

/// Files of the source's work tree that differ from its HEAD: staged, changed, deleted, or new and not ignored (a new directory counts as
/// one). Compares what stat() says with the index and reads no file, so it is quick; a file that was only touched counts. At most `most`.
std::int64_t count_uncommitted(const LocalSource& source, std::int64_t most, const Stop& stop);

}  // namespace forge::git
