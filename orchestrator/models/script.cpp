#include "orchestrator/models/script.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"
#include "orchestrator/base/json_reader.h"

namespace forge::models {
namespace {

using nlohmann::json;

// Bounds that catch a slip of the pen; no honest script comes near them.
constexpr std::int64_t kMostDelayMs = 600'000;
constexpr double kMostRetryAfterS = 86'400;
constexpr std::int64_t kMostScriptTokens = 1'000'000'000;
constexpr std::int64_t kMostTimes = 1'000;

/// `input` is kept as compact JSON text, which is what a model would have streamed.
ScriptTool read_tool(const json& entry, const std::string& path) {
  JsonReader reader(entry, path);
  ScriptTool tool;
  tool.id = reader.optional_text("id").value_or("");
  tool.name = reader.text("name");
  const json* input = reader.find("input");
  const auto raw = reader.optional_text("raw_input");
  reader.finish();
  if (tool.name.empty()) throw bad_input(reader.path_of("name"), "the name is empty");
  if (input != nullptr && raw) throw bad_input(reader.path_of("raw_input"), "input and raw_input exclude each other");
  if (input != nullptr && !input->is_object()) throw bad_input(reader.path_of("input"), "expected an object", "raw_input takes any text");
  tool.arguments = raw ? *raw : input != nullptr ? dump_json(*input) : "{}";
  return tool;
}

std::vector<ScriptTool> read_tools(JsonReader& step) {
  std::vector<ScriptTool> tools;
  const json* list = step.find("tools");
  if (list == nullptr) return tools;
  if (!list->is_array()) throw bad_input(step.path_of("tools"), "expected an array of objects");
  for (const json& entry : *list) tools.push_back(read_tool(entry, fmt::format("{}[{}]", step.path_of("tools"), tools.size())));
  return tools;
}

Usage read_usage(JsonReader& step) {
  const json* entry = step.find("usage");
  if (entry == nullptr) return {};
  JsonReader reader(*entry, step.path_of("usage"));
  const auto count = [&](std::string_view key) { return reader.optional_integer(key, 0, kMostScriptTokens).value_or(0); };
  const Usage usage{
      .input = count("input"), .output = count("output"), .cache_read = count("cache_read"), .cache_write = count("cache_write")};
  reader.finish();
  return usage;
}

std::optional<ScriptError> read_script_error(JsonReader& step) {
  const json* entry = step.find("error");
  if (entry == nullptr) return {};
  JsonReader reader(*entry, step.path_of("error"));
  ScriptError error;
  error.status = static_cast<int>(reader.integer("status", 400, 599));
  if (const auto seconds = reader.optional_number("retry_after_s")) {
    if (*seconds < 0 || *seconds > kMostRetryAfterS) throw bad_input(reader.path_of("retry_after_s"), "expected 0 to 86400 seconds");
    error.retry_after_ms = static_cast<std::int64_t>(*seconds * 1000);
  }
  error.times = reader.optional_integer("times", 1, kMostTimes).value_or(0);
  reader.finish();
  return error;
}

StopReason read_stop(JsonReader& step, bool calls) {
  const auto name = step.optional_text("stop");
  if (!name) return calls ? StopReason::tool_use : StopReason::end_turn;
  const auto reason = parse_stop_reason(*name);
  if (!reason) {
    throw bad_input(step.path_of("stop"), "'" + *name + "' is not a stop reason",
                    "one of end_turn, tool_use, max_tokens, stop_sequence, pause_turn, refusal, context_overflow, other");
  }
  return *reason;
}

ScriptStep read_step(const json& entry, std::size_t number) {
  JsonReader reader(entry, fmt::format("[{}]", number));
  ScriptStep step;
  step.text = reader.optional_text("text").value_or("");
  step.thinking = reader.optional_text("thinking").value_or("");
  step.tools = read_tools(reader);
  step.usage = read_usage(reader);
  step.stop = read_stop(reader, !step.tools.empty());
  step.delay_ms = reader.optional_integer("delay_ms", 0, kMostDelayMs).value_or(0);
  step.error = read_script_error(reader);
  step.cut = reader.optional_flag("cut").value_or(false);
  reader.finish();
  return step;
}

}  // namespace

std::vector<ScriptStep> parse_script(std::string_view json_text, const std::string& origin) {
  try {
    const json whole = parse_json(json_text, "the script");
    if (!whole.is_array()) throw bad_input("", "expected an array of steps");
    std::vector<ScriptStep> steps;
    for (const json& entry : whole) steps.push_back(read_step(entry, steps.size()));
    if (steps.empty()) throw bad_input("", "the script has no step");
    return steps;
  } catch (const Error& error) {
    // The person who wrote the file must see which one: the text for clients gains the name, too.
    throw bad_input(error.field(), "scripted model " + origin + ": " + error.client_text(), error.hint());
  }
}

std::vector<ScriptStep> load_script(const std::string& file) {
  // A device has no end and a pipe may never have one.
  const UniqueFd stream(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!stream || ::fstat(stream.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw public_failure(ErrorCode::not_found, "scripted model " + file + ": the file cannot be read");
  if (status.st_size > static_cast<off_t>(kMostScriptBytes))
    throw public_failure(ErrorCode::limit_exceeded, "scripted model " + file + ": the file is over 16 MiB");
  return parse_script(read_all(stream.get(), kMostScriptBytes, Stop()), file);
}

}  // namespace forge::models
