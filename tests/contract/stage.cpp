#include "tests/contract/stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <utility>

#include "adapters/claude_code/claude_code.h"
#include "adapters/pi/pi.h"
#include "orchestrator/base/clock.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/ids.h"
#include "orchestrator/base/redactor.h"
#include "orchestrator/egress/gateway.h"
#include "orchestrator/git/repository_cache.h"
#include "orchestrator/jobs/service.h"
#include "orchestrator/models/price_book.h"
#include "orchestrator/sandbox/drivers.h"
#include "orchestrator/store/store.h"
#include "tests/contract/scripted_agent.h"
#include "tests/functional/remains.h"
#include "tests/support/kept_log.h"
#include "tests/support/paths.h"

namespace forge::contract {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Of no known shape, so that only knowing the value itself can redact it.
constexpr const char* kCanary = "canary-of-the-model-key-0123456789abcdef";
constexpr const char* kModel = "anthropic/claude-sonnet-5";
constexpr int kPage = 1000;
// Longer than any row takes, also where several of the real programs start at once; shorter than ctest's own limit.
constexpr auto kPatience = std::chrono::minutes(4);

// Odd numbers, so that a wrong factor or a rounding in the wrong place cannot hide.
constexpr std::int64_t kInput = 2000000003;
constexpr std::int64_t kOutput = 10000000019;
constexpr std::int64_t kCacheRead = 100000007;
constexpr std::int64_t kCacheWrite = 2500000037;

models::PriceBook make_prices() {
  const json row{
      {"input", kInput}, {"output", kOutput}, {"cache_read", kCacheRead}, {"cache_write", kCacheWrite}, {"context_window", 200000}};
  models::PriceBook book;
  book.add(json{{"models", {{kModel, row}}}}.dump(), "of the contract");
  return book;
}

// The usual number of attempts, without the usual waits.
models::RetryPolicy quick_retries() {
  models::RetryPolicy policy = models::default_retries();
  policy.first_delay = std::chrono::milliseconds(10);
  return policy;
}

models::ModelSettings settings_for(const test::ModelServer& server) {
  models::ModelSettings settings;
  settings.providers.push_back(
      {.name = "anthropic", .kind = models::ProviderKind::anthropic, .base_url = server.url(), .api_key = kCanary});
  return settings;
}

json usage_json(const Usage& usage) {
  return {{"input", usage.input}, {"output", usage.output}, {"cache_read", usage.cache_read}, {"cache_write", usage.cache_write}};
}

void add(json& sum, const json& usage) {
  for (const auto& [kind, count] : usage.items()) sum[kind] = sum.value(kind, std::int64_t{0}) + count.get<std::int64_t>();
}

}  // namespace

std::vector<json> Ended::of(std::string_view type) const {
  std::vector<json> found;
  for (const json& event : events)
    if (event.at("type") == type) found.push_back(event.at("data"));
  return found;
}

/// All of Forge below its doors.
struct Stage::Parts {
  Parts(Agent agent, const json& script, const std::string& data, const test::ModelServer& server)
      : store(store::open_sqlite_store({.directory = data, .clock = clock, .redactor = redactor, .log = log})),
        driver(sandbox::make_driver("local", {.policy = ::geteuid() == 0 ? sandbox::Policy::strict : sandbox::Policy::degraded,
                                              .run_directory = data + "/run",
                                              .launcher = test::built_program("forge-sandbox"),
                                              .cgroup_parent = {},
                                              .log = log})),
        git(git::open_repository_cache(
            {.directory = data, .helper_program = test::built_program("forge"), .credentials = {}, .ca_file = {}, .log = log})),
        prices(make_prices()),
        models(settings_for(server), prices, clock, quick_retries),
        gateway(models, prices, *store, clock, log, {}),
        adapter(make_adapter(agent, script)) {
    redactor.add(kCanary);
    service = jobs::make_service({.store = *store,
                                  .git = *git,
                                  .drivers = {{"local", driver.get()}},
                                  .adapters = {adapter.get()},
                                  .templates = {{"base", {}}},
                                  .clock = clock,
                                  .log = log,
                                  .queue = {.concurrency = 1}});
    listening = service->subscribe([this](const JobId& job, const TraceEvent& event) {
      if (event.type != TraceType::terminal) return;
      auto told = over.lock();
      told->insert(job.str());
      told.notify_all();
    });
  }

  std::unique_ptr<adapters::AgentAdapter> make_adapter(Agent agent, const json& script) const {
    if (agent == Agent::pi) return adapters::make_pi(gateway);
    if (agent == Agent::claude_code) return adapters::make_claude_code(gateway, {.program = claude_program(), .remedy = "./dev test"});
    return std::make_unique<ScriptedAgent>(script);
  }

  SystemClock clock;
  Redactor redactor;
  test::KeptLog log;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<sandbox::SandboxDriver> driver;
  std::unique_ptr<git::RepositoryCache> git;
  models::PriceBook prices;
  models::ModelFactory models;
  egress::Gateway gateway;
  std::unique_ptr<adapters::AgentAdapter> adapter;
  Guarded<std::set<std::string>> over;
  std::unique_ptr<jobs::Service> service;
  std::shared_ptr<void> listening;  // last: it must go before what it calls into
};

Stage::Stage(Agent agent, const json& script)
    : agent_(agent), script_(script), mark_(data_.path().filename().string()), model_(script.dump()) {
  repo_.write("README.md", kGreeting);
  repo_.write("src/main.py", "print('one')\n");
  repo_.write(".gitignore", "build/\n");
  base_ = repo_.commit("first");
  parts_ = std::make_unique<Parts>(agent, script, data_.str(), model_);
}

Stage::~Stage() {
  const auto instances = this->instances();
  parts_.reset();
  for (const auto& id : instances) EXPECT_THAT(functional::cgroups_with("forge-" + id), IsEmpty());
  EXPECT_THAT(this->instances(), IsEmpty());
  EXPECT_EQ(repo_.head(), base_) << "the user's own branch has moved";
  EXPECT_EQ(repo_.git({"status", "--porcelain"}), "");
}

std::vector<std::string> Stage::instances() const {
  std::vector<std::string> ids;
  for (const auto& entry : fs::directory_iterator(data_ / "run"))
    if (is_id_text(entry.path().filename().string())) ids.push_back(entry.path().filename().string());
  return ids;
}

std::vector<std::string> Stage::processes() const {
  auto found = functional::processes_with(mark_);
  for (const auto& id : instances())
    for (const auto& one : functional::processes_with("forge-" + id)) found.push_back(one);
  return found;
}

JobSpec Stage::spec() const {
  JobSpec spec;
  spec.repository = repo_.str();
  spec.task = "Do what the script says";
  spec.adapter = name_of(agent_);
  spec.model = kModel;
  return spec;
}

std::string Stage::start(const JobSpec& spec) { return parts_->service->create({"tester", Role::admin, true}, spec, true).id.str(); }

void Stage::cancel(const std::string& job) { parts_->service->cancel({"tester", Role::admin, true}, job); }

Ended Stage::run(const JobSpec& spec) { return ended(start(spec)); }

Ended Stage::ended(const std::string& job) {
  {
    const Stop stop = Stop::after(kPatience);
    auto over = parts_->over.lock();
    if (!over.wait_until(stop.token(), stop.deadline(), [&](const auto& ids) { return ids.count(job) != 0; }))
      throw Error(ErrorCode::timed_out, "the run does not end");
  }
  Ended ended{parts_->service->run(job, 0), events(job)};
  EXPECT_EQ(parts_->service->get(job).state, ended.run.state);
  check_end(ended);
  check_calls(ended);
  check_cost(ended);
  check_remains();
  check_key(ended.events);
  return ended;
}

std::vector<json> Stage::events(const std::string& job) {
  std::vector<json> all;
  std::int64_t after = 0;
  while (true) {
    const TracePage page = parts_->service->trace(job, 0, after, kPage);
    for (const TraceEvent& event : page.items) all.push_back(json::parse(envelope_json(event)));  // throws what is no UTF-8
    if (page.complete || page.items.empty()) return all;
    after = page.next_seq;
  }
}

void Stage::check_end(const Ended& ended) const {
  ASSERT_TRUE(ended.run.reason);
  EXPECT_EQ(ended.run.state, state_of(*ended.run.reason));
  ASSERT_THAT(ended.events, Not(IsEmpty()));
  for (std::size_t i = 0; i < ended.events.size(); ++i) EXPECT_EQ(ended.events[i].at("seq"), i + 1);
  EXPECT_EQ(ended.of("terminal").size(), 1u);
  EXPECT_EQ(ended.events.back().at("type"), "terminal");
  EXPECT_EQ(ended.events.back().at("data").at("reason"), name_of(*ended.run.reason));
  EXPECT_EQ(ended.run.error.empty(), ended.run.state != JobState::failed && ended.run.state != JobState::cancelled)
      << "people are told why";
  EXPECT_EQ(ended.run.pushed, ended.run.state == JobState::succeeded) << "only what succeeded is pushed";
}

void Stage::check_calls(const Ended& ended) const {
  std::vector<std::string> open;
  std::set<std::string> seen;
  int turn = 0;
  int last_called_in = 1;
  for (const json& event : ended.events) {
    const std::string type = event.at("type");
    if (type == "turn") {
      EXPECT_EQ(event.at("data").at("number"), ++turn);
    }
    if (type == "tool_call") {
      // What an agent's program prints may be read after the gateway has metered the next response: the call's own turn still counts.
      const int called_in = event.at("turn");
      EXPECT_LE(called_in, turn) << "a call of a turn that had not begun: " << event;
      EXPECT_GE(called_in, std::exchange(last_called_in, called_in)) << "an earlier turn's call: " << event;
      if (!is_program(agent_)) {
        EXPECT_EQ(called_in, turn);
      }
      EXPECT_TRUE(seen.insert(event.at("data").at("id")).second) << "called twice: " << event;
      open.push_back(event.at("data").at("id"));
    }
    if (type == "tool_result") {
      ASSERT_THAT(open, Not(IsEmpty())) << "a result without a call: " << event;
      EXPECT_EQ(event.at("data").at("id"), open.front()) << "results come in the order of the calls";
      open.erase(open.begin());
    }
  }
  EXPECT_THAT(open, IsEmpty()) << "calls without a result";
}

void Stage::check_cost(const Ended& ended) const {
  json usage = usage_json({});
  std::int64_t cost = 0;
  for (const json& metered : ended.of("model")) {
    add(usage, metered.at("usage"));
    EXPECT_EQ(metered.at("cost_nano_usd"), cost_of(metered.at("usage"))) << metered;
    cost += cost_of(metered.at("usage"));
  }
  EXPECT_EQ(usage_json(ended.run.usage), usage);
  EXPECT_EQ(ended.run.cost_nano_usd, cost);
  EXPECT_TRUE(asks_a_model(agent_) || model_.requests().empty());
  for (const auto& request : model_.requests()) EXPECT_EQ(request.header("x-api-key"), kCanary);
}

void Stage::check_remains() const {
  EXPECT_THAT(processes(), IsEmpty());
  EXPECT_THAT(functional::mounts_with(data_.str()), IsEmpty());
}

void Stage::check_key(const std::vector<json>& events) {
  const auto expect_none = [](const std::string& text, const std::string& where) {
    EXPECT_EQ(text.find(kCanary), std::string::npos) << "the key is in " << where;
  };
  expect_none(json(events).dump(), "the trace");
  expect_none(parts_->log.text(), "the log");
  // What an agent has seen it tells its model, and nobody redacts that.
  for (const auto& request : model_.requests()) expect_none(request.body, "a question to the model");
  for (const auto& entry : fs::recursive_directory_iterator(data_.path()))
    if (entry.is_regular_file() && !entry.is_symlink()) expect_none(test::read_file(entry.path()), entry.path().string());
}

std::string Stage::changed(const Ended& ended) const {
  if (ended.run.head_commit.empty()) return "";
  const std::string git_dir = (*fs::directory_iterator(data_ / "mirrors")).path().string();
  EXPECT_EQ(repo_.git({"--git-dir", git_dir, "rev-parse", ended.run.head_commit + "^@"}), base_) << "one commit, on the base";
  return repo_.git({"--git-dir", git_dir, "diff-tree", "-r", "--no-renames", "--name-status", base_, ended.run.head_commit});
}

std::string Stage::file(const Ended& ended, const std::string& path) const {
  const std::string git_dir = (*fs::directory_iterator(data_ / "mirrors")).path().string();
  return repo_.git({"--git-dir", git_dir, "show", ended.run.head_commit + ":" + path});
}

std::int64_t Stage::cost_of(const json& usage) {
  const auto count = [&](const char* kind) { return usage.at(kind).get<std::int64_t>(); };
  const std::int64_t sum =
      count("input") * kInput + count("output") * kOutput + count("cache_read") * kCacheRead + count("cache_write") * kCacheWrite;
  return (sum + 500000) / 1000000;
}

json Stage::script_usage() const {
  json sum = usage_json({});
  for (const json& step : script_) add(sum, step.at("usage"));
  return sum;
}

}  // namespace forge::contract
