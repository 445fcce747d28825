#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/stop.h"
#include "orchestrator/sandbox/driver.h"

namespace forge::tools {

/// What a call may do: look, or change something.
enum class Access { reads, acts };
/// Who offers the tool to a model.
enum class Caller { agent, chat, mcp };

struct ToolSpec {
  std::string name;
  std::string description;  ///< for the model
  std::string schema_json;  ///< JSON Schema of the arguments object
  Access access = Access::acts;
  std::vector<Caller> callers;
};

/// What a call may use. References and pointers are valid during the call.
struct ToolContext {
  sandbox::Sandbox* sandbox = nullptr;  ///< null when the caller has none: only for tools that need none
  const Stop& stop;                     ///< the run's: its deadline also bounds the tool's own time-out
  std::function<void()> alive;          ///< called when something moves inside a long call; may be empty
};

/// What the model is told. A failure that the model can do something about is an outcome, not an exception.
struct ToolOutcome {
  bool ok = true;
  std::string text;              ///< valid UTF-8, bounded by the tool
  std::optional<int> exit_code;  ///< of a command; 128 + n for signal n
  bool truncated = false;        ///< `text` shows a part of what there is
  std::int64_t bytes = 0;        ///< size of what there is: output, file or content
};

/// Something a model may call. Thread-safe: one object serves many runs.
class Tool {
 public:
  virtual ~Tool() = default;
  virtual const ToolSpec& spec() const = 0;
  /// `arguments` has passed the schema. Throws cancelled, timed_out, unavailable (the sandbox is gone); any other Error becomes an outcome
  /// for the model in the registry.
  virtual ToolOutcome call(const nlohmann::json& arguments, const ToolContext& context) const = 0;
};

}  // namespace forge::tools
