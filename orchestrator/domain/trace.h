#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orchestrator/base/ids.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/domain/usage.h"

namespace forge {

/// The types of a trace, in the order of TraceData's alternatives.
enum class TraceType {
  state,
  sandbox,
  git,
  setup,
  turn,
  model,
  text,
  thinking,
  tool_call,
  tool_result,
  retry,
  network,
  verify,
  finding,
  limit,
  budget,
  steer,
  permission,
  compaction,
  log,
  terminal
};
std::string_view name_of(TraceType type);
std::optional<TraceType> parse_trace_type(std::string_view name);

/// A payload that may be large. Over kInlineBytes the store keeps the whole as a blob and head and tail in the row.
struct Payload {
  static constexpr std::size_t kInlineBytes = 16 << 10;
  std::string text;
};

namespace trace {
struct State {
  JobState from;
  JobState to;
  std::optional<Reason> reason;
  std::string note;
};
struct Sandbox {
  std::string action;
  std::string id;
  std::string driver;
  std::string template_name;
  std::vector<std::string> enforced;
  std::vector<std::string> unenforced;
  std::int64_t duration_ms = 0;
};
/// action: fetch, checkout, changes, commit, diff, push
struct Git {
  std::string action;
  std::string detail;
  std::int64_t duration_ms = 0;
};
struct Setup {
  std::string command;
  std::optional<int> exit_code;
  Payload output;
  std::int64_t duration_ms = 0;
};
struct Turn {
  int number = 0;
};
/// One answer of a model. An agent inside a sandbox gets its answers through the gateway, which also keeps what was asked and told (cut
/// at 256 KiB each) and answers that are errors; Forge's own loop has them in the events around this one.
struct Model {
  std::string request_id;
  std::string model;
  Usage usage;
  std::optional<std::int64_t> cost_nano_usd;
  std::int64_t time_to_first_token_ms = 0;
  std::int64_t duration_ms = 0;
  std::string stop_reason;  ///< "dropped": the answer broke off; "error": `status` says which
  int status = 200;
  bool usage_estimated = false;  ///< the answer was cut off or told no counts: some of `usage` is a guess of four bytes per token
  Payload request = {};
  Payload response = {};
};
struct Text {
  Payload text;
};
struct Thinking {
  Payload text;
};
struct ToolCall {
  std::string id;
  std::string name;
  Payload arguments;
};
struct ToolResult {
  std::string id;
  std::string name;
  bool ok = true;
  std::optional<int> exit_code;
  bool truncated = false;
  std::int64_t bytes = 0;
  std::int64_t duration_ms = 0;
  Payload output;
};
struct Retry {
  std::string what;
  int attempt = 0;
  std::int64_t delay_ms = 0;
  std::optional<int> status;
  std::string message;
};
struct Network {
  std::string host;
  int port = 0;
  std::string decision;
  std::string hint;
  std::int64_t bytes = 0;
};
struct Verify {
  std::string command;
  int round = 0;
  std::optional<int> exit_code;
  Payload output;
  std::int64_t duration_ms = 0;
};
/// Something odd that never fails a run: kind "name", "fifo", "nested_repository" ...; path may hold U+FFFD for raw bytes.
struct Finding {
  std::string kind;
  std::string path;
  std::string message;
};
struct Limit {
  std::string what;
  std::int64_t value = 0;
  std::int64_t limit = 0;
};
struct Budget {
  std::int64_t spent_nano_usd = 0;
  std::int64_t limit_nano_usd = 0;
  std::string action;
  std::string scope = "run";  ///< whose budget: run, job, day
};
struct Steer {
  Payload text;
};
struct Permission {
  std::string tool;
  std::string decision;
  std::string message;
};
struct Compaction {
  std::int64_t tokens_before = 0;
  std::int64_t tokens_after = 0;
  Payload summary;
};
struct LogLine {
  std::string level;
  std::string message;
};
struct Terminal {
  Reason reason;
  std::string message;
};
}  // namespace trace

using TraceData =
    std::variant<trace::State, trace::Sandbox, trace::Git, trace::Setup, trace::Turn, trace::Model, trace::Text, trace::Thinking,
                 trace::ToolCall, trace::ToolResult, trace::Retry, trace::Network, trace::Verify, trace::Finding, trace::Limit,
                 trace::Budget, trace::Steer, trace::Permission, trace::Compaction, trace::LogLine, trace::Terminal>;
static_assert(std::variant_size_v<TraceData> == static_cast<std::size_t>(TraceType::terminal) + 1);

TraceType type_of(const TraceData& data);
/// The event's `data` object. Payloads become {"text": ...}; the store replaces long ones by {"head", "tail", "bytes", "blob"}.
nlohmann::json to_json(const TraceData& data);

/// One stored event: the envelope of docs/api.md. `data_json` is the JSON text of `data`.
struct TraceEvent {
  std::int64_t seq = 0;
  std::int64_t ts_ms = 0;
  int run = 1;  ///< run number within the job
  std::optional<int> turn;
  TraceType type = TraceType::log;
  std::string data_json;
};
/// {"seq","ts_ms","run","turn"?,"type","data"} as one line of JSON.
std::string envelope_json(const TraceEvent& event);

/// Where a run's events go. Calls may come from several threads; each event is stored in the order of its call.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  /// Redacts, makes UTF-8, stores and publishes. `turn` is the agent's turn, if one is under way.
  virtual void append(TraceData data, std::optional<int> turn = {}) = 0;
  /// Something arrived that is not an event yet (a delta of a stream): keeps the stall limit from firing.
  virtual void alive() {}
};

}  // namespace forge
