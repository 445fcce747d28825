#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orchestrator/base/stop.h"
#include "orchestrator/domain/usage.h"

namespace forge::models {

struct TextBlock {
  std::string text;
};
/// Goes back to the vendor unchanged in the same turn. `redacted` holds the opaque data of a redacted block in `text`.
struct ThinkingBlock {
  std::string text;
  std::string signature;
  bool redacted = false;
};
/// `arguments` is the JSON text as the model sent it ("" means {}). `parsed` is false when it is not one strict JSON object, or when the
/// response was cut by length: such a call is answered with an error and never executed.
struct ToolUseBlock {
  std::string id;
  std::string name;
  std::string arguments;
  bool parsed = true;
};
struct ToolResultBlock {
  std::string id;
  std::string content;
  bool is_error = false;
};
using Block = std::variant<TextBlock, ThinkingBlock, ToolUseBlock, ToolResultBlock>;

enum class Speaker { user, assistant };
struct ChatMessage {
  Speaker speaker = Speaker::user;
  std::vector<Block> blocks;
};

struct ToolSpec {
  std::string name;
  std::string description;
  std::string schema_json;  ///< JSON Schema of the arguments object
};

struct ModelRequest {
  std::string system;
  std::vector<ChatMessage> messages;
  std::vector<ToolSpec> tools;
  std::int64_t max_output_tokens = 16'384;
  int turn = 0;  ///< of the agent, for the trace; never sent; 0 = none
};

enum class StopReason { end_turn, tool_use, max_tokens, stop_sequence, pause_turn, refusal, context_overflow, other };
std::string_view name_of(StopReason reason);
std::optional<StopReason> parse_stop_reason(std::string_view name);

struct ModelResponse {
  std::string request_id;
  std::string model;  ///< as the vendor names it
  std::vector<Block> blocks;
  StopReason stop_reason = StopReason::end_turn;
  Usage usage;
  bool usage_estimated = false;  ///< the server told no counts: `usage` is a guess of four bytes per token, so that budgets still hold
  std::int64_t time_to_first_token_ms = 0;
  std::int64_t duration_ms = 0;
};

/// Hears what happens while a response is made. All calls come from the thread that called complete().
class ModelObserver {
 public:
  virtual ~ModelObserver() = default;
  virtual void text_delta(std::string_view) {}
  virtual void thinking_delta(std::string_view) {}
  struct Retry {
    int attempt = 0;
    std::int64_t delay_ms = 0;
    std::optional<int> status;
    std::string message;
  };
  /// Another attempt follows after the delay: all deltas of the attempt before are void.
  virtual void retrying(const Retry&) {}
  /// Tokens that a failed attempt was billed for before it was dropped.
  virtual void wasted(const Usage&) {}
};

/// A model to talk to. One call at a time per object; different objects from different threads.
class Model {
 public:
  virtual ~Model() = default;
  /// "provider/model"
  virtual const std::string& name() const = 0;
  /// Tokens that fit; 0 = unknown.
  virtual std::int64_t context_window() const = 0;
  /// One response, streamed, with retries inside. Throws unauthenticated (401, 403), invalid_argument (other 4xx), context_overflow,
  /// unavailable (after retries), budget_exhausted (metered models only), cancelled, timed_out.
  virtual ModelResponse complete(const ModelRequest& request, ModelObserver& observer, const Stop& stop) = 0;
};

}  // namespace forge::models
