#pragma once

#include <memory>
#include <vector>

#include "tools/tool.h"

namespace forge::tools {

/// {path, offset?, limit?}: the first lines from `offset` (1-based) that fit kMaxShownLines, kMaxShownBytes and `limit`; names the next
/// offset. Binary files are named as such and not shown.
std::unique_ptr<Tool> make_read_file(std::vector<Caller> callers);

}  // namespace forge::tools
