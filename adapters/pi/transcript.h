#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/models/model.h"

namespace forge::adapters::pi {

/// A guess for what no server has counted yet: four bytes per token.
std::int64_t estimate_tokens(std::string_view text);

/// The conversation with the model. Whatever is done to it, every tool call stands before a user message that answers it: that is what the
/// vendors demand.
class Transcript {
 public:
  const std::vector<models::ChatMessage>& messages() const { return messages_; }

  /// Adds a text of ours, to the last message when that is ours.
  void tell(std::string text);
  /// Adds what the model said: without empty texts, and without thoughts that were cut before their signature. A response of which nothing
  /// is left is kept as a note, so that the turns still alternate. `usage` counts everything up to here.
  void add_response(const models::ModelResponse& response);
  /// Answers the calls of the last response, in their order.
  void add_results(std::vector<models::ToolResultBlock> results);

  /// Tokens of the next request: the last count of the server and an estimate for what came after it.
  std::int64_t context_tokens() const { return counted_tokens_ + estimated_tokens_; }

  /// The first message to keep when about `keep_tokens` of the newest stay: the begin of a turn, never between a call and its result. The
  /// last turn always stays. Nothing when there is nothing to leave out.
  std::optional<std::size_t> cut_point(std::int64_t keep_tokens) const;
  /// Everything before `first_kept` as plain text for a summary, long outcomes shortened.
  std::string readable(std::size_t first_kept) const;
  /// Puts `summary` in the place of everything before `first_kept`. `fixed_tokens` is the estimate for system prompt and tools.
  void replace_before(std::size_t first_kept, std::string summary, std::int64_t fixed_tokens);
  /// Shortens every tool result over `most_bytes` to its head and tail.
  void shorten_results(std::size_t most_bytes, std::int64_t fixed_tokens);

 private:
  void recount(std::int64_t fixed_tokens);

  std::vector<models::ChatMessage> messages_;
  std::int64_t counted_tokens_ = 0;    // by the server, up to the last response
  std::int64_t estimated_tokens_ = 0;  // of what came after it
};

}  // namespace forge::adapters::pi
