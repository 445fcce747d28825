#pragma once

#include <string>

#include "orchestrator/base/confined_dir.h"
#include "orchestrator/sandbox/driver.h"

namespace forge::sandbox::local {

/// What the upper layer of an overlay says about the tree below it, told to `sink`. The upper layer is hostile: it is counted and measured
/// before anything of it is read, and no process may write it any more. Throws limit_exceeded before the first change is told.
void read_changes(const ConfinedDir& upper, const ConfinedDir& lower, const ChangeLimits& limits, ChangeSink& sink, const Stop& stop);

}  // namespace forge::sandbox::local
