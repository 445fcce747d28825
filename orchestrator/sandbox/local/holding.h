#pragma once

#include <memory>
#include <string>

#include "orchestrator/base/log.h"
#include "orchestrator/sandbox/local/cgroup_pool.h"
#include "orchestrator/sandbox/local/identity_pool.h"

namespace forge::sandbox::local {

/// What one sandbox holds of the machine: a user id, a cgroup, maybe a copy of its work tree. It goes back on every way out, so this must
/// end after the last process of the sandbox, and before the pools.
class Holding {
 public:
  /// Takes a user id. Throws sandbox_unavailable when there is none.
  Holding(CgroupPool& groups, IdentityPool& identities, Log& log);
  ~Holding() { give_back(); }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

  const Identity& identity() const { return identity_; }
  /// Throws sandbox_unavailable.
  void take_group(const GroupLimits& limits) { group_ = groups_.take(limits); }
  /// Null before take_group() and after give_back().
  Cgroup* group() const { return group_.get(); }
  /// `directory`, which may not be there yet, is removed in the end.
  void take_tree(std::string directory) { tree_ = std::move(directory); }
  /// A process of this id may still live: nobody gets the id again.
  void spend_identity() noexcept { spent_ = true; }
  /// What fails is logged and hinders nothing else. Safe twice.
  void give_back() noexcept;

 private:
  CgroupPool& groups_;
  IdentityPool& identities_;
  Log& log_;
  Identity identity_;
  std::unique_ptr<Cgroup> group_;
  std::string tree_;
  bool spent_ = false;
  bool given_back_ = false;
};

}  // namespace forge::sandbox::local
