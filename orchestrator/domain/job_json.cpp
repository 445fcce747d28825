#include "orchestrator/domain/job_json.h"

#include <nlohmann/json.hpp>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/domain/json_values.h"

namespace forge {
namespace {

using nlohmann::json;

json verify_json(const std::vector<VerifyResult>& results) {
  json list = json::array();
  for (const VerifyResult& result : results) list.push_back({{"command", result.command}, {"exit_code", result.exit_code}});
  return list;
}

json reason_json(const Run& run) { return run.reason ? json(name_of(*run.reason)) : json(nullptr); }

json limits_json(const RunLimits& limits) {
  return {{"max_turns", limits.max_turns},
          {"time_limit_s", limits.time_limit_s},
          {"stall_limit_s", limits.stall_limit_s},
          {"max_tokens", limits.max_tokens},
          {"verify_rounds", limits.verify_rounds}};
}

std::int64_t duration_ms(const Run& run) {
  return run.started_ms != 0 && run.ended_ms > run.started_ms ? run.ended_ms - run.started_ms : 0;
}

}  // namespace

json to_json(const Usage& usage) {
  return {{"input", usage.input}, {"output", usage.output}, {"cache_read", usage.cache_read}, {"cache_write", usage.cache_write}};
}

json to_json(const DiffStat& stat) { return {{"files", stat.files}, {"insertions", stat.insertions}, {"deletions", stat.deletions}}; }

json to_json(const Run& run) {
  return {{"id", run.id.str()},
          {"job", run.job.str()},
          {"number", run.number},
          {"kind", name_of(run.kind)},
          {"from_run", run.from_run == 0 ? json(nullptr) : json(run.from_run)},
          {"note", run.note},
          {"state", name_of(run.state)},
          {"reason", reason_json(run)},
          {"error", text_or_null(run.error)},
          {"branch", text_or_null(run.branch)},
          {"base_ref", text_or_null(run.base_ref)},
          {"base_commit", text_or_null(run.base_commit)},
          {"head_commit", text_or_null(run.head_commit)},
          {"pushed", run.pushed},
          {"summary", run.summary},
          {"diff_stat", to_json(run.diff_stat)},
          {"diff_blob", text_or_null(run.diff_blob)},
          {"usage", to_json(run.usage)},
          {"cost_nano_usd", number_or_null(run.cost_nano_usd)},
          {"verify", verify_json(run.verify)},
          {"findings", run.findings},
          {"unenforced", run.unenforced},
          {"review", name_of(run.review)},
          {"created_ms", run.created_ms},
          {"started_ms", time_or_null(run.started_ms)},
          {"ended_ms", time_or_null(run.ended_ms)}};
}

json to_json(const Job& job) {
  const JobSpec& spec = job.spec;
  return {{"id", job.id.str()},
          {"state", name_of(job.state)},
          {"review", name_of(job.last_run ? job.last_run->review : ReviewStatus::none)},
          {"title", spec.title.empty() ? default_title(spec.task) : spec.title},
          {"repository", spec.repository},
          {"base", text_or_null(spec.base)},
          {"task", spec.task},
          {"adapter", spec.adapter},
          {"model", spec.model},
          {"template", spec.template_name},
          {"driver", spec.driver},
          {"setup", spec.setup},
          {"verify", spec.verify},
          {"limits", limits_json(spec.limits)},
          {"network", {{"allow_hosts", spec.network.allow_hosts}}},
          {"budget", {{"run_nano_usd", number_or_null(spec.budget_nano_usd)}}},
          {"push", spec.push},
          {"created_by", job.created_by},
          {"created_ms", job.created_ms},
          {"cancel_requested", job.cancel_requested},
          {"last_run", job.last_run ? to_json(*job.last_run) : json(nullptr)}};
}

json to_json(const JobPage& page) {
  json items = json::array();
  for (const Job& job : page.items) items.push_back(to_json(job));
  return {{"items", std::move(items)}, {"next_cursor", text_or_null(page.next_cursor)}};
}

json to_json(const RunCost& cost) {
  json models = json::array();
  for (const ModelCost& model : cost.models)
    models.push_back({{"model", model.model},
                      {"usage", to_json(model.usage)},
                      {"cost_nano_usd", number_or_null(model.cost_nano_usd)},
                      {"requests", model.requests}});
  return {{"usage", to_json(cost.usage)},
          {"cost_nano_usd", number_or_null(cost.cost_nano_usd)},
          {"budget_nano_usd", number_or_null(cost.budget_nano_usd)},
          {"reported_cost_nano_usd", number_or_null(cost.reported_cost_nano_usd)},
          {"models", std::move(models)}};
}

std::string trace_page_json(const TracePage& page) {
  std::string text = R"({"items":[)";
  for (std::size_t i = 0; i < page.items.size(); ++i) {
    if (i != 0) text += ',';
    text += envelope_json(page.items[i]);
  }
  const std::string next = std::to_string(page.next_seq);
  text += R"(],"next_seq":)" + next + R"(,"next_cursor":)" + (page.complete ? "null" : '"' + next + '"');
  text += R"(,"complete":)" + std::string(page.complete ? "true" : "false") + '}';
  return text;
}

json run_report(const Job& job, const Run& run) {
  return {{"job", job.id.str()},
          {"run", run.number},
          {"state", name_of(run.state)},
          {"reason", reason_json(run)},
          {"error", text_or_null(run.error)},
          {"repository", job.spec.repository},
          {"branch", text_or_null(run.branch)},
          {"base", text_or_null(run.base_commit)},
          {"commit", text_or_null(run.head_commit)},
          {"pushed", run.pushed},
          {"diff_stat", to_json(run.diff_stat)},
          {"usage", to_json(run.usage)},
          {"cost_nano_usd", number_or_null(run.cost_nano_usd)},
          {"duration_ms", duration_ms(run)},
          {"verify", verify_json(run.verify)},
          {"findings", run.findings},
          {"unenforced", run.unenforced},
          {"summary", run.summary}};
}

}  // namespace forge
