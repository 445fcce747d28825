#include "orchestrator/sandbox/local/cgroup_pool.h"

#include <algorithm>
#include <iterator>

#include "orchestrator/base/error.h"

namespace forge::sandbox::local {
namespace {

constexpr std::size_t kReady = 3;
constexpr auto kBusyPause = std::chrono::milliseconds(20);
constexpr auto kLastTries = std::chrono::seconds(5);

/// rmdir answers EBUSY until the last task is reaped: again, with a pause, off everybody's path.
bool remove_patiently(Cgroup& group, const Stop& stop) {
  while (!group.remove()) {
    if (stop.cancelled() || stop.expired()) return false;
    try {
      pause(kBusyPause, stop);
    } catch (const Error&) {
      return group.remove();
    }
  }
  return true;
}

}  // namespace

CgroupPool::CgroupPool(CgroupLayout instance_layout, Log& log)
    : layout_(std::move(instance_layout)), log_(log), thread_([this](const std::stop_token& token) { tend(token); }) {}

CgroupPool::~CgroupPool() {
  thread_.request_stop();
  thread_.join();
  auto groups = groups_.lock();
  for (auto* list : {&groups->ready, &groups->returned}) {
    for (const auto& group : *list) remove_patiently(*group, Stop::after(kLastTries));
  }
}

std::unique_ptr<Cgroup> CgroupPool::make(const GroupLimits& limits) { return Cgroup::make(layout_, std::to_string(++made_), limits); }

std::unique_ptr<Cgroup> CgroupPool::take(const GroupLimits& limits) {
  {
    auto groups = groups_.lock();
    groups->wanted = limits;
    groups->asked = true;
    groups->broken = false;
    groups.notify_all();
    const auto fits = [&](const auto& group) { return group->limits() == limits; };
    const auto other = std::stable_partition(groups->ready.begin(), groups->ready.end(), fits);
    std::move(other, groups->ready.end(), std::back_inserter(groups->returned));  // nobody asks for these limits now
    groups->ready.erase(other, groups->ready.end());
    const auto found = groups->ready.begin();
    if (found != groups->ready.end()) {
      std::unique_ptr<Cgroup> taken = std::move(*found);
      groups->ready.erase(found);
      return taken;
    }
  }
  return make(limits);
}

void CgroupPool::give_back(std::unique_ptr<Cgroup> group) noexcept {
  if (!group) return;
  auto groups = groups_.lock();
  groups->returned.push_back(std::move(group));
  groups.notify_all();
}

void CgroupPool::tend(const std::stop_token& token) {
  while (!token.stop_requested()) {
    {
      auto groups = groups_.lock();
      const bool woken = groups.wait(
          token, [](const Groups& all) { return !all.returned.empty() || (all.asked && !all.broken && all.ready.size() < kReady); });
      if (!woken) return;
    }
    sort_returned(token);
    if (!refill()) groups_.lock()->broken = true;
  }
}

/// Empty ones with the wanted limits are ready again; the rest is removed.
void CgroupPool::sort_returned(const std::stop_token& token) {
  std::vector<std::unique_ptr<Cgroup>> returned;
  GroupLimits wanted;
  std::size_t ready = 0;
  {
    auto groups = groups_.lock();
    returned.swap(groups->returned);
    wanted = groups->wanted;
    ready = groups->ready.size();
  }
  for (std::unique_ptr<Cgroup>& group : returned) {
    if (group->reusable() && group->limits() == wanted && ready < kReady && group->empty()) {
      groups_.lock()->ready.push_back(std::move(group));
      ++ready;
    } else if (!remove_patiently(*group, Stop(token, SteadyClock::now() + kLastTries))) {
      log_.warn("a cgroup is still in use after its sandbox", {});
    }
  }
}

/// One group at a time, so that what comes back meanwhile is used first. False when none can be made.
bool CgroupPool::refill() {
  GroupLimits wanted;
  {
    auto groups = groups_.lock();
    if (!groups->asked || groups->broken || groups->ready.size() >= kReady) return true;
    wanted = groups->wanted;
  }
  try {
    std::unique_ptr<Cgroup> group = make(wanted);
    groups_.lock()->ready.push_back(std::move(group));
    return true;
  } catch (const Error& e) {
    log_.warn("making a cgroup ahead failed", {{"why", e.what()}});
    return false;
  }
}

}  // namespace forge::sandbox::local
