#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/git/handles.h"
#include "orchestrator/git/repository_cache.h"

namespace forge::git {

/// New objects on their way into a mirror. They gather in memory, and go to the disk as loose files when they are few, else as packs: a
/// hundred thousand files each with a name of its own would cost the most of the whole commit. A large blob streams straight to the disk.
class ObjectStage {
 public:
  explicit ObjectStage(const std::string& git_dir);

  /// Sees all objects, and stages what is written through it; tell note() of those.
  git_repository* repository() const { return repository_.get(); }
  void note(const git_oid& id) { staged_.push_back(id); }

  /// Nothing when `read` ends before `size` bytes.
  std::optional<git_oid> write_blob(std::int64_t size, const CommitBuilder::Read& read);
  git_oid write_blob(const std::string& text);

  /// Returns when all objects are on the disk: what a state in the database points at must survive a power cut.
  void finish();

 private:
  std::optional<git_oid> stream_blob(std::int64_t size, const CommitBuilder::Read& read);
  void flush_to_pack();
  void flush_to_files();

  std::string git_dir_;
  Repository repository_;
  Odb odb_;                  // with the staged objects
  git_odb_backend* memory_;  // owned by odb_
  Repository plain_;         // without them
  Odb plain_odb_;
  std::vector<git_oid> staged_;  // in memory now
  std::int64_t staged_bytes_ = 0;
};

/// Waits until a loose reference is on the disk.
void sync_reference(const std::string& git_dir, const std::string& name);

/// Packs built through this handle hold whole objects: searching for deltas costs more than all else, and these packs stay on this machine.
void without_deltas(git_repository* mirror, const std::string& git_dir);
/// Makes the file that without_deltas() reads; once, when the mirror is made.
void write_pack_settings(const std::string& git_dir);

}  // namespace forge::git
