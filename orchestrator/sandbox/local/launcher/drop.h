#pragma once

#include <span>

#include "orchestrator/sandbox/local/plan.h"

namespace forge::sandbox::local::launcher {

/// Becomes the root of the outer user namespace (whose uid 0 is the job's uid on the host) and leaves every supplementary group.
void become_namespace_root(const Identity& identity);

/// Enters the inner user namespace, in which the only user is 1000: with all capabilities there it still owns none of the mount, network
/// or pid namespaces around it.
void enter_inner_namespace();

/// Gives up everything, in the one order that works: descriptors from `first_closed` on, session, limits, capabilities, no_new_privs,
/// the death signal (credential changes clear it, so it comes after the last one), system calls. `filters` are classic BPF programs,
/// laid end to end, each after its length.
void drop_everything(const ResourceLimits& limits, std::span<const char> filters, unsigned first_closed);

}  // namespace forge::sandbox::local::launcher
