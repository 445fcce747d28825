#include "orchestrator/models/anthropic.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/models/conversation.h"
#include "orchestrator/models/json_fields.h"

namespace forge::models {
namespace {

using nlohmann::json;

/// Five minutes, the vendor's default: each turn of a run comes sooner than that and renews it.
json cache_mark() { return {{"type", "ephemeral"}}; }

/// A call whose arguments did not parse was never run; the vendor takes only an object there, and the error result beside it tells the
/// story.
json input_of(const ToolUseBlock& call) {
  if (!call.parsed || call.arguments.empty()) return json::object();
  return parse_json(call.arguments, "the arguments of " + call.name);
}

struct ToJson {
  json operator()(const TextBlock& block) const { return {{"type", "text"}, {"text", block.text}}; }
  json operator()(const ThinkingBlock& block) const {
    if (block.redacted) return {{"type", "redacted_thinking"}, {"data", block.text}};
    if (block.signature.empty()) return {};  // from another vendor: refused without a signature
    return {{"type", "thinking"}, {"thinking", block.text}, {"signature", block.signature}};
  }
  json operator()(const ToolUseBlock& block) const {
    return {{"type", "tool_use"}, {"id", block.id}, {"name", block.name}, {"input", input_of(block)}};
  }
  json operator()(const ToolResultBlock& block) const {
    json result = {{"type", "tool_result"}, {"tool_use_id", block.id}, {"content", block.content}};
    if (block.is_error) result["is_error"] = true;
    return result;
  }
};

/// The conversation in the vendor's shape, the last user block marked for the cache.
json messages_json(const ModelRequest& request) {
  json messages = json::array();
  for (const ChatMessage& message : normalised(request.messages)) {
    json content = json::array();
    for (const Block& block : message.blocks) {
      json item = std::visit(ToJson{}, block);
      if (!item.is_null()) content.push_back(std::move(item));
    }
    if (content.empty()) continue;
    messages.push_back({{"role", message.speaker == Speaker::user ? "user" : "assistant"}, {"content", std::move(content)}});
  }
  // The last user block: everything before it stays the same in the next request and is read from the cache.
  for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
    if ((*message)["role"] != "user") continue;
    (*message)["content"].back()["cache_control"] = cache_mark();
    break;
  }
  return messages;
}

/// The mark on the last tool covers all of them.
json tools_json(const std::vector<ToolSpec>& tools) {
  json list = json::array();
  for (const ToolSpec& tool : tools) {
    list.push_back({{"name", tool.name},
                    {"description", tool.description},
                    {"input_schema", parse_json(tool.schema_json, "the schema of the tool " + tool.name)}});
  }
  if (!list.empty()) list.back()["cache_control"] = cache_mark();
  return list;
}

class AnthropicWire final : public Wire {
 public:
  explicit AnthropicWire(std::string model) : model_(std::move(model)) {}

  std::string path() const override { return "/v1/messages"; }

  std::vector<net::HttpHeader> headers(const std::string& api_key) const override {
    std::vector<net::HttpHeader> list = {{"anthropic-version", "2023-06-01"}};
    if (!api_key.empty()) list.push_back({"x-api-key", api_key});
    return list;
  }

  std::string body(const ModelRequest& request) const override { return anthropic_body(request, model_); }

  std::unique_ptr<StreamReader> reader(const ModelRequest&, ModelObserver& observer) const override {
    return make_anthropic_reader(observer);
  }

  VendorError read_error(int status, std::string_view body) const override {
    const json parsed = parse_leniently(body);
    const json* error = field(parsed, "error");
    VendorError result;
    if (error != nullptr) {
      result.type = text_field(*error, "type");
      result.message = text_field(*error, "message");
    }
    result.context_overflow = status == 400 && result.message.find("prompt is too long") != std::string::npos;
    return result;
  }

  bool adapt(int, const VendorError&) override { return false; }
  std::string_view request_id_header() const override { return "request-id"; }

 private:
  std::string model_;
};

}  // namespace

std::unique_ptr<Wire> make_anthropic_wire(std::string model) { return std::make_unique<AnthropicWire>(std::move(model)); }

std::string anthropic_body(const ModelRequest& request, const std::string& model) {
  json body = {{"model", model}, {"max_tokens", request.max_output_tokens}, {"stream", true}, {"messages", messages_json(request)}};
  if (!request.system.empty()) {
    body["system"] = json::array({{{"type", "text"}, {"text", request.system}, {"cache_control", cache_mark()}}});
  }
  if (!request.tools.empty()) body["tools"] = tools_json(request.tools);
  return dump_json(body);
}

int status_of_anthropic_error(std::string_view type) {
  struct Row {
    std::string_view type;
    int status;
  };
  constexpr std::array<Row, 11> kRows = {{{"invalid_request_error", 400},
                                          {"authentication_error", 401},
                                          {"billing_error", 402},
                                          {"permission_error", 403},
                                          {"not_found_error", 404},
                                          {"request_too_large", 413},
                                          {"rate_limit_error", 429},
                                          {"api_error", 500},
                                          {"timeout_error", 504},
                                          {"overloaded_error", 529},
                                          {"conflict_error", 409}}};
  for (const Row& row : kRows)
    if (row.type == type) return row.status;
  return 500;
}

}  // namespace forge::models
