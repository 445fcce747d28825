#include "orchestrator/domain/job_json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "tests/support/golden.h"

namespace forge {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// A run with a value in each field, so that a forgotten one shows.
Run whole_run() {
  Run run;
  run.id = RunId("01jd0000000000000000000run");
  run.job = JobId("01jd0000000000000000000job");
  run.number = 2;
  run.state = JobState::failed;
  run.reason = Reason::verify_failed;
  run.error = "the verify command failed";
  run.branch = "forge/01jd000000-2";
  run.base_ref = "refs/heads/main";
  run.base_commit = std::string(40, 'a');
  run.head_commit = std::string(40, 'b');
  run.pushed = true;
  run.summary = "Changed \"x\".";
  run.diff_stat = {3, 10, 4};
  run.diff_blob = std::string(64, 'c');
  run.usage = {.input = 1, .output = 2, .cache_read = 3, .cache_write = 4};
  run.cost_nano_usd = 5;
  run.verify = {{"make test", 2}};
  run.findings = {"a fifo was left out"};
  run.unenforced = {"memory_bytes"};
  run.created_ms = 1000;
  run.started_ms = 2000;
  run.ended_ms = 5500;
  return run;
}

Job whole_job() {
  Job job;
  job.id = JobId("01jd0000000000000000000job");
  job.spec = {.repository = "https://git.example/x.git",
              .base = "main",
              .task = "Fix the test.",
              .title = "Fix",
              .adapter = "pi",
              .model = "anthropic/claude",
              .template_name = "base",
              .driver = "local",
              .setup = {"make deps"},
              .verify = {"make test"},
              .limits = {.max_turns = 1, .time_limit_s = 2, .stall_limit_s = 3, .max_tokens = 4, .verify_rounds = 5},
              .budget_nano_usd = 7,
              .network = {{"example.com"}},
              .push = false};
  job.created_by = "ada";
  job.created_ms = 900;
  job.cancel_requested = true;
  job.state = JobState::failed;
  job.last_run = whole_run();
  return job;
}

json minimal() { return {{"repository", "/srv/repo"}, {"task", "Do it."}}; }

/// The error that reading `body` gives.
Error error_of(const json& body) {
  try {
    (void)job_request_from_json(body, {});
  } catch (const Error& e) {
    return e;
  }
  ADD_FAILURE() << "accepted: " << body.dump();
  return Error(ErrorCode::internal, "accepted");
}

TEST(JobRequest, TakesTheDefaultsForWhatIsNotNamed) {
  JobSpec defaults;
  defaults.model = "scripted:demo.json";
  defaults.limits.max_turns = 7;
  defaults.verify = {"true"};
  defaults.budget_nano_usd = 12;
  const JobRequest request = job_request_from_json(minimal(), defaults);
  EXPECT_EQ(request.spec.repository, "/srv/repo");
  EXPECT_EQ(request.spec.task, "Do it.");
  EXPECT_EQ(request.spec.model, "scripted:demo.json");
  EXPECT_EQ(request.spec.limits.max_turns, 7);
  EXPECT_THAT(request.spec.verify, ElementsAre("true"));
  EXPECT_EQ(request.spec.budget_nano_usd, 12);
  EXPECT_TRUE(request.spec.push);
  EXPECT_TRUE(request.start);
}

TEST(JobRequest, ReadsEveryField) {
  const json body = json::parse(R"({"repository": "r", "base": "dev", "task": "t", "title": "T", "adapter": "claude-code", "model": "m",
      "template": "code-interpreter-v1", "driver": "docker", "setup": ["a"], "verify": ["b", "c"],
      "limits": {"max_turns": 3, "time_limit_s": 60, "stall_limit_s": 5, "max_tokens": 1000, "verify_rounds": 0},
      "network": {"allow_hosts": ["pkg.test", "*.example.com"]}, "budget": {"run_usd": "0.25"}, "push": false, "start": false})");
  const JobRequest request = job_request_from_json(body, {});
  EXPECT_EQ(request.spec.base, "dev");
  EXPECT_EQ(request.spec.title, "T");
  EXPECT_EQ(request.spec.adapter, "claude-code");
  EXPECT_EQ(request.spec.template_name, "code-interpreter-v1");
  EXPECT_EQ(request.spec.driver, "docker");
  EXPECT_THAT(request.spec.setup, ElementsAre("a"));
  EXPECT_THAT(request.spec.verify, ElementsAre("b", "c"));
  EXPECT_EQ(request.spec.limits.max_turns, 3);
  EXPECT_EQ(request.spec.limits.time_limit_s, 60);
  EXPECT_EQ(request.spec.limits.stall_limit_s, 5);
  EXPECT_EQ(request.spec.limits.max_tokens, 1000);
  EXPECT_EQ(request.spec.limits.verify_rounds, 0);
  EXPECT_THAT(request.spec.network.allow_hosts, ElementsAre("pkg.test", "*.example.com"));
  EXPECT_EQ(request.spec.budget_nano_usd, 250'000'000);
  EXPECT_FALSE(request.spec.push);
  EXPECT_FALSE(request.start);
}

TEST(JobRequest, HostsOfARequestAreAddedToThoseThatEveryRunMayReach) {
  JobSpec defaults;
  defaults.network.allow_hosts = {"mirror.test", "pkg.test"};
  json body = minimal();
  body["network"] = {{"allow_hosts", {"pkg.test", "api.test"}}};
  EXPECT_THAT(job_request_from_json(body, defaults).spec.network.allow_hosts, ElementsAre("mirror.test", "pkg.test", "api.test"));
}

TEST(JobRequest, ABudgetMayBeTextOrNumberOrNanoDollars) {
  const auto budget = [](const char* text) {
    json body = minimal();
    body["budget"] = json::parse(text);
    return job_request_from_json(body, {}).spec.budget_nano_usd;
  };
  EXPECT_EQ(budget(R"({"run_usd": "1.5"})"), 1'500'000'000);
  EXPECT_EQ(budget(R"({"run_usd": 1.5})"), 1'500'000'000);
  EXPECT_EQ(budget(R"({"run_usd": 2})"), 2'000'000'000);
  EXPECT_EQ(budget(R"({"run_usd": 1e-5})"), 10'000);
  EXPECT_EQ(budget(R"({"run_nano_usd": 3})"), 3);
  EXPECT_EQ(budget("{}"), std::nullopt);
}

TEST(JobRequest, RefusesWhatIsWrongAndNamesTheField) {
  const auto field_of = [](const char* key, const char* text) {
    json body = minimal();
    body[key] = json::parse(text);
    const Error error = error_of(body);
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << key << " " << text;
    return error.field();
  };
  EXPECT_EQ(field_of("repositry", "1"), "repositry");
  EXPECT_EQ(field_of("repository", "7"), "repository");
  EXPECT_EQ(field_of("repository", "\"\""), "repository");
  EXPECT_EQ(field_of("repository", R"("a\nb")"), "repository");
  EXPECT_EQ(field_of("task", "\"  \\n\""), "task");
  EXPECT_EQ(field_of("task", R"("a\u0000b")"), "task");
  EXPECT_EQ(field_of("title", R"("a\nb")"), "title");
  EXPECT_EQ(field_of("setup", "\"make\""), "setup");
  EXPECT_EQ(field_of("setup", "[\"make\", \" \"]"), "setup[1]");
  EXPECT_EQ(field_of("limits", "{\"max_turns\": 0}"), "limits.max_turns");
  EXPECT_EQ(field_of("limits", "{\"turns\": 1}"), "limits.turns");
  EXPECT_EQ(field_of("limits", "{\"verify_rounds\": 21}"), "limits.verify_rounds");
  EXPECT_EQ(field_of("budget", R"({"run_usd": "much"})"), "budget.run_usd");
  EXPECT_EQ(field_of("budget", R"({"run_usd": -1})"), "budget.run_usd");
  EXPECT_EQ(field_of("budget", R"({"run_usd": true})"), "budget.run_usd");
  EXPECT_EQ(field_of("budget", R"({"run_usd": 0})"), "budget");
  EXPECT_EQ(field_of("budget", R"({"run_usd": "1", "run_nano_usd": 1})"), "budget");
  EXPECT_EQ(field_of("network", R"({"allow_hosts": ["a b"]})"), "network.allow_hosts[0]");
  EXPECT_EQ(field_of("push", "\"yes\""), "push");
  EXPECT_EQ(field_of("start", "1"), "start");
}

TEST(JobRequest, NeedsARepositoryAndATask) {
  EXPECT_EQ(error_of({{"task", "t"}}).field(), "repository");
  EXPECT_EQ(error_of({{"repository", "r"}}).field(), "task");
  EXPECT_EQ(error_of(json::array()).code(), ErrorCode::invalid_argument);
}

TEST(JobRequest, HoldsEachCapAtItsLimitAndOneAbove) {
  const auto accepts = [](const char* key, const json& value) {
    json body = minimal();
    body[key] = value;
    try {
      (void)job_request_from_json(body, {});
      return true;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
      return false;
    }
  };
  EXPECT_TRUE(accepts("task", std::string(kTaskBytes, 'x')));
  EXPECT_FALSE(accepts("task", std::string(kTaskBytes + 1, 'x')));
  EXPECT_TRUE(accepts("title", std::string(kTitleCharacters, 'x')));
  EXPECT_FALSE(accepts("title", std::string(kTitleCharacters + 1, 'x')));
  EXPECT_TRUE(accepts("repository", std::string(kRepositoryBytes, 'x')));
  EXPECT_FALSE(accepts("repository", std::string(kRepositoryBytes + 1, 'x')));
  EXPECT_TRUE(accepts("setup", std::vector<std::string>(kListItems, "x")));
  EXPECT_FALSE(accepts("setup", std::vector<std::string>(kListItems + 1, "x")));
  EXPECT_TRUE(accepts("verify", json::array({std::string(kCommandBytes, 'x')})));
  EXPECT_FALSE(accepts("verify", json::array({std::string(kCommandBytes + 1, 'x')})));
  EXPECT_TRUE(accepts("adapter", std::string(kNameBytesMax, 'x')));
  EXPECT_FALSE(accepts("adapter", std::string(kNameBytesMax + 1, 'x')));
}

TEST(JobRequest, ATitleIsCountedInCharactersNotBytes) {
  std::string title;
  for (std::size_t i = 0; i < kTitleCharacters; ++i) title += "ü";
  json body = minimal();
  body["title"] = title;
  EXPECT_EQ(job_request_from_json(body, {}).spec.title, title);
}

TEST(JobRequest, WhatWasNotSaidIsNotSent) {
  JobRequest request{.spec = {.repository = "r", .task = "t"}, .start = true};
  EXPECT_EQ(to_json(request, {}), (json{{"repository", "r"}, {"task", "t"}}));
  request.spec.limits.max_turns = 3;
  request.spec.push = false;
  request.start = false;
  EXPECT_EQ(to_json(request, {}),
            (json{{"repository", "r"}, {"task", "t"}, {"limits", {{"max_turns", 3}}}, {"push", false}, {"start", false}}));
}

TEST(JobRequest, IsReadAsItWasWritten) {
  const JobRequest request{.spec = whole_job().spec, .start = false};
  const JobRequest back = job_request_from_json(to_json(request, {}), {});
  EXPECT_EQ(to_json(back, {}), to_json(request, {}));
}

TEST(JobJson, AJobComesBackWhole) {
  const Job job = whole_job();
  const Job back = job_from_json(to_json(job));
  EXPECT_EQ(to_json(back), to_json(job));
  EXPECT_EQ(back.spec.budget_nano_usd, 7);
  ASSERT_TRUE(back.last_run);
  EXPECT_EQ(back.last_run->reason, Reason::verify_failed);
  EXPECT_EQ(back.last_run->verify.at(0).exit_code, 2);
}

TEST(JobJson, HasTheShapeOfTheGoldenFile) { test::expect_golden("tests/golden/domain/job.json", to_json(whole_job()).dump(2) + "\n"); }

TEST(JobJson, WhatIsNotThereYetIsNull) {
  Job job;
  job.spec.task = "First line\nsecond";
  const json value = to_json(job);
  EXPECT_TRUE(value.at("last_run").is_null());
  EXPECT_EQ(value.at("title"), "First line");
  EXPECT_TRUE(value.at("budget").at("run_nano_usd").is_null());
  const json run = to_json(forge::Run{});
  for (const char* key :
       {"reason", "error", "branch", "base_ref", "base_commit", "head_commit", "diff_blob", "cost_nano_usd", "started_ms", "ended_ms"})
    EXPECT_TRUE(run.at(key).is_null()) << key;
  EXPECT_EQ(to_json(run_from_json(run)), run);
}

TEST(JobJson, ALeaseGenerationStaysInside) { EXPECT_FALSE(to_json(whole_run()).contains("lease_generation")); }

TEST(JobJson, PagesAndCostsComeBack) {
  const JobPage page{.items = {whole_job()}, .next_cursor = "c1"};
  EXPECT_EQ(to_json(job_page_from_json(to_json(page))), to_json(page));
  const RunCost cost{.usage = {.input = 1, .output = 2, .cache_read = 3, .cache_write = 4},
                     .cost_nano_usd = std::nullopt,
                     .budget_nano_usd = 9,
                     .models = {{.model = "m", .usage = {.input = 1}, .cost_nano_usd = 5, .requests = 6}}};
  EXPECT_EQ(to_json(run_cost_from_json(to_json(cost))), to_json(cost));
}

TEST(JobJson, TraceEventsAreCarriedAsTheyWereStored) {
  TracePage page;
  page.items.push_back(
      {.seq = 1, .ts_ms = 10, .run = 1, .turn = {}, .type = TraceType::state, .data_json = R"({"from":"queued","to":"leased"})"});
  page.items.push_back({.seq = 2, .ts_ms = 11, .run = 1, .turn = 3, .type = TraceType::text, .data_json = R"({"text":"hi"})"});
  page.next_seq = 2;
  const std::string text = trace_page_json(page);
  const TracePage back = trace_page_from_json(parse_json(text, "trace"));
  EXPECT_EQ(trace_page_json(back), text);
  EXPECT_EQ(back.items.at(1).turn, 3);
  EXPECT_FALSE(back.complete);
  EXPECT_THAT(text, HasSubstr(R"("next_cursor":"2")"));
  page.complete = true;
  EXPECT_THAT(trace_page_json(page), HasSubstr(R"("next_cursor":null,"complete":true)"));
}

TEST(JobJson, AnAnswerOfAnotherShapeIsCorrupt) {
  const auto code_of = [](const auto& read) {
    try {
      read();
    } catch (const Error& e) {
      return e.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code_of([] { (void)job_from_json({{"id", 7}}); }), ErrorCode::corrupt);
  json run = to_json(whole_run());
  run["state"] = "dancing";
  EXPECT_EQ(code_of([&] { (void)run_from_json(run); }), ErrorCode::corrupt);
}

TEST(JobJson, TheReportOfARunHasTheShapeOfTheGoldenFile) {
  test::expect_golden("tests/golden/domain/run_report.json", run_report(whole_job(), whole_run()).dump(2) + "\n");
}

}  // namespace
}  // namespace forge
