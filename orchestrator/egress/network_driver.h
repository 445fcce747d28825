#pragma once

#include <memory>

#include "orchestrator/base/log.h"
#include "orchestrator/egress/proxy.h"
#include "orchestrator/sandbox/driver.h"

namespace forge::egress {

struct NetworkDriverOptions {
  HostRules deny;  ///< hosts that no sandbox reaches, whatever its spec says
  ProxyLimits limits;
  Resolve resolve;  ///< empty: system_resolver()
  bool allow_private_for_tests = false;
};

/// A driver whose sandboxes reach the hosts that their spec's network policy names, through a proxy that lives as long as the sandbox runs;
/// spec.trace hears its decisions. Without a policy it is the inner driver. Thread-safe as that one.
/// acquire() throws bad_input("network.allow_hosts[i]") for what is no host or none that the proxy dials, beside the errors of `inner`.
/// `log` outlives the sandboxes.
std::unique_ptr<sandbox::SandboxDriver> make_network_driver(std::unique_ptr<sandbox::SandboxDriver> inner, NetworkDriverOptions options,
                                                            Log& log);

}  // namespace forge::egress
