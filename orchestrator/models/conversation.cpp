#include "orchestrator/models/conversation.h"

#include <algorithm>
#include <iterator>

#include "orchestrator/base/text.h"

namespace forge::models {
namespace {

constexpr std::int64_t kBytesPerToken = 4;

bool has_content(const Block& block) {
  const auto* text = std::get_if<TextBlock>(&block);
  return text == nullptr || !trim(text->text).empty();
}

struct SizeOf {
  std::size_t operator()(const TextBlock& block) const { return block.text.size(); }
  std::size_t operator()(const ThinkingBlock& block) const { return block.text.size() + block.signature.size(); }
  std::size_t operator()(const ToolUseBlock& block) const { return block.name.size() + block.arguments.size(); }
  std::size_t operator()(const ToolResultBlock& block) const { return block.content.size(); }
};

std::size_t bytes_of(const std::vector<Block>& blocks) {
  std::size_t bytes = 0;
  for (const Block& block : blocks) bytes += std::visit(SizeOf{}, block);
  return bytes;
}

}  // namespace

std::vector<ChatMessage> normalised(const std::vector<ChatMessage>& messages) {
  std::vector<ChatMessage> result;
  for (const ChatMessage& message : messages) {
    std::vector<Block> blocks;
    std::copy_if(message.blocks.begin(), message.blocks.end(), std::back_inserter(blocks), has_content);
    if (blocks.empty()) continue;
    if (result.empty() || result.back().speaker != message.speaker) result.push_back({message.speaker, {}});
    std::move(blocks.begin(), blocks.end(), std::back_inserter(result.back().blocks));
  }
  for (ChatMessage& message : result) {
    std::stable_partition(message.blocks.begin(), message.blocks.end(),
                          [](const Block& block) { return std::holds_alternative<ToolResultBlock>(block); });
  }
  return result;
}

std::size_t count_tool_calls(const std::vector<ChatMessage>& messages) {
  std::size_t count = 0;
  for (const ChatMessage& message : messages) {
    count += static_cast<std::size_t>(std::count_if(message.blocks.begin(), message.blocks.end(),
                                                    [](const Block& block) { return std::holds_alternative<ToolUseBlock>(block); }));
  }
  return count;
}

std::int64_t estimated_tokens(std::size_t bytes) { return (static_cast<std::int64_t>(bytes) + kBytesPerToken - 1) / kBytesPerToken; }

std::size_t request_bytes(const ModelRequest& request) {
  std::size_t bytes = request.system.size();
  for (const ChatMessage& message : request.messages) bytes += bytes_of(message.blocks);
  for (const ToolSpec& tool : request.tools) bytes += tool.name.size() + tool.description.size() + tool.schema_json.size();
  return bytes;
}

Usage estimated_usage(const ModelRequest& request, const std::vector<Block>& answer) {
  return {
      .input = estimated_tokens(request_bytes(request)), .output = estimated_tokens(bytes_of(answer)), .cache_read = 0, .cache_write = 0};
}

}  // namespace forge::models
