#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "orchestrator/models/model.h"

namespace forge::adapters::pi {

/// Roughly how many tokens the messages are: a quarter of their bytes. Good enough to decide when to compact; the meter counts for real.
std::int64_t estimated_tokens(const std::vector<models::ChatMessage>& messages, std::size_t from = 0);

/// Where the recent part begins that is kept whole: an index before an assistant message, so that no call is cut from its result,
/// with about `keep_tokens` behind it. 0 when there is nothing older to give up.
std::size_t recent_part(const std::vector<models::ChatMessage>& messages, std::int64_t keep_tokens);

/// The first `count` messages as text for the summary, at most `max_bytes`: the middle is cut.
std::string transcript(const std::vector<models::ChatMessage>& messages, std::size_t count, std::size_t max_bytes);

/// The text of all text blocks, joined by empty lines.
std::string text_of(const std::vector<models::Block>& blocks);

}  // namespace forge::adapters::pi
