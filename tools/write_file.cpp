#include "tools/write_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/registry.h"
#include "tools/workspace_file.h"

namespace forge::tools {
namespace {

// Names the other tool: whole-file rewrites of long files are where models drop lines.
constexpr const char* kWriteDescription =
    "Write a whole file: a new one, with its parent directories, or in place of what was there. To change a part of a file use edit_file.";

constexpr const char* kWriteSchema = R"({
  "type": "object",
  "additionalProperties": false,
  "required": ["path", "content"],
  "properties": {
    "path": {"type": "string", "minLength": 1, "description": "Relative to /workspace, or absolute"},
    "content": {"type": "string", "description": "The whole content"}
  }
})";

/// Has no memory of what was read: whoever replaces a file says so by its name.
class WriteFile final : public Tool {
 public:
  explicit WriteFile(std::vector<Caller> callers)
      : spec_{"write_file", kWriteDescription, kWriteSchema, Access::acts, std::move(callers)} {}
  const ToolSpec& spec() const override { return spec_; }

  ToolOutcome call(const nlohmann::json& arguments, const ToolContext& context) const override {
    const auto& path = arguments.at("path").get_ref<const std::string&>();
    const auto& content = arguments.at("content").get_ref<const std::string&>();
    if (content.size() > kMaxFileBytes)
      return failed(fmt::format("The content is larger than {} bytes: write it in parts with bash.", kMaxFileBytes));
    return on_file(path, [&](const std::string& inside) {
      context.sandbox->write_file(inside, content, context.stop);
      ToolOutcome outcome;
      outcome.text = fmt::format("Wrote {} bytes to {}.", content.size(), path);
      outcome.bytes = static_cast<std::int64_t>(content.size());
      return outcome;
    });
  }

 private:
  ToolSpec spec_;
};

}  // namespace

std::unique_ptr<Tool> make_write_file(std::vector<Caller> callers) { return std::make_unique<WriteFile>(std::move(callers)); }

}  // namespace forge::tools
