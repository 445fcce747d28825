#include "adapters/claude_code/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "adapters/claude_code/command_line.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"
#include "orchestrator/models/json_fields.h"

namespace forge::adapters::claude_code {
namespace {

using models::field;
using models::text_field;
using nlohmann::json;

constexpr std::size_t kShownLineBytes = 200;
constexpr double kMostUsd = 1e6;  // a figure above it is no figure
constexpr std::int64_t kMostNanoUsd = 1'000'000'000'000'000;

bool flag_field(const json& object, std::string_view key) {
  const json* value = field(object, key);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::optional<int> number_field(const json& object, std::string_view key) {
  const json* value = field(object, key);
  if (value == nullptr || !value->is_number_integer()) return {};
  const auto number = value->get<std::int64_t>();
  return number >= 0 && number < 1'000'000'000 ? std::optional(static_cast<int>(number)) : std::nullopt;
}

std::optional<std::int64_t> nano_usd_field(const json& object, std::string_view key) {
  const json* value = field(object, key);
  if (value == nullptr || !value->is_number()) return {};
  const double usd = value->get<double>();
  if (!(usd >= 0) || usd > kMostUsd) return {};
  return std::llround(usd * 1e9);
}

std::string dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

/// Text of a content that is a string or an array of blocks.
std::string text_of(const json* content) {
  if (content == nullptr) return {};
  if (content->is_string()) return content->get<std::string>();
  if (!content->is_array()) return {};
  std::string text;
  for (const json& block : *content) {
    const std::string type = text_field(block, "type");
    const std::string part = type == "text" ? text_field(block, "text") : "[" + (type.empty() ? "block" : type) + "]";
    text += (text.empty() ? "" : "\n") + part;
  }
  return text;
}

/// What the model sent, also where the program could not read it.
std::string arguments_of(const json& block) {
  const json* input = field(block, "input");
  if (input == nullptr) return "{}";
  const json* unparsed = field(*input, "__unparsedToolInput");
  return unparsed != nullptr && field(*unparsed, "raw") != nullptr ? text_field(*unparsed, "raw") : dumped(*input);
}

/// The program tells a shell's exit code only in the text of a failed call.
std::optional<int> exit_code_of(const std::string& tool, bool ok, std::string_view text) {
  if (tool != "Bash") return {};
  if (ok) return 0;
  constexpr std::string_view kSays = "Exit code ";
  if (!text.starts_with(kSays)) return {};
  int code = 0;
  const auto [end, error] = std::from_chars(text.data() + kSays.size(), text.data() + text.size(), code);
  return error == std::errc() ? std::optional(code) : std::nullopt;
}

/// The cost of this prompt: newer versions add it to that of the session they resumed, and say the difference by model.
std::optional<std::int64_t> cost_of(const json& line) {
  const json* since = field(line, "model_usage_since_last_result");
  if (since == nullptr || !since->is_object()) return nano_usd_field(line, "total_cost_usd");
  std::int64_t sum = 0;
  for (const auto& [model, usage] : since->items()) sum = std::min(sum + nano_usd_field(usage, "costUSD").value_or(0), kMostNanoUsd);
  return sum;
}

std::vector<std::string> texts_field(const json& object, std::string_view key) {
  std::vector<std::string> texts;
  const json* list = field(object, key);
  if (list == nullptr || !list->is_array()) return texts;
  for (const json& one : *list)
    if (one.is_string()) texts.push_back(one.get<std::string>());
  return texts;
}

}  // namespace

void Stream::line(std::string_view text) {
  const json line = parse_leniently(text);
  if (!line.is_object()) {
    if (heard_.unreadable++ == 0) heard_.unreadable_line = to_utf8(text.substr(0, kShownLineBytes)).text;
    return;
  }
  const std::string type = text_field(line, "type");
  if (type == "system") hear_system(line);
  if (type == "assistant") hear_assistant(line);
  if (type == "user") hear_user(line);
  if (type == "result") hear_result(line);
}

void Stream::hear_system(const json& line) {
  const std::string subtype = text_field(line, "subtype");
  if (subtype == "init") init(line);
  if (subtype == "api_retry")
    trace_.append(trace::Retry{"model", number_field(line, "attempt").value_or(0), number_field(line, "retry_delay_ms").value_or(0),
                               number_field(line, "error_status"), text_field(line, "error")});
  if (subtype == "permission_denied") denied(text_field(line, "tool_name"), text_field(line, "tool_use_id"), text_field(line, "message"));
  if (subtype == "compact_boundary") {
    const json* metadata = field(line, "compact_metadata");
    const json& about = metadata != nullptr ? *metadata : line;
    trace_.append(
        trace::Compaction{number_field(about, "pre_tokens").value_or(0), number_field(about, "post_tokens").value_or(0), {std::string()}});
  }
}

/// What must be so for the rest to hold is looked at, and said when it is not.
void Stream::init(const json& line) {
  if (std::exchange(heard_.started, true)) return;
  const auto warn = [&](std::string message) { trace_.append(trace::LogLine{"warn", std::move(message)}); };
  const std::string version = text_field(line, "claude_code_version");
  if (version != kPinnedVersion)
    warn(
        fmt::format("claude-code is version {}; this Forge was checked against {}", version.empty() ? "unknown" : version, kPinnedVersion));
  const std::string mode = text_field(line, "permissionMode");
  if (!mode.empty() && mode != "bypassPermissions") warn("claude-code asks for permissions (" + mode + "): tools may be denied");
  const json* servers = field(line, "mcp_servers");
  if (servers != nullptr && servers->is_array() && !servers->empty())
    warn("claude-code has started MCP servers although it was told not to: " + dumped(*servers));
}

void Stream::hear_assistant(const json& line) {
  const json* message = field(line, "message");
  if (message == nullptr) return;
  const json* content = field(*message, "content");
  if (content == nullptr || !content->is_array()) return;
  if (text_field(*message, "model") == "<synthetic>") {  // the program's own words about a failed request
    const std::string text = text_of(content);
    if (!trim(text).empty()) trace_.append(trace::LogLine{"warn", text});
    return;
  }
  const std::string request_id = text_field(line, "request_id");
  const int turn = trace_.turn_of(request_id.empty() ? text_field(*message, "id") : request_id);
  for (const json& one : *content) block(one, turn);
}

void Stream::block(const json& block, int turn) {
  const std::string type = text_field(block, "type");
  if (type == "text") {
    std::string text = text_field(block, "text");
    if (trim(text).empty()) return;
    heard_.last_text = text;
    trace_.append(trace::Text{{std::move(text)}}, turn);
  } else if (type == "thinking") {
    std::string text = text_field(block, "thinking");
    if (!trim(text).empty()) trace_.append(trace::Thinking{{std::move(text)}}, turn);
  } else if (type == "tool_use") {
    const std::string id = text_field(block, "id");
    const std::string name = text_field(block, "name");
    open_calls_[id] = {name, SteadyClock::now(), turn};
    trace_.append(trace::ToolCall{id, name, {arguments_of(block)}}, turn);
  }
}

void Stream::hear_user(const json& line) {
  const json* message = field(line, "message");
  const json* content = message == nullptr ? nullptr : field(*message, "content");
  if (content == nullptr) return;
  if (content->is_string()) {  // what the program itself tells the model
    const std::string text = content->get<std::string>();
    if (!trim(text).empty()) trace_.append(trace::Steer{{text}});
    return;
  }
  if (!content->is_array()) return;
  for (const json& block : *content) {
    const std::string type = text_field(block, "type");
    if (type == "tool_result") tool_result(block, line);
    if (type == "text" && !trim(text_field(block, "text")).empty()) trace_.append(trace::Steer{{text_field(block, "text")}});
  }
}

void Stream::tool_result(const json& block, const json& line) {
  const std::string id = text_field(block, "tool_use_id");
  const auto found = open_calls_.find(id);
  if (found == open_calls_.end()) return;  // nobody asked, or it was answered before
  const Call call = found->second;
  open_calls_.erase(found);
  const bool ok = !flag_field(block, "is_error");
  std::string text = text_of(field(block, "content"));
  const json* shown = field(line, "tool_use_result");
  const bool interrupted = shown != nullptr && flag_field(*shown, "interrupted");
  trace::ToolResult result;
  result.id = id;
  result.name = call.name;
  result.ok = ok && !interrupted;
  result.exit_code = interrupted ? std::nullopt : exit_code_of(call.name, ok, text);
  result.truncated = text.starts_with("<persisted-output>");
  result.bytes = static_cast<std::int64_t>(text.size());
  result.duration_ms = std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - call.began).count();
  result.output = {std::move(text)};
  trace_.append(std::move(result), call.turn);
}

void Stream::denied(const std::string& tool, const std::string& call_id, const std::string& message) {
  if (!call_id.empty() && !denied_calls_.insert(call_id).second) return;
  trace_.append(trace::Permission{tool, "denied", message});
}

void Stream::hear_result(const json& line) {
  CliResult result;
  result.subtype = text_field(line, "subtype");
  result.is_error = flag_field(line, "is_error");
  result.terminal_reason = text_field(line, "terminal_reason");
  result.stop_reason = text_field(line, "stop_reason");
  result.text = text_field(line, "result");
  result.errors = texts_field(line, "errors");
  result.api_status = number_field(line, "api_error_status");
  result.reported_cost_nano_usd = cost_of(line);
  if (const json* denials = field(line, "permission_denials"); denials != nullptr && denials->is_array())
    for (const json& denial : *denials)
      denied(text_field(denial, "tool_name"), text_field(denial, "tool_use_id"), "the agent was not allowed to use it");
  heard_.result = std::move(result);
}

void Stream::finish() {
  for (auto& [id, call] : std::exchange(open_calls_, {})) {
    const auto duration = std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - call.began).count();
    trace_.append(
        trace::ToolResult{
            .id = id, .name = call.name, .ok = false, .duration_ms = duration, .output = {"The agent ended before its tool did."}},
        call.turn);
  }
}

}  // namespace forge::adapters::claude_code
