#include "orchestrator/jobs/run_trace.h"

#include <variant>

#include "orchestrator/base/text.h"

namespace forge::jobs {
namespace {

// The row, its index, and the names in it, beside what is counted.
constexpr std::size_t kEventBytes = 512;

/// Bytes of an event that whoever is inside the sandbox can make long, and as many as they like. Zero for all others: those are Forge's
/// own, few, and kept also when there is no room any more.
struct BytesFromInside {
  std::size_t operator()(const trace::Turn&) const { return kEventBytes; }
  std::size_t operator()(const trace::Model& e) const { return kEventBytes + e.request.text.size() + e.response.text.size(); }
  std::size_t operator()(const trace::Text& e) const { return kEventBytes + e.text.text.size(); }
  std::size_t operator()(const trace::Thinking& e) const { return kEventBytes + e.text.text.size(); }
  std::size_t operator()(const trace::ToolCall& e) const { return kEventBytes + e.id.size() + e.name.size() + e.arguments.text.size(); }
  std::size_t operator()(const trace::ToolResult& e) const { return kEventBytes + e.id.size() + e.name.size() + e.output.text.size(); }
  std::size_t operator()(const trace::Retry& e) const { return kEventBytes + e.message.size(); }
  std::size_t operator()(const trace::Steer& e) const { return kEventBytes + e.text.text.size(); }
  std::size_t operator()(const trace::Permission& e) const { return kEventBytes + e.tool.size() + e.message.size(); }
  std::size_t operator()(const trace::Compaction& e) const { return kEventBytes + e.summary.text.size(); }
  std::size_t operator()(const trace::LogLine& e) const { return kEventBytes + e.message.size(); }
  template <typename Other>
  std::size_t operator()(const Other&) const {
    return 0;
  }
};

}  // namespace

bool RunTrace::has_room(const TraceData& data) {
  const std::size_t bytes = std::visit(BytesFromInside{}, data);
  if (bytes == 0 || (bytes_ += bytes) <= most_bytes_) return true;
  stop_.request(Reason::output_limit);
  return false;
}

void RunTrace::append(TraceData data, std::optional<int> turn) {
  if (std::holds_alternative<trace::ToolCall>(data)) {
    activity_.tool_started();
  } else if (std::holds_alternative<trace::ToolResult>(data)) {
    activity_.tool_ended();
  } else {
    activity_.touch();
  }
  if (const auto* finding = std::get_if<trace::Finding>(&data)) {
    auto findings = findings_.lock();
    const std::string place = finding->path.empty() ? "" : to_utf8(finding->path).text + ": ";
    if (findings->size() < kKeptFindings) findings->push_back(finding->kind + ": " + place + finding->message);
  }
  if (!has_room(data)) return;
  storing([&] { store_.append_event(run_, data, turn); });
}

std::vector<std::string> RunTrace::findings() { return *findings_.lock(); }

}  // namespace forge::jobs
