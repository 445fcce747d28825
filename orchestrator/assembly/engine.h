#pragma once

#include <memory>
#include <string>

#include "orchestrator/assembly/data_lock.h"
#include "orchestrator/base/log.h"
#include "orchestrator/base/redactor.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/config/config.h"

namespace forge::assembly {

struct EngineOptions {
  bool work = true;  ///< hand out queued runs; false: only answer
  bool tcp = false;  ///< listen on server.listen beside the unix socket
};

/// All of Forge on one data directory: store, drivers, git, models, jobs, and its HTTP door on the unix socket. Destroying it interrupts
/// what still runs. The only place that names the concrete parts and their order.
class Engine {
 public:
  /// Throws what the parts do: a corrupt or newer database, a taken port, a bad price file ...
  Engine(const config::Config& config, DataLock lock, const EngineOptions& options, const Redactor& redactor, Log& log);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const std::string& socket() const;
  /// "http://127.0.0.1:8700", or the public URL; empty without tcp.
  const std::string& url() const;
  /// A one-time link that signs a browser in as administrator.
  std::string sign_in_url();
  /// Runs that have not ended, queued ones included.
  std::size_t live_runs();
  /// Waits until no run lives. Throws cancelled or timed_out.
  void wait_until_idle(const Stop& stop);
  /// Takes no new work and lets live runs and requests end until `stop` ends the wait.
  void shut_down(const Stop& stop);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace forge::assembly
