#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/tool.h"

namespace forge::tools {

/// The tools there are, in the order they are offered. Thread-safe.
class Registry {
 public:
  /// Throws internal when two tools share a name or a schema does not compile.
  explicit Registry(std::vector<std::unique_ptr<Tool>> tools);
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// What `caller` may use, nothing stronger than `most`. The pointers live as long as the registry.
  std::vector<const ToolSpec*> specs(Caller caller, Access most = Access::acts) const;

  /// Checks the arguments and runs the tool. Unknown tools, tools of other callers, arguments that are not strict JSON or do not fit the
  /// schema, and failures inside a tool are outcomes that say what would be right. Throws cancelled, timed_out, unavailable.
  ToolOutcome call(Caller caller, const std::string& name, std::string_view arguments_json, const ToolContext& context) const;

 private:
  struct Entry;
  const Entry* find(Caller caller, const std::string& name) const;
  std::string unknown(Caller caller, const std::string& name) const;
  std::vector<Entry> entries_;
};

/// bash, read_file, write_file, edit_file: what acts in /workspace.
std::vector<std::unique_ptr<Tool>> workspace_tools(const std::vector<Caller>& callers);

/// An outcome of a call that did not do what was asked.
ToolOutcome failed(std::string text);

}  // namespace forge::tools
