#include "orchestrator/domain/trace.h"

#include <array>
#include <nlohmann/json.hpp>

#include "orchestrator/domain/job_json.h"

namespace forge {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 21> kTypes{"state",    "sandbox",   "git",         "setup",      "turn",       "model",  "text",
                                                  "thinking", "tool_call", "tool_result", "retry",      "network",    "verify", "finding",
                                                  "limit",    "budget",    "steer",       "permission", "compaction", "log",    "terminal"};
static_assert(kTypes.size() == static_cast<std::size_t>(TraceType::terminal) + 1);

// Every field always stands there; null says "there is none", so that a reader needs no default of its own.
template <typename T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json payload(const Payload& value) { return {{"text", value.text}}; }

/// In the order of TraceData. The names are those of docs/api.md and of the golden files: changing one breaks readers.
struct Shape {
  json operator()(const trace::State& e) const {
    return {{"from", name_of(e.from)}, {"to", name_of(e.to)}, {"reason", e.reason ? json(name_of(*e.reason)) : json()}, {"note", e.note}};
  }
  json operator()(const trace::Sandbox& e) const {
    return {{"action", e.action},          {"id", e.id},
            {"driver", e.driver},          {"template", e.template_name},
            {"enforced", e.enforced},      {"unenforced", e.unenforced},
            {"duration_ms", e.duration_ms}};
  }
  json operator()(const trace::Git& e) const { return {{"action", e.action}, {"detail", e.detail}, {"duration_ms", e.duration_ms}}; }
  json operator()(const trace::Setup& e) const {
    return {{"command", e.command}, {"exit_code", or_null(e.exit_code)}, {"output", payload(e.output)}, {"duration_ms", e.duration_ms}};
  }
  json operator()(const trace::Turn& e) const { return {{"number", e.number}}; }
  json operator()(const trace::Model& e) const {
    return {{"request_id", e.request_id},
            {"model", e.model},
            {"usage", to_json(e.usage)},
            {"usage_estimated", e.usage_estimated},
            {"cost_nano_usd", or_null(e.cost_nano_usd)},
            {"time_to_first_token_ms", e.time_to_first_token_ms},
            {"duration_ms", e.duration_ms},
            {"stop_reason", e.stop_reason},
            {"status", e.status},
            {"request", payload(e.request)},
            {"response", payload(e.response)}};
  }
  json operator()(const trace::Text& e) const { return payload(e.text); }
  json operator()(const trace::Thinking& e) const { return payload(e.text); }
  json operator()(const trace::ToolCall& e) const { return {{"id", e.id}, {"name", e.name}, {"arguments", payload(e.arguments)}}; }
  json operator()(const trace::ToolResult& e) const {
    return {{"id", e.id},
            {"name", e.name},
            {"ok", e.ok},
            {"exit_code", or_null(e.exit_code)},
            {"truncated", e.truncated},
            {"bytes", e.bytes},
            {"duration_ms", e.duration_ms},
            {"output", payload(e.output)}};
  }
  json operator()(const trace::Retry& e) const {
    return {{"what", e.what}, {"attempt", e.attempt}, {"delay_ms", e.delay_ms}, {"status", or_null(e.status)}, {"message", e.message}};
  }
  json operator()(const trace::Network& e) const {
    return {{"host", e.host}, {"port", e.port}, {"decision", e.decision}, {"hint", e.hint}, {"bytes", e.bytes}};
  }
  json operator()(const trace::Verify& e) const {
    return {{"command", e.command},
            {"round", e.round},
            {"exit_code", or_null(e.exit_code)},
            {"output", payload(e.output)},
            {"duration_ms", e.duration_ms}};
  }
  json operator()(const trace::Finding& e) const { return {{"kind", e.kind}, {"path", e.path}, {"message", e.message}}; }
  json operator()(const trace::Limit& e) const { return {{"what", e.what}, {"value", e.value}, {"limit", e.limit}}; }
  json operator()(const trace::Budget& e) const {
    return {{"spent_nano_usd", e.spent_nano_usd}, {"limit_nano_usd", e.limit_nano_usd}, {"action", e.action}, {"scope", e.scope}};
  }
  json operator()(const trace::Steer& e) const { return payload(e.text); }
  json operator()(const trace::Permission& e) const { return {{"tool", e.tool}, {"decision", e.decision}, {"message", e.message}}; }
  json operator()(const trace::Compaction& e) const {
    return {{"tokens_before", e.tokens_before}, {"tokens_after", e.tokens_after}, {"summary", payload(e.summary)}};
  }
  json operator()(const trace::LogLine& e) const { return {{"level", e.level}, {"message", e.message}}; }
  json operator()(const trace::Terminal& e) const { return {{"reason", name_of(e.reason)}, {"message", e.message}}; }
};

}  // namespace

std::string_view name_of(TraceType type) { return kTypes.at(static_cast<std::size_t>(type)); }

std::optional<TraceType> parse_trace_type(std::string_view name) {
  for (std::size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i] == name) return static_cast<TraceType>(i);
  return {};
}

// The static_assert in the header keeps both lists equally long, the golden files keep them in the same order.
TraceType type_of(const TraceData& data) { return static_cast<TraceType>(data.index()); }

json to_json(const TraceData& data) { return std::visit(Shape{}, data); }

std::string envelope_json(const TraceEvent& event) {
  std::string line =
      "{\"seq\":" + std::to_string(event.seq) + ",\"ts_ms\":" + std::to_string(event.ts_ms) + ",\"run\":" + std::to_string(event.run);
  if (event.turn) line += ",\"turn\":" + std::to_string(*event.turn);
  line += ",\"type\":\"" + std::string(name_of(event.type)) + "\",\"data\":";
  // Stored JSON goes out as it is: it was made by dump_json and is one line.
  line += event.data_json.empty() ? "{}" : event.data_json;
  return line + "}";
}

}  // namespace forge
