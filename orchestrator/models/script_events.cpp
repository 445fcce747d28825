#include "orchestrator/models/script_events.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace forge::models {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kPieceBytes = 7;  // small, so that words and escapes are torn

/// Pieces of about kPieceBytes that never tear a character: a JSON string cannot hold half of one.
std::vector<std::string> pieces_of(const std::string& text) {
  std::vector<std::string> pieces;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = std::min(at + kPieceBytes, text.size());
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

std::vector<std::string> text_pieces(const ScriptStep& step, const StreamOddities& oddities) {
  return oddities.whole_text && !step.text.empty() ? std::vector<std::string>{step.text} : pieces_of(step.text);
}

std::string tool_id(const ScriptTool& tool, std::size_t step, std::size_t index) {
  return tool.id.empty() ? "call_" + std::to_string(step + 1) + "_" + std::to_string(index + 1) : tool.id;
}

/// Anthropic: named events with the type repeated inside.
class AnthropicEvents {
 public:
  AnthropicEvents(const ScriptStep& step, const StreamAnswer& answer, const StreamOddities& oddities)
      : step_(step), answer_(answer), oddities_(oddities) {}

  std::vector<std::string> make() {
    start();
    if (!step_.thinking.empty()) thinking();
    if (!step_.text.empty()) text();
    for (std::size_t i = 0; i < step_.tools.size(); ++i) tool(i);
    if (oddities_.repeat_usage) message_delta(nullptr, step_.usage.output / 2);
    message_delta(stop(), step_.usage.output);
    if (!step_.cut) add("message_stop", ordered_json::object());
    return std::move(events_);
  }

 private:
  void add(const std::string& type, const ordered_json& rest) {
    ordered_json data = {{"type", type}};
    data.update(rest);
    events_.push_back("event: " + type + "\ndata: " + data.dump() + "\n\n");
  }
  ordered_json counts(std::int64_t output) const {
    return {{"input_tokens", step_.usage.input},
            {"cache_creation_input_tokens", step_.usage.cache_write},
            {"cache_read_input_tokens", step_.usage.cache_read},
            {"output_tokens", output}};
  }
  void start() {
    const ordered_json message = {{"id", "msg_" + std::to_string(answer_.number + 1)},
                                  {"type", "message"},
                                  {"role", "assistant"},
                                  {"model", answer_.model},
                                  {"content", ordered_json::array()},
                                  {"stop_reason", nullptr},
                                  {"stop_sequence", nullptr},
                                  {"usage", counts(std::min<std::int64_t>(step_.usage.output, 1))}};
    add("message_start", {{"message", message}});
    add("ping", ordered_json::object());
  }
  void block_start(const ordered_json& block) { add("content_block_start", {{"index", index_}, {"content_block", block}}); }
  void delta(const ordered_json& delta) { add("content_block_delta", {{"index", index_}, {"delta", delta}}); }
  void block_stop() { add("content_block_stop", {{"index", index_++}}); }

  void thinking() {
    block_start({{"type", "thinking"}, {"thinking", ""}, {"signature", ""}});
    for (const std::string& piece : pieces_of(step_.thinking)) delta({{"type", "thinking_delta"}, {"thinking", piece}});
    delta({{"type", "signature_delta"}, {"signature", "sig_" + std::to_string(answer_.number + 1)}});
    block_stop();
  }
  void text() {
    block_start({{"type", "text"}, {"text", ""}});
    for (const std::string& piece : text_pieces(step_, oddities_)) delta({{"type", "text_delta"}, {"text", piece}});
    block_stop();
  }
  void tool(std::size_t i) {
    const ScriptTool& tool = step_.tools[i];
    block_start({{"type", "tool_use"}, {"id", tool_id(tool, answer_.number, i)}, {"name", tool.name}, {"input", ordered_json::object()}});
    delta({{"type", "input_json_delta"}, {"partial_json", ""}});
    for (const std::string& piece : pieces_of(tool.arguments)) delta({{"type", "input_json_delta"}, {"partial_json", piece}});
    block_stop();
  }
  ordered_json stop() const {
    if (step_.stop == StopReason::context_overflow) return "model_context_window_exceeded";
    return std::string(name_of(step_.stop));
  }
  void message_delta(const ordered_json& reason, std::int64_t output) {
    const ordered_json usage = oddities_.repeat_usage ? counts(output) : ordered_json{{"output_tokens", output}};
    add("message_delta", {{"delta", {{"stop_reason", reason}, {"stop_sequence", nullptr}}}, {"usage", usage}});
  }

  const ScriptStep& step_;
  const StreamAnswer& answer_;
  const StreamOddities& oddities_;
  std::size_t index_ = 0;
  std::vector<std::string> events_;
};

/// OpenAI: nameless data lines.
class OpenAiEvents {
 public:
  OpenAiEvents(const ScriptStep& step, const StreamAnswer& answer, const StreamOddities& oddities)
      : step_(step), answer_(answer), oddities_(oddities) {}

  std::vector<std::string> make() {
    chunk({{"role", "assistant"}, {"content", ""}}, nullptr);
    for (const std::string& piece : pieces_of(step_.thinking)) chunk({{"reasoning_content", piece}}, nullptr);
    for (const std::string& piece : text_pieces(step_, oddities_)) chunk({{"content", piece}}, nullptr);
    for (std::size_t i = 0; i < step_.tools.size(); ++i) tool(i);
    if (step_.cut) return std::move(events_);
    chunk(ordered_json::object(), stop());
    if (!oddities_.no_usage) usage();
    if (!oddities_.missing_done) events_.emplace_back("data: [DONE]\n\n");
    return std::move(events_);
  }

 private:
  void add(const ordered_json& choices, const ordered_json& usage) {
    const ordered_json data = {{"id", "chatcmpl-" + std::to_string(answer_.number + 1)},
                               {"object", "chat.completion.chunk"},
                               {"created", 1767225600},
                               {"model", answer_.model},
                               {"choices", choices},
                               {"usage", usage}};
    events_.push_back("data: " + data.dump() + "\n\n");
  }
  void chunk(const ordered_json& delta, const ordered_json& finish) {
    const ordered_json choice = {{"index", 0}, {"delta", delta}, {"finish_reason", finish}};
    add(ordered_json::array({choice}), oddities_.repeat_usage ? counts() : ordered_json());
  }
  ordered_json counts() const {
    const std::int64_t prompt = step_.usage.input + step_.usage.cache_read + step_.usage.cache_write;
    ordered_json details = {{"cached_tokens", step_.usage.cache_read}};
    if (step_.usage.cache_write > 0) details["cache_write_tokens"] = step_.usage.cache_write;
    return {{"prompt_tokens", prompt},
            {"completion_tokens", step_.usage.output},
            {"total_tokens", prompt + step_.usage.output},
            {"prompt_tokens_details", details}};
  }
  void usage() { add(oddities_.null_choices ? ordered_json() : ordered_json::array(), counts()); }

  void tool(std::size_t i) {
    const ScriptTool& tool = step_.tools[i];
    const std::vector<std::string> arguments = oddities_.whole_calls ? std::vector<std::string>{tool.arguments} : pieces_of(tool.arguments);
    const std::string id = oddities_.null_ids ? "null" : tool_id(tool, answer_.number, i);
    if (!oddities_.whole_calls) fragment(i, id, tool.name, "");
    for (const std::string& piece : arguments) {
      const bool told = oddities_.repeat_ids || oddities_.whole_calls;
      fragment(i, told || oddities_.null_ids ? id : "", told ? tool.name : "", piece);
    }
  }
  void fragment(std::size_t i, const std::string& id, const std::string& name, const std::string& arguments) {
    ordered_json call = ordered_json::object();
    if (!oddities_.no_index) call["index"] = oddities_.zero_index ? 0 : i;
    if (!id.empty()) call["id"] = id;
    if (!id.empty()) call["type"] = "function";
    call["function"] = ordered_json::object();
    if (!name.empty()) call["function"]["name"] = name;
    call["function"]["arguments"] = arguments;
    chunk({{"tool_calls", ordered_json::array({call})}}, nullptr);
  }
  std::string stop() const {
    if (step_.stop == StopReason::max_tokens || step_.stop == StopReason::context_overflow) return "length";
    if (step_.stop == StopReason::refusal) return "content_filter";
    if (step_.stop == StopReason::tool_use) return "tool_calls";
    if (step_.stop != StopReason::end_turn) return "stop";
    return step_.tools.empty() ? "stop" : "tool_calls";
  }

  const ScriptStep& step_;
  const StreamAnswer& answer_;
  const StreamOddities& oddities_;
  std::vector<std::string> events_;
};

}  // namespace

std::vector<std::string> stream_events(const ScriptStep& step, const StreamAnswer& answer, const StreamOddities& oddities) {
  return answer.format == WireFormat::anthropic ? AnthropicEvents(step, answer, oddities).make()
                                                : OpenAiEvents(step, answer, oddities).make();
}

std::string error_body(WireFormat format, int status, const std::string& message) {
  if (format == WireFormat::openai) {
    const char* type = status == 401   ? "authentication_error"
                       : status == 429 ? "rate_limit_error"
                       : status < 500  ? "invalid_request_error"
                                       : "server_error";
    return ordered_json{{"error", {{"message", message}, {"type", type}, {"param", nullptr}, {"code", nullptr}}}}.dump();
  }
  const char* type = "api_error";
  if (status == 529) type = "overloaded_error";
  if (status == 429) type = "rate_limit_error";
  if (status == 413) type = "request_too_large";
  if (status == 404) type = "not_found_error";
  if (status == 403) type = "permission_error";
  if (status == 401) type = "authentication_error";
  if (status == 400) type = "invalid_request_error";
  return ordered_json{{"type", "error"}, {"error", {{"type", type}, {"message", message}}}}.dump();
}

}  // namespace forge::models
