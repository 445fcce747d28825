#include "tools/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"
#include "orchestrator/schema/schema.h"
#include "tools/bash.h"
#include "tools/edit_file.h"
#include "tools/read_file.h"
#include "tools/write_file.h"

namespace forge::tools {

struct Registry::Entry {
  std::unique_ptr<Tool> tool;
  schema::Schema schema;

  /// Tools of another caller do not exist for this one, also by name.
  bool serves(Caller caller) const {
    const auto& callers = tool->spec().callers;
    return std::find(callers.begin(), callers.end(), caller) != callers.end();
  }
};

namespace {

/// These end the run, or its caller decides; the model can do nothing about them.
bool ends_the_run(ErrorCode code) { return code == ErrorCode::cancelled || code == ErrorCode::timed_out || code == ErrorCode::unavailable; }

/// Strict JSON, or nothing and `why`. "" means no arguments.
std::optional<nlohmann::json> parse_arguments(std::string_view text, std::string& why) {
  try {
    return parse_json(trim(text).empty() ? "{}" : text, "the arguments");
  } catch (const Error& e) {
    if (e.code() != ErrorCode::invalid_argument) throw;
    why = e.what();
    return {};
  }
}

}  // namespace

ToolOutcome failed(std::string text) { return {.ok = false, .text = std::move(text), .exit_code = {}, .truncated = false, .bytes = 0}; }

Registry::Registry(std::vector<std::unique_ptr<Tool>> tools) {
  for (auto& tool : tools) {
    const ToolSpec& spec = tool->spec();
    const auto same_name = [&](const Entry& other) { return other.tool->spec().name == spec.name; };
    if (std::any_of(entries_.begin(), entries_.end(), same_name))
      throw Error(ErrorCode::internal, fmt::format("two tools are named '{}'", spec.name));
    try {
      schema::Schema compiled = schema::Schema::compile(spec.schema_json);
      entries_.push_back({std::move(tool), std::move(compiled)});
    } catch (const Error& e) {
      throw Error(ErrorCode::internal, fmt::format("the schema of the tool '{}': {}", spec.name, e.what()));
    }
  }
}

Registry::~Registry() = default;

std::vector<const ToolSpec*> Registry::specs(Caller caller, Access most) const {
  std::vector<const ToolSpec*> found;
  for (const Entry& entry : entries_) {
    if (!entry.serves(caller) || entry.tool->spec().access > most) continue;
    found.push_back(&entry.tool->spec());
  }
  return found;
}

const Registry::Entry* Registry::find(Caller caller, const std::string& name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.tool->spec().name == name && entry.serves(caller); });
  return found == entries_.end() ? nullptr : &*found;
}

/// For the model: what it asked for, what it may have meant, what there is.
std::string Registry::unknown(Caller caller, const std::string& name) const {
  std::vector<std::string> names;
  for (const ToolSpec* spec : specs(caller)) names.push_back(spec->name);
  const std::string near = nearest(name, names);
  const std::string guess = near.empty() ? "" : fmt::format("did you mean '{}'? ", near);
  return fmt::format("There is no tool '{}': {}The tools are: {}.", to_utf8(name).text, guess, fmt::join(names, ", "));
}

ToolOutcome Registry::call(Caller caller, const std::string& name, std::string_view arguments_json, const ToolContext& context) const {
  const Entry* entry = find(caller, name);
  if (entry == nullptr) return failed(unknown(caller, name));
  std::string why;
  const std::optional<nlohmann::json> arguments = parse_arguments(arguments_json, why);
  if (!arguments)
    return failed(fmt::format("Nothing was run: {}. Send one JSON object that fits this schema: {}", why, entry->tool->spec().schema_json));
  // All errors at once: a model that hears one at a time spends a turn on each.
  const std::vector<std::string> wrong = entry->schema.errors(*arguments);
  if (!wrong.empty()) return failed(fmt::format("Nothing was run, the arguments of {} are wrong:\n- {}", name, fmt::join(wrong, "\n- ")));
  try {
    return entry->tool->call(*arguments, context);
  } catch (const Error& e) {
    if (ends_the_run(e.code())) throw;
    return failed(fmt::format("{} failed: {}", name, to_utf8(e.what()).text));
  }
}

// The order is the one in which models see them: the most general first.
std::vector<std::unique_ptr<Tool>> workspace_tools(const std::vector<Caller>& callers) {
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(make_bash(callers));
  tools.push_back(make_read_file(callers));
  tools.push_back(make_write_file(callers));
  tools.push_back(make_edit_file(callers));
  return tools;
}

}  // namespace forge::tools
