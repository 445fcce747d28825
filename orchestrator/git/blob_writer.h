#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/git/handles.h"
#include "orchestrator/git/repository_cache.h"

namespace forge::git {

/// Puts blobs into a mirror as they stream in, and can wait until they are on the disk.
class BlobWriter {
 public:
  explicit BlobWriter(git_repository* mirror) : odb_(odb_of(mirror)) {}

  /// Nothing when `read` ends before `size` bytes. At most 64 KiB are in memory.
  std::optional<git_oid> write(std::int64_t size, const CommitBuilder::Read& read);
  git_oid write(const std::string& text);

 private:
  Odb odb_;
};

/// Returns when these loose objects of the mirror are on the disk: what a state in the database points at must survive a power cut.
void sync_objects(const std::string& git_dir, const std::vector<git_oid>& objects);
/// The same for a loose reference.
void sync_reference(const std::string& git_dir, const std::string& name);

}  // namespace forge::git
