#pragma once

#include <map>
#include <memory>

#include "orchestrator/base/guarded.h"
#include "orchestrator/domain/job_control.h"

namespace forge::jobs {

/// Who hears the events of all runs. A listener is called under its own lock, so that after its handle died it is never called again;
/// it must therefore not drop its handle from inside the call.
class Listeners {
 public:
  std::shared_ptr<void> add(JobControl::Listener listener);
  void tell(const JobId& job, const TraceEvent& event);

 private:
  struct Entry {
    Guarded<JobControl::Listener> call;
  };
  /// Shared with the handles, which may outlive this object.
  struct Registry {
    std::uint64_t next = 0;
    std::map<std::uint64_t, std::shared_ptr<Entry>> entries;
  };
  std::shared_ptr<Guarded<Registry>> registry_ = std::make_shared<Guarded<Registry>>();
};

}  // namespace forge::jobs
