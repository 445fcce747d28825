#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/models/model.h"

namespace forge::models {

struct ScriptTool {
  std::string id;  ///< "" = the player makes one
  std::string name;
  std::string arguments;  ///< JSON text; what the script gave as `raw_input` may be anything
};

struct ScriptError {
  int status = 0;
  std::optional<std::int64_t> retry_after_ms;
  std::int64_t times = 0;  ///< how many attempts of the step fail; 0 = every one
};

/// One answer of a scripted model.
struct ScriptStep {
  std::string text;
  std::string thinking;
  std::vector<ScriptTool> tools;
  Usage usage;
  StopReason stop = StopReason::end_turn;
  std::int64_t delay_ms = 0;
  std::optional<ScriptError> error;
  bool cut = false;
};

/// Reads a script (docs/scripted-models.md). Throws bad_input: the message names `origin`, the field is "[step].field", steps counted from
/// 0.
std::vector<ScriptStep> parse_script(std::string_view json_text, const std::string& origin);

inline constexpr std::size_t kMostScriptBytes = 16 << 20;
/// The same from a file of at most kMostScriptBytes (limit_exceeded); not_found when it cannot be read or is no file.
std::vector<ScriptStep> load_script(const std::string& file);

}  // namespace forge::models
