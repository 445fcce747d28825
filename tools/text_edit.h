#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/stop.h"

namespace forge::tools {

struct Edit {
  std::string old_text;
  std::string new_text;
};

/// Either `content`, or `problem` says for the model why nothing was changed.
struct Edited {
  std::string content;
  std::size_t first_line = 0;  ///< 1-based, the first line that changed
  std::string problem;
};

/// Applies all edits to `original`, bytes in any encoding, or none of them. Every old_text must stand in the original exactly once and no
/// two may overlap. Matching takes CRLF for LF; lines that an edit does not touch keep their own end, new lines take the end of the line
/// where the change begins. A byte order mark stays. Each edit takes time linear in the text; throws what `stop` says.
Edited apply_edits(std::string_view original, const std::vector<Edit>& edits, const Stop& stop);

}  // namespace forge::tools
