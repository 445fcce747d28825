#include "orchestrator/jobs/run_trace.h"

#include "orchestrator/base/text.h"

namespace forge::jobs {

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
  storing([&] { store_.append_event(run_, data, turn); });
}

std::vector<std::string> RunTrace::findings() { return *findings_.lock(); }

}  // namespace forge::jobs
