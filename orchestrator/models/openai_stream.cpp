// The chunks of one chat completion. What servers agree on: lines of JSON with `choices[0].delta`, a `finish_reason` in one of the last,
// and
// `[DONE]`. What they do not agree on, each seen on a server in use:
//
//   content        a string, null, "", or an array of parts
//   reasoning      `reasoning_content` or `reasoning`, if at all
//   tool_calls     see tool_call_fragments.h
//   finish_reason  "stop" also with calls
//   usage          in a chunk of its own with `choices` [] or null, in every chunk, or never
//   [DONE]         may be missing
//   error          an object in the place of a chunk, under status 200
//   no stream      one JSON body with `message` in the place of `delta`

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"
#include "orchestrator/models/conversation.h"
#include "orchestrator/models/json_fields.h"
#include "orchestrator/models/openai.h"
#include "orchestrator/models/tool_call_fragments.h"

namespace forge::models {
namespace {

using nlohmann::json;

/// Text of `content`: a string, or an array of parts, or nothing.
std::string content_text(const json* content) {
  if (content == nullptr) return {};
  if (content->is_string()) return content->get<std::string>();
  std::string text;
  if (content->is_array())
    for (const json& part : *content) text += part.is_string() ? part.get<std::string>() : text_field(part, "text");
  return text;
}

constexpr std::string_view kCutByLength = "length";

/// Calls decide, not the word: some servers say "stop" and call all the same.
StopReason openai_stop(const std::string& reason, bool calls) {
  if (reason == kCutByLength) return StopReason::max_tokens;
  if (reason == "content_filter") return StopReason::refusal;
  if (calls) return StopReason::tool_use;
  return reason == "stop" || reason.empty() ? StopReason::end_turn : StopReason::other;
}

class OpenAiReader final : public StreamReader {
 public:
  OpenAiReader(const ModelRequest& request, ModelObserver& observer) : request_(request), observer_(observer) {}

  void take(const net::SseEvent& event) override;
  bool complete() const override { return done_; }
  /// `[DONE]` may be missing; a finish reason may not, unless `[DONE]` came.
  bool whole() const override { return !error_ && (done_ || !finish_.empty()); }
  const std::optional<VendorError>& error() const override { return error_; }
  Usage usage() const override;
  ModelResponse response() override;

 private:
  void take_choice(const json& choice);
  void take_usage(const json& usage);
  std::vector<Block> blocks() const;
  std::vector<Block> calls(bool cut) const;

  const ModelRequest& request_;
  ModelObserver& observer_;
  std::string id_;
  std::string model_;
  std::string text_;
  std::string thinking_;
  std::string finish_;
  ToolCallFragments fragments_;
  Usage usage_;
  bool usage_told_ = false;
  bool done_ = false;
  std::optional<VendorError> error_;
};

void OpenAiReader::take(const net::SseEvent& event) {
  if (trim(event.data) == "[DONE]") {
    done_ = true;
    return;
  }
  const json data = parse_event(event.data);
  if (field(data, "error") != nullptr) {
    error_ = read_openai_error(event.data);
    return;
  }
  if (id_.empty()) id_ = text_field(data, "id");
  if (model_.empty()) model_ = text_field(data, "model");
  if (const json* usage = field(data, "usage")) take_usage(*usage);
  const json* choices = field(data, "choices");  // [] or null in the usage chunk
  if (choices != nullptr && choices->is_array() && !choices->empty()) take_choice(choices->front());
}

/// Only the first choice: one is all we ask for.
void OpenAiReader::take_choice(const json& choice) {
  if (const std::string reason = text_field(choice, "finish_reason"); !reason.empty()) finish_ = reason;
  const json* delta = field(choice, "delta");
  if (delta == nullptr) delta = field(choice, "message");  // a server that does not stream
  if (delta == nullptr) return;
  std::string thinking = text_field(*delta, "reasoning_content");
  if (thinking.empty()) thinking = text_field(*delta, "reasoning");
  if (!thinking.empty()) {
    thinking_ += thinking;
    observer_.thinking_delta(thinking);
  }
  if (const std::string text = content_text(field(*delta, "content")); !text.empty()) {
    text_ += text;
    observer_.text_delta(text);
  }
  if (const json* tool_calls = field(*delta, "tool_calls")) fragments_.take(*tool_calls);
}

/// prompt_tokens includes what was read from and written to the cache; here the counts become disjoint. Later chunks replace earlier ones.
void OpenAiReader::take_usage(const json& usage) {
  const std::int64_t prompt = count_field(usage, "prompt_tokens").value_or(0);
  std::int64_t read = count_field(usage, "prompt_cache_hit_tokens").value_or(0);
  std::int64_t written = 0;
  if (const json* details = field(usage, "prompt_tokens_details")) {
    read = count_field(*details, "cached_tokens").value_or(read);
    written = count_field(*details, "cache_write_tokens").value_or(0);
  }
  read = std::min(read, prompt);
  written = std::min(written, prompt - read);
  usage_ = {.input = prompt - read - written,
            .output = count_field(usage, "completion_tokens").value_or(0),
            .cache_read = read,
            .cache_write = written};
  usage_told_ = true;
}

/// The calls as blocks. `cut`: the response ended by length, and none of them is to be run.
std::vector<Block> OpenAiReader::calls(bool cut) const {
  std::vector<Block> blocks;
  std::set<std::string> used;
  const std::size_t before = count_tool_calls(request_.messages);
  for (const ToolCallFragments::Call& call : fragments_.calls()) {
    std::string id = call.id;
    // Results are matched by id: one that is missing, or that two calls share, becomes one of ours, unique in the conversation.
    if (id.empty() || !used.insert(id).second) id = "forge_call_" + std::to_string(before + blocks.size() + 1);
    blocks.emplace_back(ToolUseBlock{std::move(id), call.name, call.arguments, !cut && is_strict_object(call.arguments)});
  }
  return blocks;
}

std::vector<Block> OpenAiReader::blocks() const {
  std::vector<Block> all;
  if (!thinking_.empty()) all.emplace_back(ThinkingBlock{thinking_, {}, false});
  if (!text_.empty()) all.emplace_back(TextBlock{text_});
  for (Block& call : calls(finish_ == kCutByLength)) all.push_back(std::move(call));
  return all;
}

/// The counts come last: a stream that broke off before them gets the guess that a server gets which tells none. It is billed all the same.
Usage OpenAiReader::usage() const {
  if (usage_told_) return usage_;
  const std::vector<Block> said = blocks();
  return said.empty() ? Usage{} : estimated_usage(request_, said);
}

ModelResponse OpenAiReader::response() {
  ModelResponse response;
  response.request_id = id_;
  response.model = model_;
  response.stop_reason = openai_stop(finish_, !fragments_.calls().empty());
  response.blocks = blocks();
  response.usage_estimated = !usage_told_;
  response.usage = usage_told_ ? usage_ : estimated_usage(request_, response.blocks);
  return response;
}

}  // namespace

std::unique_ptr<StreamReader> make_openai_reader(const ModelRequest& request, ModelObserver& observer) {
  return std::make_unique<OpenAiReader>(request, observer);
}

}  // namespace forge::models
