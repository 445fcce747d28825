#include "orchestrator/jobs/service.h"

#include <gmock/gmock.h>

#include "tests/support/errors.h"
#include "tests/unit/jobs/jobs_fixture.h"

namespace forge::test {
namespace {

using adapters::AgentResult;
using adapters::RunContext;
using testing::Contains;
using testing::HasSubstr;

using ServiceTest = Jobs;

TEST_F(ServiceTest, AFinishedRunIsABranchThatHoldsExactlyTheEdits) {
  start(writes("src/main.py", "print('two')\n"));
  const Job job = run_to_end(spec());
  ASSERT_TRUE(job.last_run);
  const forge::Run& run = *job.last_run;
  EXPECT_EQ(job.state, JobState::succeeded) << run.error;
  EXPECT_EQ(run.reason, Reason::completed);
  EXPECT_TRUE(run.pushed);
  EXPECT_EQ(run.branch, "forge/" + job.id.str().substr(0, 10) + "-1");
  EXPECT_EQ(repo_.git({"show", run.branch + ":src/main.py"}), "print('two')");
  EXPECT_EQ(repo_.git({"diff", "--name-only", "main", run.branch}), "src/main.py");
  EXPECT_EQ(run.diff_stat.files, 1);
  EXPECT_EQ(run.diff_stat.insertions, 1);
  EXPECT_EQ(run.diff_stat.deletions, 1);
  EXPECT_THAT(service_->diff(job.id.str(), 0), HasSubstr("+print('two')"));
  EXPECT_THAT(repo_.git({"log", "-1", "--format=%B", run.branch}), HasSubstr("Forge-Job: " + job.id.str()));
  EXPECT_GT(run.started_ms, 0);
  EXPECT_GE(run.started_ms, run.created_ms);
  EXPECT_GE(run.ended_ms, run.started_ms);
  EXPECT_EQ(driver_.counts().live(), 0);
}

TEST_F(ServiceTest, ASummaryThatTerminalsObeyIsACommitMessageThatTheyShow) {
  start([](const RunContext& context, const std::string&, const Stop& stop) {
    context.sandbox.write_file("a", "a", stop);
    return AgentResult{Reason::completed, std::string(40, '\x1b') + "done\nsee \x1b]8;;http://x\x07\u202e", ""};
  });
  const Job job = run_to_end(spec());
  const std::string message = repo_.git({"log", "-1", "--format=%B", job.last_run->branch});
  EXPECT_THAT(message, testing::StartsWith("^[^["));
  EXPECT_LE(message.find('\n'), 72u);
  EXPECT_THAT(message, HasSubstr("done\nsee ^[]8;;http://x^G?\n"));
}

TEST_F(ServiceTest, TheAgentsConversationAndItsOwnFigureAreKeptHoweverItEnded) {
  start([](const RunContext& context, const std::string& prompt, const Stop& stop) -> AgentResult {
    if (prompt == "crash") throw Error(ErrorCode::unavailable, "the sandbox is gone");
    context.sandbox.write_file("a.txt", "a\n", stop);
    return {.reason = Reason::completed, .summary = "done", .error = {}, .reported_cost_nano_usd = 1234};
  });
  adapter_->saved = adapters::SavedSession{"s-1", "all that was said"};
  const Job good = run_to_end(spec());
  EXPECT_EQ(good.last_run->agent_session, "s-1");
  EXPECT_EQ(store_->blob(good.last_run->agent_session_blob), "all that was said");
  EXPECT_EQ(service_->cost(good.id.str(), 0).reported_cost_nano_usd, 1234);
  const Job bad = run_to_end(spec("crash"));
  EXPECT_EQ(bad.state, JobState::failed);
  EXPECT_EQ(bad.last_run->agent_session, "s-1");
  EXPECT_FALSE(service_->cost(bad.id.str(), 0).reported_cost_nano_usd);
}

TEST_F(ServiceTest, EveryStateOfARunIsInItsTraceInOrder) {
  start(writes("a.txt", "a\n"));
  const Job job = run_to_end(spec());
  std::string states;
  for (const auto& event : events(job))
    if (event.type == TraceType::state) states += event.data_json + "\n";
  std::size_t at = 0;
  for (const char* state : {"queued", "leased", "preparing", "running", "finalizing", "succeeded"}) {
    const auto found = states.find("\"to\":\"" + std::string(state) + "\"", at);
    ASSERT_NE(found, std::string::npos) << state << " in\n" << states;
    at = found;
  }
  EXPECT_EQ(events(job).back().type, TraceType::terminal);
}

TEST_F(ServiceTest, AnAgentThatChangesNothingEndsAsNoChanges) {
  start([](const RunContext&, const std::string&, const Stop&) { return AgentResult{Reason::completed, "nothing to do", ""}; });
  const Job job = run_to_end(spec());
  EXPECT_EQ(job.state, JobState::no_changes);
  EXPECT_EQ(job.last_run->reason, Reason::no_changes);
  EXPECT_EQ(repo_.git({"branch", "--list", "forge/*"}), "");
}

TEST_F(ServiceTest, WhatTheAgentFailsWithIsTheReasonAndTheWorkIsKeptButNotPushed) {
  start([](const RunContext& context, const std::string&, const Stop& stop) {
    context.sandbox.write_file("half.txt", "half\n", stop);
    return AgentResult{Reason::budget_exhausted, "", "the budget is spent"};
  });
  const Job job = run_to_end(spec());
  EXPECT_EQ(job.state, JobState::failed);
  EXPECT_EQ(job.last_run->reason, Reason::budget_exhausted);
  EXPECT_EQ(job.last_run->error, "the budget is spent");
  EXPECT_FALSE(job.last_run->pushed);
  EXPECT_THAT(service_->diff(job.id.str(), 0), HasSubstr("+half"));
  EXPECT_EQ(repo_.git({"branch", "--list", "forge/*"}), "");
}

TEST_F(ServiceTest, AFailingVerifyCommandIsToldToTheAgentUntilItPasses) {
  std::vector<std::string> prompts;
  start([&](const RunContext& context, const std::string& prompt, const Stop& stop) {
    prompts.push_back(prompt);
    context.sandbox.write_file("answer", prompts.size() == 1 ? "41" : "42", stop);
    return AgentResult{Reason::completed, "answered", ""};
  });
  JobSpec asked = spec();
  asked.verify = {"test \"$(cat answer)\" = 42 || { echo wrong answer; exit 3; }"};
  const Job job = run_to_end(asked);
  EXPECT_EQ(job.state, JobState::succeeded);
  ASSERT_EQ(prompts.size(), 2u);
  EXPECT_EQ(prompts[0], "change it");
  EXPECT_THAT(prompts[1], HasSubstr("wrong answer"));
  EXPECT_THAT(prompts[1], HasSubstr("exit status 3"));
  ASSERT_EQ(job.last_run->verify.size(), 1u);
  EXPECT_EQ(job.last_run->verify[0].exit_code, 0);
}

TEST_F(ServiceTest, AVerifyCommandThatNeverPassesEndsAsVerifyFailedAfterTheRounds) {
  int prompts = 0;
  start([&](const RunContext& context, const std::string&, const Stop& stop) {
    context.sandbox.write_file("answer", std::to_string(++prompts), stop);
    return AgentResult{Reason::completed, "", ""};
  });
  JobSpec asked = spec();
  asked.verify = {"false"};
  asked.limits.verify_rounds = 2;
  const Job job = run_to_end(asked);
  EXPECT_EQ(job.last_run->reason, Reason::verify_failed);
  EXPECT_EQ(prompts, 3);
  EXPECT_FALSE(job.last_run->pushed);
}

TEST_F(ServiceTest, AFailingSetupCommandEndsTheRunBeforeTheAgentStarts) {
  bool started = false;
  start([&](const RunContext&, const std::string&, const Stop&) {
    started = true;
    return AgentResult{};
  });
  JobSpec asked = spec();
  asked.setup = {"true", "echo no such package; exit 9"};
  const Job job = run_to_end(asked);
  EXPECT_EQ(job.last_run->reason, Reason::setup_failed);
  EXPECT_THAT(job.last_run->error, HasSubstr("no such package"));
  EXPECT_FALSE(started);
}

TEST_F(ServiceTest, ASandboxThatCannotBeMadeEndsTheRunWithTheReason) {
  driver_.fail({.acquire = ErrorCode::sandbox_unavailable});
  start(writes("a", "a"));
  const Job job = run_to_end(spec());
  EXPECT_EQ(job.last_run->reason, Reason::sandbox_failed);
  EXPECT_FALSE(job.last_run->error.empty());
}

TEST_F(ServiceTest, ASandboxThatIsLostUnderTheAgentEndsTheRun) {
  driver_.fail({.run = ErrorCode::unavailable, .runs_before_failure = 0});
  start([](const RunContext& context, const std::string&, const Stop& stop) {
    context.sandbox.run({.argv = {"true"}}, stop);
    return AgentResult{};
  });
  const Job job = run_to_end(spec());
  EXPECT_EQ(job.state, JobState::failed);
  EXPECT_EQ(job.last_run->reason, Reason::sandbox_lost);
  EXPECT_EQ(driver_.counts().live(), 0);
}

// A key that was there when the job was made: no program of the agent ended.
TEST_F(ServiceTest, AModelThatIsNotThereAnyMoreEndsTheRunAsApiError) {
  start(writes("a", "a"));
  adapter_->refusal = public_failure(ErrorCode::invalid_argument, "no model configured: set ANTHROPIC_API_KEY");
  const Job job = run_to_end(spec());
  EXPECT_EQ(job.state, JobState::failed);
  EXPECT_EQ(job.last_run->reason, Reason::api_error);
  EXPECT_EQ(job.last_run->error, "no model configured: set ANTHROPIC_API_KEY");
  EXPECT_EQ(driver_.counts().live(), 0);
}

TEST_F(ServiceTest, ARepositoryThatIsNotThereEndsTheRunAsGitFailed) {
  start(writes("a", "a"));
  JobSpec asked = spec();
  asked.repository = dir_.str() + "/nowhere";
  const Job job = run_to_end(asked);
  EXPECT_EQ(job.last_run->reason, Reason::git_failed);
  EXPECT_FALSE(job.last_run->error.empty());
  EXPECT_EQ(driver_.counts().acquired, 0);
}

TEST_F(ServiceTest, TooManyChangesEndTheRunAndNothingIsCommitted) {
  driver_.fail({.changes = ErrorCode::limit_exceeded});
  start(writes("a", "a"));
  const Job job = run_to_end(spec());
  EXPECT_EQ(job.last_run->reason, Reason::changes_limit);
  EXPECT_EQ(job.last_run->head_commit, "");
}

TEST_F(ServiceTest, APushThatIsRefusedEndsTheRunAsPushFailedAndKeepsTheDiff) {
  start([&](const RunContext& context, const std::string&, const Stop& stop) {
    context.sandbox.write_file("a.txt", "a\n", stop);
    repo_.git({"branch", context.run.branch, "main"});  // somebody else has that branch
    return AgentResult{Reason::completed, "done", ""};
  });
  const Job job = run_to_end(spec());
  EXPECT_EQ(job.last_run->reason, Reason::push_failed);
  EXPECT_THAT(service_->diff(job.id.str(), 0), HasSubstr("+a"));
}

TEST_F(ServiceTest, ARetryIsANewRunOnABranchOfItsOwn) {
  start(writes("a.txt", "a\n"));
  const Job first = run_to_end(spec());
  service_->new_run(me_, first.id.str(), {});
  ASSERT_TRUE(wait_for_ends(2));
  const auto runs = service_->runs(first.id.str());
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(service_->get(first.id.str()).last_run->number, 2);
  EXPECT_EQ(service_->run(first.id.str(), 1).state, JobState::succeeded);
  EXPECT_THAT(repo_.git({"branch", "--list", "forge/*"}), HasSubstr("-2"));
}

TEST_F(ServiceTest, ACreatedJobWaitsUntilItIsRun) {
  start(writes("a.txt", "a\n"));
  const Job job = service_->create(me_, spec(), false);
  EXPECT_EQ(job.state, JobState::created);
  service_->new_run(me_, job.id.str(), {});
  ASSERT_TRUE(wait_for_ends(1));
  EXPECT_EQ(service_->get(job.id.str()).state, JobState::succeeded);
}

TEST_F(ServiceTest, TheTaskThatFailsValidationIsNotStored) {
  start(writes("a", "a"));
  struct Case {
    std::function<void(JobSpec&)> spoil;
    std::string field;
    std::string text;
  };
  const std::vector<Case> cases{
      {[](JobSpec& s) { s.repository = ""; }, "repository", "is empty"},
      {[](JobSpec& s) { s.task = " \n"; }, "task", "is empty"},
      {[](JobSpec& s) { s.adapter = "pie"; }, "adapter", "there is no adapter named 'pie'"},
      {[](JobSpec& s) { s.driver = "moon"; }, "driver", "there is no driver named 'moon'"},
      {[](JobSpec& s) { s.template_name = "big"; }, "template", "there is no template named 'big'"},
      {[](JobSpec& s) { s.limits.max_turns = 0; }, "limits.max_turns", "0 is not from 1 to 10000"},
      {[](JobSpec& s) { s.limits.time_limit_s = -1; }, "limits.time_limit_s", "-1 is not from 1 to 604800"},
      {[](JobSpec& s) {
         s.verify = {"make", ""};
       },
       "verify[1]", "is empty"},
      {[](JobSpec& s) { s.title = "two\nlines"; }, "title", "holds control characters"},
      {[](JobSpec& s) { s.network.allow_hosts = {"a b"}; }, "network.allow_hosts[0]", "is not a host name"},
      {[](JobSpec& s) { s.budget_nano_usd = 0; }, "budget", "the budget must be more than 0"},
  };
  for (const auto& c : cases) {
    JobSpec asked = spec();
    c.spoil(asked);
    try {
      service_->create(me_, asked, true);
      ADD_FAILURE() << c.field << " was accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument) << c.field;
      EXPECT_EQ(e.field(), c.field);
      EXPECT_EQ(e.client_text(), c.text);
    }
  }
  EXPECT_TRUE(service_->list({}).items.empty());
}

TEST_F(ServiceTest, TheCapsAreThoseOfTheRequest) {
  start(writes("a", "a"), {.concurrency = 0});
  JobSpec asked = spec();
  asked.limits.max_tokens = 1'000'000'000'000;
  EXPECT_EQ(service_->create(me_, asked, false).spec.limits.max_tokens, asked.limits.max_tokens);
  ++asked.limits.max_tokens;
  EXPECT_EQ(code_of([&] { service_->create(me_, asked, false); }), "invalid_argument");
}

TEST_F(ServiceTest, UncommittedChangesAreSaidAndLeftOut) {
  repo_.write("README.md", "edited by hand\n");
  start(writes("a.txt", "a\n"));
  const Job job = run_to_end(spec());
  EXPECT_EQ(job.state, JobState::succeeded);
  EXPECT_THAT(job.last_run->findings, Contains(HasSubstr("uncommitted changes are not included (1 file")));
  EXPECT_EQ(repo_.git({"show", job.last_run->branch + ":README.md"}), "hello");
}

}  // namespace
}  // namespace forge::test
