#include "orchestrator/assembly/run_metrics.h"

#include <nlohmann/json.hpp>
#include <string>

namespace forge::assembly {

std::shared_ptr<void> count_run_ends(JobControl& jobs, metrics::Registry& registry) {
  return jobs.subscribe([&registry](const JobId&, const TraceEvent& event) {
    if (event.type != TraceType::terminal) return;
    const auto data = nlohmann::json::parse(event.data_json, nullptr, false);
    const std::string reason = data.is_object() ? data.value("reason", "unknown") : "unknown";
    registry.counter({"forge_runs_ended_total", "Runs that ended, by reason."}, {{"reason", reason}}).add();
  });
}

}  // namespace forge::assembly
