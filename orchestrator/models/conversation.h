#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "orchestrator/models/model.h"

namespace forge::models {

/// The messages as every vendor takes them: text blocks without content are dropped, neighbours of one speaker become one message, the tool
/// results of a message stand first, and messages that held nothing else are left out.
std::vector<ChatMessage> normalised(const std::vector<ChatMessage>& messages);

/// Tool calls in the conversation so far: numbers the calls of a server that gives no ids, so that they stay unique.
std::size_t count_tool_calls(const std::vector<ChatMessage>& messages);

/// Of what a request says, without the format's own words.
std::size_t request_bytes(const ModelRequest& request);

/// A guess: a token for each four bytes.
std::int64_t estimated_tokens(std::size_t bytes);

/// The same for servers that tell no counts.
Usage estimated_usage(const ModelRequest& request, const std::vector<Block>& answer);

}  // namespace forge::models
