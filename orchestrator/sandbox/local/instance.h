#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/log.h"
#include "orchestrator/base/stop.h"

namespace forge::sandbox::local {

/// This process's directory below the run directory: locked while it lives, so that the next start can tell what a dead one left.
/// `lock` (flock), `cgroups` (parents of its groups, one per line), `etc-N/`, `trees/`.
class Instance {
 public:
  /// Makes the run directory too, mode 0700. Throws the errno of what failed.
  explicit Instance(const std::string& run_directory);
  /// Removes the directory.
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const std::string& id() const { return id_; }
  const std::string& directory() const { return directory_; }
  /// Written down before the groups exist, so that a crash at any moment leaves nothing unknown.
  void record_cgroups(const std::vector<std::string>& parents) const;

 private:
  std::string id_;
  std::string directory_;
  UniqueFd lock_;
};

/// Cleans up after instances whose lock can be taken: kills and removes their cgroups, removes their directories. What cannot be cleaned
/// in time stays for the next start; each is logged. Returns how many were dead. Never throws for a single instance's sake.
int sweep_dead_instances(const std::string& run_directory, Log& log, const Stop& stop);

}  // namespace forge::sandbox::local
