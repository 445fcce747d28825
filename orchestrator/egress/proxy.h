#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/log.h"
#include "orchestrator/domain/limits.h"
#include "orchestrator/domain/trace.h"
#include "orchestrator/egress/host_rules.h"
#include "orchestrator/egress/resolver.h"

namespace forge::egress {

struct ProxyLimits {
  std::size_t max_head_bytes = 16 << 10;
  std::size_t max_connections = 128;   ///< at once; more wait in the listener's queue
  std::int64_t max_bytes = 4LL << 30;  ///< both directions of all connections together
  std::chrono::milliseconds head_time = std::chrono::seconds(10);
  std::chrono::milliseconds connect_time = std::chrono::seconds(20);  ///< to find the address and connect
  std::chrono::milliseconds idle_time = std::chrono::minutes(5);      ///< without a byte in either direction
};

struct ProxyOptions {
  HostRules allow;
  HostRules deny;  ///< wins over allow
  ProxyLimits limits;
  Resolve resolve;                       ///< empty: system_resolver()
  bool allow_private_for_tests = false;  ///< lets tests dial servers of their own on loopback
};

/// The way out of one sandbox: an HTTP proxy (CONNECT, and http:// in absolute form) for the hosts that the rules name. It resolves names
/// itself, refuses addresses that are not public, and dials exactly the address that it checked, so that no answer of a name server leads
/// into the host's network. Every decision goes to the trace; a refusal tells the client how to allow the host.
/// Serves from construction to destruction, on two threads of its own.
class Proxy {
 public:
  /// `listener` is a listening socket. `trace` may be null; `trace` and `log` outlive the proxy. Should the trace fail, the proxy stops
  /// serving: nothing passes unseen.
  Proxy(UniqueFd listener, ProxyOptions options, TraceSink* trace, Log& log);
  /// Closes all connections and joins the threads.
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

/// What makes programs inside use the proxy: HTTP_PROXY and its sisters in both cases, NO_PROXY for loopback, and the variables of npm,
/// pip, git and Node.
std::vector<std::pair<std::string, std::string>> proxy_environment();

}  // namespace forge::egress
