#include "tools/edit_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/registry.h"
#include "tools/text_edit.h"
#include "tools/workspace_file.h"

namespace forge::tools {
namespace {

// The rules of apply_edits in the words of a caller.
constexpr const char* kEditDescription =
    "Change parts of a file. Each old_text must stand in the file exactly once, blanks included; all edits of a call match the file as it "
    "is "
    "before the call and may not overlap. Either all edits are made or none. Take enough lines around a change to make old_text unique, "
    "and no more.";

constexpr const char* kEditSchema = R"({
  "type": "object",
  "additionalProperties": false,
  "required": ["path", "edits"],
  "properties": {
    "path": {"type": "string", "minLength": 1, "description": "Relative to /workspace, or absolute"},
    "edits": {"type": "array", "minItems": 1, "maxItems": 100, "items": {
      "type": "object",
      "additionalProperties": false,
      "required": ["old_text", "new_text"],
      "properties": {
        "old_text": {"type": "string", "description": "Exact text that stands once in the file"},
        "new_text": {"type": "string", "description": "What stands there afterwards"}
      }
    }}
  }
})";

class EditFile final : public Tool {
 public:
  explicit EditFile(std::vector<Caller> callers) : spec_{"edit_file", kEditDescription, kEditSchema, Access::acts, std::move(callers)} {}
  const ToolSpec& spec() const override { return spec_; }

  ToolOutcome call(const nlohmann::json& arguments, const ToolContext& context) const override {
    const auto& path = arguments.at("path").get_ref<const std::string&>();
    std::vector<Edit> edits;
    for (const nlohmann::json& edit : arguments.at("edits")) edits.push_back({edit.at("old_text"), edit.at("new_text")});
    return on_file(path, [&](const std::string& inside) {
      // Read and written within one call: a command of the agent cannot change the file in between.
      const Edited edited = apply_edits(context.sandbox->read_file(inside, kMaxFileBytes, context.stop), edits, context.stop);
      if (!edited.problem.empty()) return failed("Nothing was changed. " + edited.problem);
      if (edited.content.size() > kMaxFileBytes)
        return failed(fmt::format("Nothing was changed: the file would be larger than {} bytes.", kMaxFileBytes));
      context.sandbox->write_file(inside, edited.content, context.stop);
      ToolOutcome outcome;
      outcome.text = fmt::format("Made {} edit{} in {}; the first changed line is {}.", edits.size(), edits.size() == 1 ? "" : "s", path,
                                 edited.first_line);
      outcome.bytes = static_cast<std::int64_t>(edited.content.size());
      return outcome;
    });
  }

 private:
  ToolSpec spec_;
};

}  // namespace

std::unique_ptr<Tool> make_edit_file(std::vector<Caller> callers) { return std::make_unique<EditFile>(std::move(callers)); }

}  // namespace forge::tools
