#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tools/tool.h"

namespace forge::tools {

inline constexpr std::size_t kMaxEdits = 100;

/// {path, edits: [{old_text, new_text}]}: all edits or none, by the rules of apply_edits.
std::unique_ptr<Tool> make_edit_file(std::vector<Caller> callers);

}  // namespace forge::tools
