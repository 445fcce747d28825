#pragma once

#include <string>
#include <string_view>

#include "orchestrator/base/stop.h"

namespace forge::tools {

/// For an edit whose text was not found: where `text` comes nearest to `wanted`, as one or a few sentences with line numbers for the model.
/// Lines that agree but for blanks at their ends come first, then the most similar single lines. Looks at 100,000 lines at most.
/// Throws what `stop` says.
std::string describe_nearest(std::string_view text, std::string_view wanted, const Stop& stop);

}  // namespace forge::tools
