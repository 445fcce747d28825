#include "adapters/pi/transcript.h"

#include <fmt/format.h>

#include <algorithm>

#include "orchestrator/base/text.h"

namespace forge::adapters::pi {
namespace {

using models::Block;
using models::ChatMessage;
using models::Speaker;
using models::TextBlock;
using models::ThinkingBlock;
using models::ToolResultBlock;
using models::ToolUseBlock;

constexpr std::size_t kReadableResultBytes = 2000;
constexpr std::size_t kReadableArgumentBytes = 2000;
constexpr std::int64_t kBytesPerToken = 4;

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

/// What goes over the wire of it, roughly.
std::size_t bytes_of(const Block& block) {
  return std::visit(Overloaded{[](const TextBlock& text) { return text.text.size(); },
                               [](const ThinkingBlock& thinking) { return thinking.text.size() + thinking.signature.size(); },
                               [](const ToolUseBlock& call) { return call.name.size() + call.arguments.size() + call.id.size(); },
                               [](const ToolResultBlock& result) { return result.content.size() + result.id.size(); }},
                    block);
}

/// At least one: empty messages cost, too, and a sum must grow.
std::int64_t tokens_of(const ChatMessage& message) {
  std::size_t bytes = 0;
  for (const Block& block : message.blocks) bytes += bytes_of(block);
  return static_cast<std::int64_t>(bytes) / kBytesPerToken + 1;
}

bool answers_calls(const ChatMessage& message) {
  return std::any_of(message.blocks.begin(), message.blocks.end(),
                     [](const Block& block) { return std::holds_alternative<ToolResultBlock>(block); });
}

/// A turn may begin here: what stands before may go, and no result loses its call.
bool begins_turn(const ChatMessage& message) { return message.speaker == Speaker::assistant || !answers_calls(message); }

/// Head and tail with the end favoured, as for a command's output.
std::string shortened(const std::string& text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  const HeadTail cut = cut_middle(text, most_bytes, std::string::npos, 20);
  return fmt::format("{}\n[... {} bytes left out ...]\n{}", cut.head, cut.cut_bytes, cut.tail);
}

/// Vendors refuse empty texts, and thoughts whose signature never came.
bool worth_keeping(const Block& block, models::StopReason stop) {
  if (const auto* text = std::get_if<TextBlock>(&block)) return !trim(text->text).empty();
  const auto* thinking = std::get_if<ThinkingBlock>(&block);
  return thinking == nullptr || thinking->redacted || !thinking->signature.empty() || stop != models::StopReason::max_tokens;
}

}  // namespace

std::int64_t estimate_tokens(std::string_view text) { return static_cast<std::int64_t>(text.size()) / kBytesPerToken; }

void Transcript::tell(std::string text) {
  estimated_tokens_ += estimate_tokens(text);
  if (messages_.empty() || messages_.back().speaker != Speaker::user) messages_.push_back({Speaker::user, {}});
  messages_.back().blocks.emplace_back(TextBlock{std::move(text)});
}

void Transcript::add_response(const models::ModelResponse& response) {
  ChatMessage message{Speaker::assistant, {}};
  for (const Block& block : response.blocks)
    if (worth_keeping(block, response.stop_reason)) message.blocks.push_back(block);
  if (message.blocks.empty()) message.blocks.emplace_back(TextBlock{"(empty response)"});
  messages_.push_back(std::move(message));
  recount(0);
  if (response.usage.total() == 0) return;  // a server that counts nothing
  counted_tokens_ = response.usage.total();
  estimated_tokens_ = 0;
}

void Transcript::add_results(std::vector<ToolResultBlock> results) {
  ChatMessage message{Speaker::user, {}};
  for (ToolResultBlock& result : results) message.blocks.emplace_back(std::move(result));
  estimated_tokens_ += tokens_of(message);
  messages_.push_back(std::move(message));
}

// From the newest back, as long as it fits.
std::optional<std::size_t> Transcript::cut_point(std::int64_t keep_tokens) const {
  std::optional<std::size_t> cut;
  std::int64_t kept = 0;
  for (std::size_t i = messages_.size(); i-- > 1;) {
    kept += tokens_of(messages_[i]);
    if (cut && kept > keep_tokens) break;
    if (begins_turn(messages_[i])) cut = i;
  }
  // The first message is the task, or the summary before: alone it is not worth a new one.
  if (!cut || *cut < 2) return {};
  return cut;
}

std::string Transcript::readable(std::size_t first_kept) const {
  std::string text;
  for (std::size_t i = 0; i < first_kept; ++i) {
    for (const Block& block : messages_[i].blocks) {
      const std::string_view who = messages_[i].speaker == Speaker::user ? "USER" : "AGENT";
      std::visit(Overloaded{[&](const TextBlock& said) { text += fmt::format("{}: {}\n\n", who, said.text); }, [](const ThinkingBlock&) {},
                            // Thoughts are left out: what came of them stands in the calls.
                            [&](const ToolUseBlock& call) {
                              text += fmt::format("CALL {}: {}\n\n", call.name, shortened(call.arguments, kReadableArgumentBytes));
                            },
                            [&](const ToolResultBlock& result) {
                              text += fmt::format("{}: {}\n\n", result.is_error ? "FAILED" : "RESULT",
                                                  shortened(result.content, kReadableResultBytes));
                            }},
                 block);
    }
  }
  return text;
}

void Transcript::replace_before(std::size_t first_kept, std::string summary, std::int64_t fixed_tokens) {
  std::vector<ChatMessage> kept(messages_.begin() + static_cast<std::ptrdiff_t>(first_kept), messages_.end());
  if (kept.empty() || kept.front().speaker != Speaker::user) kept.insert(kept.begin(), ChatMessage{Speaker::user, {}});
  auto& blocks = kept.front().blocks;
  blocks.insert(blocks.begin(), TextBlock{std::move(summary)});
  messages_ = std::move(kept);
  recount(fixed_tokens);
}

void Transcript::shorten_results(std::size_t most_bytes, std::int64_t fixed_tokens) {
  for (ChatMessage& message : messages_)
    for (Block& block : message.blocks)
      if (auto* result = std::get_if<ToolResultBlock>(&block)) result->content = shortened(result->content, most_bytes);
  recount(fixed_tokens);
}

void Transcript::recount(std::int64_t fixed_tokens) {
  counted_tokens_ = 0;
  estimated_tokens_ = fixed_tokens;
  for (const ChatMessage& message : messages_) estimated_tokens_ += tokens_of(message);
}

}  // namespace forge::adapters::pi
