// The stream of one message, as the vendor documents it and as it was observed:
//
//   message_start          id, model, usage: input and cache counts are true, output_tokens is a stub
//   content_block_start    index and type of a block; text, thinking and input are empty there
//   content_block_delta    a piece of the block with that index; blocks may interleave
//   content_block_stop     says nothing that the end of the stream does not say
//   message_delta          stop reason and cumulative usage; may come more than once
//   message_stop           without it the response failed, whatever text arrived
//   ping, error            at any time, the error under status 200
//
//   message                the whole message in one piece, from a server that does not stream
//
// Types that are not listed are passed over: the vendor adds some without a new version.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/models/anthropic.h"
#include "orchestrator/models/conversation.h"
#include "orchestrator/models/json_fields.h"

namespace forge::models {
namespace {

using nlohmann::json;

StopReason anthropic_stop(const std::string& reason) {
  if (reason == "model_context_window_exceeded") return StopReason::context_overflow;
  return parse_stop_reason(reason).value_or(StopReason::other);  // the vendor's names are ours
}

/// One content block while its deltas come.
struct Building {
  std::string type;
  std::string text;  // text, thinking, or the opaque data of a redacted block
  std::string signature;
  std::string id;
  std::string name;
  std::string arguments;  // fragments of JSON, joined
};

class AnthropicReader final : public StreamReader {
 public:
  explicit AnthropicReader(ModelObserver& observer) : observer_(observer) {}

  void take(const net::SseEvent& event) override {
    const json data = parse_event(event.data);
    const std::string type = text_field(data, "type");
    if (type == "message_start") {
      if (const json* message = field(data, "message")) start(*message);
    } else if (type == "message") {
      take_whole(data);
    } else if (type == "content_block_start") {
      start_block(data);
    } else if (type == "content_block_delta") {
      take_delta(data);
    } else if (type == "message_delta") {
      // A later one that repeats no reason must not take it back: "max_tokens" keeps calls from being run.
      const json* delta = field(data, "delta");
      if (std::string reason = delta == nullptr ? "" : text_field(*delta, "stop_reason"); !reason.empty()) stop_ = std::move(reason);
      take_usage(data);
      counted_ = true;
    } else if (type == "message_stop") {
      complete_ = true;
    } else if (type == "error") {
      fail(data);
    }  // content_block_stop says nothing new; ping and types of the future are passed over
  }

  bool complete() const override { return complete_; }
  bool whole() const override { return complete_ && !error_; }
  const std::optional<VendorError>& error() const override { return error_; }
  Usage usage() const override;
  ModelResponse response() override;

 private:
  void start(const json& message);
  /// A server that was not asked to stream, or does not.
  void take_whole(const json& message);
  void start_block(const json& data);
  void open_block(Building& block, const json& content);
  void take_delta(const json& data);
  void take_usage(const json& holder);
  void fail(const json& data);
  /// The block an event speaks of, made when it is new; null without an index.
  Building* block_of(const json& data);

  ModelObserver& observer_;
  std::map<std::int64_t, Building> blocks_;  // by the vendor's index
  std::string id_;
  std::string model_;
  std::string stop_;
  Usage usage_;
  bool counted_ = false;  // the true count of the output has come
  bool complete_ = false;
  std::optional<VendorError> error_;
};

void AnthropicReader::start(const json& message) {
  id_ = text_field(message, "id");
  model_ = text_field(message, "model");
  take_usage(message);
}

void AnthropicReader::take_whole(const json& message) {
  start(message);
  stop_ = text_field(message, "stop_reason");
  const json* content = field(message, "content");
  if (content != nullptr && content->is_array())
    for (const json& item : *content) open_block(blocks_[static_cast<std::int64_t>(blocks_.size())], item);
  counted_ = complete_ = true;
}

Building* AnthropicReader::block_of(const json& data) {
  const auto index = count_field(data, "index");
  return index ? &blocks_[*index] : nullptr;
}

void AnthropicReader::start_block(const json& data) {
  const json* content = field(data, "content_block");
  Building* block = block_of(data);
  if (content != nullptr && block != nullptr) open_block(*block, *content);
}

void AnthropicReader::open_block(Building& block, const json& content) {
  block.type = text_field(content, "type");
  block.id = text_field(content, "id");
  block.name = text_field(content, "name");
  block.signature = text_field(content, "signature");
  block.text = text_field(content, block.type == "redacted_thinking" ? "data" : block.type);
  // Empty at the start of a stream by the book; some proxies send the whole input at once and no deltas.
  if (const json* input = field(content, "input"); input != nullptr && !input->empty()) block.arguments = dump_json(*input);
  if (block.type == "text" && !block.text.empty()) observer_.text_delta(block.text);
  if (block.type == "thinking" && !block.text.empty()) observer_.thinking_delta(block.text);
}

void AnthropicReader::take_delta(const json& data) {
  const json* delta = field(data, "delta");
  Building* block = block_of(data);
  if (delta == nullptr || block == nullptr) return;
  const std::string type = text_field(*delta, "type");
  if (type == "text_delta") {
    const std::string text = text_field(*delta, "text");
    block->text += text;
    observer_.text_delta(text);
  } else if (type == "thinking_delta") {
    const std::string text = text_field(*delta, "thinking");
    block->text += text;
    observer_.thinking_delta(text);
  } else if (type == "signature_delta") {
    block->signature += text_field(*delta, "signature");
  } else if (type == "input_json_delta") {
    block->arguments += text_field(*delta, "partial_json");
  }
}

/// The counts are cumulative: each replaces what was known, and a field that is not repeated stays.
void AnthropicReader::take_usage(const json& holder) {
  const json* usage = field(holder, "usage");
  if (usage == nullptr) return;
  usage_.input = count_field(*usage, "input_tokens").value_or(usage_.input);
  usage_.output = count_field(*usage, "output_tokens").value_or(usage_.output);
  usage_.cache_read = count_field(*usage, "cache_read_input_tokens").value_or(usage_.cache_read);
  usage_.cache_write = count_field(*usage, "cache_creation_input_tokens").value_or(usage_.cache_write);
  if (const json* kinds = field(*usage, "cache_creation"))
    usage_.cache_write_hour = count_field(*kinds, "ephemeral_1h_input_tokens").value_or(usage_.cache_write_hour);
}

/// A stream that broke off before the true count was billed for what it had said, which the stub at its start does not tell.
Usage AnthropicReader::usage() const {
  Usage usage = usage_;
  std::size_t bytes = 0;
  for (const auto& [index, block] : blocks_) bytes += block.text.size() + block.arguments.size();
  if (!counted_) usage.output = std::max(usage.output, estimated_tokens(bytes));
  return usage;
}

/// Kept rather than thrown: the caller judges it with what else it knows of the answer.
void AnthropicReader::fail(const json& data) {
  VendorError error;
  if (const json* told = field(data, "error")) {
    error.type = text_field(*told, "type");
    error.message = text_field(*told, "message");
  }
  error.status = status_of_anthropic_error(error.type);
  error_ = std::move(error);
}

ModelResponse AnthropicReader::response() {
  ModelResponse response;
  response.request_id = id_;
  response.model = model_;
  response.stop_reason = anthropic_stop(stop_);
  response.usage = usage_;
  // Cut by length: the last call may parse and still not be what the model meant; none of them is run.
  const bool cut = response.stop_reason == StopReason::max_tokens || response.stop_reason == StopReason::context_overflow;
  for (auto& [index, block] : blocks_) {
    if (block.type == "text" && !block.text.empty()) {
      response.blocks.emplace_back(TextBlock{std::move(block.text)});
    } else if (block.type == "thinking" || block.type == "redacted_thinking") {
      response.blocks.emplace_back(ThinkingBlock{std::move(block.text), std::move(block.signature), block.type == "redacted_thinking"});
    } else if (block.type == "tool_use") {
      const bool parsed = !cut && is_strict_object(block.arguments);
      response.blocks.emplace_back(ToolUseBlock{std::move(block.id), std::move(block.name), std::move(block.arguments), parsed});
    }
  }
  return response;
}

}  // namespace

std::unique_ptr<StreamReader> make_anthropic_reader(ModelObserver& observer) { return std::make_unique<AnthropicReader>(observer); }

}  // namespace forge::models
