#include "adapters/pi/conversation.h"

#include "orchestrator/base/text.h"

namespace forge::adapters::pi {
namespace {

constexpr std::int64_t kBytesPerToken = 4;
// A picture of each step is enough for a summary; whole tool outputs would fill it.
constexpr std::size_t kBlockBytes = 4 << 10;
constexpr std::size_t kBlockLines = 120;

struct BlockBytes {
  std::size_t operator()(const models::TextBlock& b) const { return b.text.size(); }
  std::size_t operator()(const models::ThinkingBlock& b) const { return b.text.size() + b.signature.size(); }
  std::size_t operator()(const models::ToolUseBlock& b) const { return b.name.size() + b.arguments.size(); }
  std::size_t operator()(const models::ToolResultBlock& b) const { return b.content.size(); }
};

std::string shortened(const std::string& text) {
  const auto parts = cut_middle(text, kBlockBytes, kBlockLines, 20);
  return parts.tail.empty() ? parts.head : parts.head + "\n[...]\n" + parts.tail;
}

struct BlockText {
  std::string operator()(const models::TextBlock& b) const { return shortened(b.text) + "\n"; }
  std::string operator()(const models::ThinkingBlock&) const { return {}; }
  std::string operator()(const models::ToolUseBlock& b) const { return "call " + b.name + " " + shortened(b.arguments) + "\n"; }
  std::string operator()(const models::ToolResultBlock& b) const {
    return (b.is_error ? "error: " : "result: ") + shortened(b.content) + "\n";
  }
};

}  // namespace

std::int64_t estimated_tokens(const std::vector<models::ChatMessage>& messages, std::size_t from) {
  std::size_t bytes = 0;
  for (std::size_t i = from; i < messages.size(); ++i)
    for (const auto& block : messages[i].blocks) bytes += std::visit(BlockBytes{}, block);
  return static_cast<std::int64_t>(bytes) / kBytesPerToken;
}

std::size_t recent_part(const std::vector<models::ChatMessage>& messages, std::int64_t keep_tokens) {
  std::size_t cut = 0;
  for (std::size_t i = messages.size(); i-- > 1;) {
    if (messages[i].speaker != models::Speaker::assistant) continue;
    // The newest border is taken whatever its size: one huge turn must not make compaction impossible.
    if (cut != 0 && estimated_tokens(messages, i) > keep_tokens) break;
    cut = i;
  }
  return cut <= 1 ? 0 : cut;  // the opening alone is nothing to summarise
}

std::string transcript(const std::vector<models::ChatMessage>& messages, std::size_t count, std::size_t max_bytes) {
  std::string text;
  for (std::size_t i = 0; i < count && i < messages.size(); ++i) {
    text += messages[i].speaker == models::Speaker::user ? "[user]\n" : "[you]\n";
    for (const auto& block : messages[i].blocks) text += std::visit(BlockText{}, block);
  }
  const auto parts = cut_middle(text, max_bytes, text.size() + 1, 30);
  return parts.tail.empty() ? parts.head : parts.head + "\n[... " + std::to_string(parts.cut_bytes) + " bytes left out ...]\n" + parts.tail;
}

std::string text_of(const std::vector<models::Block>& blocks) {
  std::string text;
  for (const auto& block : blocks)
    if (const auto* part = std::get_if<models::TextBlock>(&block); part != nullptr && !part->text.empty())
      text += (text.empty() ? "" : "\n\n") + part->text;
  return text;
}

}  // namespace forge::adapters::pi
