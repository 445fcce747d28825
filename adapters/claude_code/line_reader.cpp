#include "adapters/claude_code/line_reader.h"

#include <utility>

#include "orchestrator/base/text.h"

namespace forge::adapters::claude_code {

void LineReader::keep(std::string_view part) {
  if (too_long_) return;
  too_long_ = part.size() > kMaxLineBytes - line_.size();
  if (too_long_) {
    std::string().swap(line_);
  } else {
    line_.append(part);
  }
}

std::string LineReader::next() {
  if (std::exchange(too_long_, false)) ++left_out_;
  const std::string line = std::exchange(line_, {});
  return to_utf8(trim(line)).text;
}

}  // namespace forge::adapters::claude_code
