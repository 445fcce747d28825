#include "orchestrator/jobs/listeners.h"

#include <utility>
#include <vector>

namespace forge::jobs {

std::shared_ptr<void> Listeners::add(JobControl::Listener listener) {
  auto entry = std::make_shared<Entry>();
  *entry->call.lock() = std::move(listener);
  std::uint64_t key = 0;
  {
    auto registry = registry_->lock();
    key = registry->next++;
    registry->entries[key] = entry;
  }
  const auto leave = [registry = registry_, key, entry](void*) {
    registry->lock()->entries.erase(key);
    *entry->call.lock() = nullptr;  // waits for a call that is under way
  };
  return std::shared_ptr<void>(nullptr, leave);
}

void Listeners::tell(const JobId& job, const TraceEvent& event) {
  std::vector<std::shared_ptr<Entry>> entries;
  {
    auto registry = registry_->lock();
    for (const auto& [key, entry] : registry->entries) entries.push_back(entry);
  }
  for (const auto& entry : entries) {
    auto call = entry->call.lock();
    if (*call) (*call)(job, event);
  }
}

}  // namespace forge::jobs
