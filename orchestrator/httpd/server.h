#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "orchestrator/base/log.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/httpd/event_hub.h"
#include "orchestrator/httpd/guard.h"
#include "orchestrator/httpd/listener.h"
#include "orchestrator/httpd/site.h"

namespace forge::httpd {

/// Each deadline bounds a whole step and not one read or write, so that a client which drips cannot stretch it.
struct ServerOptions {
  std::size_t threads = 32;                         ///< handlers that run at once; a thread is made when the first one needs it
  std::size_t max_connections = 4096;               ///< event streams not counted
  std::size_t max_per_address = 256;                ///< loopback not counted
  std::size_t max_waiting = 512;                    ///< complete requests without a thread; more get 503
  std::size_t max_bodies_bytes = 256 << 20;         ///< of all bodies that are awaited or served at once; more get 503, a single one never
  std::chrono::milliseconds head_deadline{10'000};  ///< from a head's first byte to its last
  std::chrono::milliseconds body_deadline{60'000};  ///< for the whole body
  std::chrono::milliseconds handler_deadline{120'000};
  std::chrono::milliseconds write_deadline{60'000};  ///< for a whole answer; for each piece of a written one
  std::chrono::milliseconds idle{30'000};            ///< between two requests of a connection
  std::chrono::milliseconds linger{2'000};
  /// A handler's Stop is cancelled when its client closes, also one that only closes its sending side. For sites whose answers cost
  /// something while nobody waits for them; not for event streams.
  bool stop_when_client_leaves = false;
  HeadLimits head;
};

/// The HTTP/1.1 server. One front thread reads, sends what was not taken at once, and keeps idle connections, so that a slow or idle
/// client costs a descriptor and no thread; workers run handlers; event streams leave for the hub.
class Server {
 public:
  /// `site`, `hub` and `log` must outlive the server. It serves as soon as a listener is added.
  Server(const ServerOptions& options, Site& site, EventHub& hub, Log& log);
  /// For a site without event streams.
  Server(const ServerOptions& options, Site& site, Log& log);
  /// Stops without grace if stop() was not called.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Returns a number for remove_listener. Safe from any thread.
  std::uint64_t add_listener(Listener listener);
  /// Closes the listener and the idle connections that came through it; requests under way are answered. Safe from any thread.
  void remove_listener(std::uint64_t id);

  /// The graceful end: no new connections, 503 for new requests, streams end with a final event, requests under way are answered
  /// until `stop` ends; what then still runs is cut. Returns when all threads are joined. Safe to call twice.
  void stop(const Stop& stop);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace forge::httpd
