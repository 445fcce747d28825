#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "orchestrator/base/guarded.h"
#include "orchestrator/base/log.h"
#include "orchestrator/sandbox/local/cgroup.h"

namespace forge::sandbox::local {

/// Cgroups made and limited ahead, and taken back when their sandbox is gone: making and removing them costs more than all namespaces
/// together, and happens on a thread of the pool. A group goes to another sandbox only when the
/// kernel says that it is empty and it was never killed.
class CgroupPool {
 public:
  CgroupPool(CgroupLayout instance_layout, Log& log);
  ~CgroupPool();

  /// Never waits for the thread: makes a group when none with these limits is ready. Throws sandbox_unavailable.
  std::unique_ptr<Cgroup> take(const GroupLimits& limits);
  void give_back(std::unique_ptr<Cgroup> group) noexcept;

 private:
  struct Groups {
    std::vector<std::unique_ptr<Cgroup>> ready;
    std::vector<std::unique_ptr<Cgroup>> returned;
    GroupLimits wanted;  // what was asked for last: kept ready
    bool asked = false;
    bool broken = false;  // making one ahead failed: the next take() says why
  };
  std::unique_ptr<Cgroup> make(const GroupLimits& limits);
  void tend(const std::stop_token& token);
  void sort_returned(const std::stop_token& token);
  bool refill();

  CgroupLayout layout_;
  Log& log_;
  Guarded<Groups> groups_;
  std::atomic<long> made_{0};
  std::jthread thread_;
};

}  // namespace forge::sandbox::local
