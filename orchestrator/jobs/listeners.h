#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "orchestrator/base/guarded.h"

namespace forge::jobs {

/// Who hears something. A listener is called under its own lock, so that after its handle died it is never called again; it must
/// therefore not drop its handle from inside the call. Thread-safe.
template <typename... Told>
class Listeners {
 public:
  using Listener = std::function<void(Told...)>;

  /// The listener lives until the handle dies.
  std::shared_ptr<void> add(Listener listener) {
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

  void tell(Told... told) {
    std::vector<std::shared_ptr<Entry>> entries;
    {
      auto registry = registry_->lock();
      for (const auto& [key, entry] : registry->entries) entries.push_back(entry);
    }
    for (const auto& entry : entries) {
      auto call = entry->call.lock();
      if (*call) (*call)(told...);
    }
  }

 private:
  struct Entry {
    Guarded<Listener> call;
  };
  /// Shared with the handles, which may outlive this object.
  struct Registry {
    std::uint64_t next = 0;
    std::map<std::uint64_t, std::shared_ptr<Entry>> entries;
  };
  std::shared_ptr<Guarded<Registry>> registry_ = std::make_shared<Guarded<Registry>>();
};

}  // namespace forge::jobs
