#include "orchestrator/sandbox/local/holding.h"

#include "orchestrator/base/confined_dir.h"

namespace forge::sandbox::local {

Holding::Holding(CgroupPool& groups, IdentityPool& identities, Log& log)
    : groups_(groups), identities_(identities), log_(log), identity_(identities.take()) {}

void Holding::give_back() noexcept {
  if (std::exchange(given_back_, true)) return;
  groups_.give_back(std::move(group_));
  if (!tree_.empty()) clean_up_tree(tree_, log_);
  if (!spent_) identities_.give_back(identity_);
}

}  // namespace forge::sandbox::local
