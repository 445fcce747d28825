#include <nlohmann/json.hpp>
#include <utility>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/domain/job_json.h"
#include "orchestrator/domain/json_values.h"

namespace forge {
namespace {

using nlohmann::json;

/// One answer of a server.
template <typename Read>
auto reading(const char* what, Read&& read) {
  try {
    return std::forward<Read>(read)();
  } catch (const json::exception& e) {
    throw not_understood(what, e);
  }
}

DiffStat read_diff_stat(const json& value) {
  return {value.at("files").get<std::int64_t>(), value.at("insertions").get<std::int64_t>(), value.at("deletions").get<std::int64_t>()};
}

RunLimits read_limits_answer(const json& value) {
  return {.max_turns = value.at("max_turns").get<std::int64_t>(),
          .time_limit_s = value.at("time_limit_s").get<std::int64_t>(),
          .stall_limit_s = value.at("stall_limit_s").get<std::int64_t>(),
          .max_tokens = value.at("max_tokens").get<std::int64_t>(),
          .verify_rounds = value.at("verify_rounds").get<std::int64_t>()};
}

JobSpec read_spec(const json& value) {
  JobSpec spec;
  spec.repository = value.at("repository").get<std::string>();
  spec.base = text_or_empty(value, "base");
  spec.task = value.at("task").get<std::string>();
  spec.title = value.at("title").get<std::string>();
  spec.adapter = value.at("adapter").get<std::string>();
  spec.model = value.at("model").get<std::string>();
  spec.template_name = value.at("template").get<std::string>();
  spec.driver = value.at("driver").get<std::string>();
  spec.setup = value.at("setup").get<std::vector<std::string>>();
  spec.verify = value.at("verify").get<std::vector<std::string>>();
  spec.limits = read_limits_answer(value.at("limits"));
  spec.network.allow_hosts = value.at("network").at("allow_hosts").get<std::vector<std::string>>();
  spec.budget_nano_usd = number_or_nothing(value.at("budget"), "run_nano_usd");
  spec.push = value.at("push").get<bool>();
  return spec;
}

}  // namespace

Usage usage_from_json(const json& value) {
  return reading("usage", [&] {
    return Usage{.input = value.at("input").get<std::int64_t>(),
                 .output = value.at("output").get<std::int64_t>(),
                 .cache_read = value.at("cache_read").get<std::int64_t>(),
                 .cache_write = value.at("cache_write").get<std::int64_t>()};
  });
}

Run run_from_json(const json& value) {
  return reading("run", [&] {
    Run run;
    run.id = RunId(value.at("id").get<std::string>());
    run.job = JobId(value.at("job").get<std::string>());
    run.number = value.at("number").get<int>();
    run.kind = named(value, "kind", parse_run_kind);
    if (!value.at("from_run").is_null()) run.from_run = value.at("from_run").get<int>();
    run.note = value.at("note").get<std::string>();
    run.review = named(value, "review", parse_review_status);
    run.state = named(value, "state", parse_job_state);
    if (!value.at("reason").is_null()) run.reason = named(value, "reason", parse_reason);
    run.error = text_or_empty(value, "error");
    run.branch = text_or_empty(value, "branch");
    run.base_ref = text_or_empty(value, "base_ref");
    run.base_commit = text_or_empty(value, "base_commit");
    run.head_commit = text_or_empty(value, "head_commit");
    run.pushed = value.at("pushed").get<bool>();
    run.summary = value.at("summary").get<std::string>();
    run.diff_stat = read_diff_stat(value.at("diff_stat"));
    run.diff_blob = text_or_empty(value, "diff_blob");
    run.usage = usage_from_json(value.at("usage"));
    run.cost_nano_usd = number_or_nothing(value, "cost_nano_usd");
    for (const json& item : value.at("verify"))
      run.verify.push_back({item.at("command").get<std::string>(), item.at("exit_code").get<int>()});
    run.findings = value.at("findings").get<std::vector<std::string>>();
    run.unenforced = value.at("unenforced").get<std::vector<std::string>>();
    run.created_ms = value.at("created_ms").get<std::int64_t>();
    run.started_ms = time_or_zero(value, "started_ms");
    run.ended_ms = time_or_zero(value, "ended_ms");
    return run;
  });
}

Job job_from_json(const json& value) {
  return reading("job", [&] {
    Job job;
    job.id = JobId(value.at("id").get<std::string>());
    job.spec = read_spec(value);
    job.created_by = value.at("created_by").get<std::string>();
    job.created_ms = value.at("created_ms").get<std::int64_t>();
    job.cancel_requested = value.at("cancel_requested").get<bool>();
    job.state = named(value, "state", parse_job_state);
    if (!value.at("last_run").is_null()) job.last_run = run_from_json(value.at("last_run"));
    return job;
  });
}

JobPage job_page_from_json(const json& value) {
  return reading("list of jobs", [&] {
    JobPage page;
    for (const json& item : value.at("items")) page.items.push_back(job_from_json(item));
    page.next_cursor = text_or_empty(value, "next_cursor");
    return page;
  });
}

RunCost run_cost_from_json(const json& value) {
  return reading("cost", [&] {
    RunCost cost;
    cost.usage = usage_from_json(value.at("usage"));
    cost.cost_nano_usd = number_or_nothing(value, "cost_nano_usd");
    cost.budget_nano_usd = number_or_nothing(value, "budget_nano_usd");
    if (value.contains("reported_cost_nano_usd")) cost.reported_cost_nano_usd = number_or_nothing(value, "reported_cost_nano_usd");
    for (const json& item : value.at("models"))
      cost.models.push_back({.model = item.at("model").get<std::string>(),
                             .usage = usage_from_json(item.at("usage")),
                             .cost_nano_usd = number_or_nothing(item, "cost_nano_usd"),
                             .requests = item.at("requests").get<std::int64_t>()});
    return cost;
  });
}

TraceEvent trace_event_from_json(const json& value) {
  return reading("trace event", [&] {
    TraceEvent event;
    event.seq = value.at("seq").get<std::int64_t>();
    event.ts_ms = value.at("ts_ms").get<std::int64_t>();
    event.run = value.at("run").get<int>();
    if (const auto turn = value.find("turn"); turn != value.end() && !turn->is_null()) event.turn = turn->get<int>();
    event.type = named(value, "type", parse_trace_type);
    event.data_json = dump_json(value.at("data"));
    return event;
  });
}

TracePage trace_page_from_json(const json& value) {
  return reading("trace", [&] {
    TracePage page;
    for (const json& item : value.at("items")) page.items.push_back(trace_event_from_json(item));
    page.next_seq = value.at("next_seq").get<std::int64_t>();
    page.complete = value.at("complete").get<bool>();
    return page;
  });
}

}  // namespace forge
