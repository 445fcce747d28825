#include "orchestrator/models/openai.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"
#include "orchestrator/models/conversation.h"
#include "orchestrator/models/json_fields.h"

namespace forge::models {
namespace {

using nlohmann::json;

/// The texts of a message as one string; null when there are none.
json joined_text(const ChatMessage& message) {
  std::string text;
  for (const Block& block : message.blocks) {
    const auto* part = std::get_if<TextBlock>(&block);
    if (part == nullptr) continue;
    if (!text.empty()) text += "\n\n";
    text += part->text;
  }
  return text.empty() ? json() : json(text);
}

/// A call that did not parse goes back as an empty object: servers that render the conversation with a template parse it and fail.
json call_json(const ToolUseBlock& call) {
  const std::string& arguments = call.parsed && !call.arguments.empty() ? call.arguments : "{}";
  return {{"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", arguments}}}};
}

/// Thinking is left out: some servers refuse it on input, none needs it.
void add_assistant(json& messages, const ChatMessage& message) {
  json entry = {{"role", "assistant"}, {"content", joined_text(message)}};
  json calls = json::array();
  for (const Block& block : message.blocks)
    if (const auto* call = std::get_if<ToolUseBlock>(&block)) calls.push_back(call_json(*call));
  if (calls.empty() && entry["content"].is_null()) return;
  if (!calls.empty()) entry["tool_calls"] = std::move(calls);
  messages.push_back(std::move(entry));
}

/// Each tool result is a message of its own, right behind the calls; what the user says besides comes after them.
void add_user(json& messages, const ChatMessage& message) {
  for (const Block& block : message.blocks) {
    const auto* result = std::get_if<ToolResultBlock>(&block);
    if (result == nullptr) continue;
    // The format has no mark for an error.
    messages.push_back(
        {{"role", "tool"}, {"tool_call_id", result->id}, {"content", result->is_error ? "Error: " + result->content : result->content}});
  }
  json text = joined_text(message);
  if (!text.is_null()) messages.push_back({{"role", "user"}, {"content", std::move(text)}});
}

json openai_tools(const std::vector<ToolSpec>& tools) {
  json list = json::array();
  for (const ToolSpec& tool : tools) {
    json function = {{"name", tool.name},
                     {"description", tool.description},
                     {"parameters", parse_json(tool.schema_json, "the schema of the tool " + tool.name)}};
    list.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  return list;
}

/// Whether the vendor's text names a parameter: the only sign of what was refused that servers share.
bool speaks_of(const VendorError& error, std::string_view name) { return lower_ascii(error.message).find(name) != std::string::npos; }

class OpenAiWire final : public Wire {
 public:
  OpenAiWire(std::string model, OpenAiDialect dialect) : model_(std::move(model)), dialect_(dialect) {}

  std::string path() const override { return "/chat/completions"; }

  std::vector<net::HttpHeader> headers(const std::string& api_key) const override {
    if (api_key.empty()) return {};
    return {{"Authorization", "Bearer " + api_key}};
  }

  std::string body(const ModelRequest& request) const override { return openai_body(request, model_, dialect_); }

  std::unique_ptr<StreamReader> reader(const ModelRequest& request, ModelObserver& observer) const override {
    return make_openai_reader(request, observer);
  }

  VendorError read_error(int, std::string_view body) const override { return read_openai_error(body); }

  bool adapt(int status, const VendorError& error) override {
    if (status != 400 && status != 422) return false;
    if (dialect_.stream_options && speaks_of(error, "stream_options")) {
      dialect_.stream_options = false;
      return true;
    }
    // "Unsupported parameter: 'max_tokens' ... Use 'max_completion_tokens' instead." Only this way round: the other would swing for ever.
    if (!dialect_.max_completion_tokens && speaks_of(error, "max_completion_tokens")) {
      dialect_.max_completion_tokens = true;
      return true;
    }
    return false;
  }

  std::string_view request_id_header() const override { return "x-request-id"; }

 private:
  std::string model_;
  OpenAiDialect dialect_;
};

}  // namespace

std::unique_ptr<Wire> make_openai_wire(std::string model, OpenAiDialect dialect) {
  return std::make_unique<OpenAiWire>(std::move(model), dialect);
}

std::string openai_body(const ModelRequest& request, const std::string& model, const OpenAiDialect& dialect) {
  json messages = json::array();
  if (!request.system.empty()) messages.push_back({{"role", "system"}, {"content", request.system}});
  for (const ChatMessage& message : normalised(request.messages)) {
    message.speaker == Speaker::user ? add_user(messages, message) : add_assistant(messages, message);
  }
  json body = {{"model", model}, {"messages", std::move(messages)}, {"stream", true}};
  body[dialect.max_completion_tokens ? "max_completion_tokens" : "max_tokens"] = request.max_output_tokens;
  if (dialect.stream_options) body["stream_options"] = {{"include_usage", true}};
  if (!request.tools.empty()) body["tools"] = openai_tools(request.tools);
  return dump_json(body);
}

VendorError read_openai_error(std::string_view body) {
  const json parsed = parse_leniently(body);
  VendorError result;
  const json* error = field(parsed, "error");
  if (error == nullptr) {
    result.message = text_field(parsed, "message");  // some servers have no wrapper
    return result;
  }
  result.type = text_field(*error, "type");
  result.message = error->is_string() ? error->get<std::string>() : text_field(*error, "message");
  const std::string code = text_field(*error, "code");
  const std::int64_t number = count_field(*error, "code").value_or(0);
  const bool limited = result.type.find("rate_limit") != std::string::npos || code.find("rate_limit") != std::string::npos;
  // Inside a stream there is no status line: type and code say what it would have been.
  result.status = 500;
  if (result.type == "invalid_request_error") result.status = 400;
  if (limited) result.status = 429;
  if (number >= 400 && number < 600) result.status = static_cast<int>(number);
  result.final = code == "insufficient_quota" || result.type == "insufficient_quota";
  result.context_overflow = code == "context_length_exceeded" || speaks_of(result, "maximum context length") ||
                            speaks_of(result, "exceeds the context") || speaks_of(result, "exceed_context_size");
  return result;
}

}  // namespace forge::models
