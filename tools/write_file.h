#pragma once

#include <memory>
#include <vector>

#include "tools/tool.h"

namespace forge::tools {

/// {path, content}: makes parents, replaces what was there, reports bytes. At most kMaxFileBytes.
std::unique_ptr<Tool> make_write_file(std::vector<Caller> callers);

}  // namespace forge::tools
