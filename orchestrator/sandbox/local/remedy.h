#pragma once

#include <string>
#include <string_view>

namespace forge::sandbox::local {

/// What to do when the launcher failed at `step` with `error`: " (...)" to put after the reason, or "".
std::string remedy_for_step(std::string_view step, int error);

/// What to do when a facility of the probe is missing; "" when nothing can be.
std::string remedy_for(std::string_view capability);

}  // namespace forge::sandbox::local
