#pragma once

#include <string_view>

namespace forge::assembly {

/// What web/scripts/build.mjs packed, embedded when Forge was built; empty when it was built without the dashboard.
std::string_view dashboard_pack();

}  // namespace forge::assembly
