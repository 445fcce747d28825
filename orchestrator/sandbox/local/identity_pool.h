#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/sandbox/local/plan.h"

namespace forge::sandbox::local {

/// Ids of jobs. Root gives each live sandbox a real uid and gid of its own from a block that no other instance on this machine uses
/// (2,000,000 and up, 1,000 per instance, held by a lock file); a plain user has only its own.
class IdentityPool {
 public:
  static constexpr std::uint32_t kFirst = 2'000'000;
  static constexpr std::uint32_t kBlock = 1'000;
  static constexpr std::uint32_t kBlocks = 100;

  /// `lock_directory` is shared by all instances of the machine ("/run/forge/uids"). Without the right to map such ids: own id.
  explicit IdentityPool(const std::string& lock_directory);

  /// Throws sandbox_unavailable when all ids of the block are in use.
  Identity take();
  void give_back(const Identity& identity) noexcept;
  bool pooled() const { return static_cast<bool>(lock_); }

 private:
  UniqueFd lock_;
  std::uint32_t first_ = 0;
  Guarded<std::vector<bool>> used_;
};

/// Whether this process is root over ids 2,000,000 and up: not so in a container that maps 65,536 ids, nor without CAP_SETUID.
bool may_give_identities();

}  // namespace forge::sandbox::local
