#pragma once

#include <string>

#include "orchestrator/base/stop.h"

namespace forge::git {

/// Gives `to_objects` every object file of `from_objects`, as hard links where the file system allows and copies elsewhere: both sides
/// never change such a file, and the source may remove its name at any time. Only regular files with the names of packs and loose objects
/// are taken; links are not followed. What is there already stays. Throws cancelled, timed_out, limit_exceeded (no space).
void link_objects(const std::string& from_objects, const std::string& to_objects, const Stop& stop);

}  // namespace forge::git
