#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <csignal>

#include "tests/functional/remains.h"
#include "tests/functional/repository.h"
#include "tests/functional/server.h"
#include "tests/functional/steps.h"
#include "tests/support/git_http_server.h"
#include "tests/support/loopback_server.h"

namespace forge::functional {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

/// Ways in which a run ends before its agent is done.
class Stopped : public testing::Test {
 protected:
  Stopped() {
    forge_.set("FORGE_REPOSITORIES__ALLOW_LOCAL", "/tmp," + repo_.path().parent_path().string());
    mark_ = "forge-agent-of-" + forge_.data().parent_path().filename().string();
  }
  std::string sitting_agent() const { return forge_.steps(runs("echo half > half.txt; " + sleeping_as(mark_))); }
  std::vector<std::string> run_args(const std::string& model, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> args{"run", "--repo", repo_.str(), "--task", "x", "--json", "--model", model};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  json spec(const std::string& model) const { return {{"repository", repo_.str()}, {"task", "x"}, {"model", model}}; }
  void expect_nothing_runs() const {
    EXPECT_THAT(processes_with(mark_), IsEmpty());
    EXPECT_THAT(mounts_with(forge_.data().string()), IsEmpty());
  }

  Installation forge_;
  SmallRepo repo_;
  std::string mark_;
};

TEST_F(Stopped, ByCtrlCKeepsTheWorkAndExitsWith4) {
  Program run = forge_.start(run_args(sitting_agent()));
  wait_for_process(mark_);
  run.signal(SIGINT);
  const Said said = run.wait();
  EXPECT_EQ(said.status(), 4) << said.err;
  EXPECT_THAT(said.err, HasSubstr("cancelling the job; Ctrl-C again stops at once"));
  const json report = json::parse(said.out);
  EXPECT_EQ(report.at("state"), "cancelled");
  EXPECT_EQ(report.at("reason"), "cancelled");
  EXPECT_EQ(report.at("pushed"), false);
  EXPECT_THAT(forge_.forge({"show", report.at("job"), "--diff"}).out, HasSubstr("+half"));
  EXPECT_EQ(repo_.git({"branch", "--list", "forge/*"}), "");
  expect_nothing_runs();
  EXPECT_THAT(forge_.instances(), IsEmpty());
}

TEST_F(Stopped, ByTheSecondCtrlCEndsAtOnce) {
  // The model's server never answers the cancel's end of the run: the push hangs, so that the first Ctrl-C has something to wait for.
  if (const std::string why = test::GitHttpServer::missing(); !why.empty()) GTEST_SKIP() << why;
  test::GitHttpServer git;
  repo_.git({"push", "--quiet", git.make_repository("app.git").string(), "main"});
  git.set_pre_receive_hook("app.git", "exec tail -f /dev/null");
  Program run = forge_.start({"run", "--repo", git.url("app.git"), "--task", "x", "--model", forge_.steps(runs("echo y > y"))});
  wait_for_descendant(run.pid(), "git-network");
  run.wait_err("git diff");
  const auto children = descendants(run.pid());
  run.signal(SIGINT);
  run.wait_err("cancelling the job");
  run.signal(SIGINT);
  EXPECT_EQ(run.wait().status(), 4);
  wait_until_dead(children);
}

TEST_F(Stopped, BySigtermIsLikeCtrlC) {
  Program run = forge_.start(run_args(sitting_agent()));
  wait_for_process(mark_);
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait().status(), 4);
  expect_nothing_runs();
}

TEST_F(Stopped, ByNoSignalThatWasIgnoredAtTheStart) {
  // As nohup does, and a shell for what it puts into the background.
  Program server = forge_.start_program({"/bin/bash", "-c", "trap '' HUP INT; exec \"$0\" serve --listen 127.0.0.1:0", forge_program()});
  server.wait_out("Command line of this machine");
  for (const int ignored : {SIGHUP, SIGINT, SIGINT}) server.signal(ignored);
  EXPECT_EQ(forge_.json({"jobs", "--json"}).at("items").size(), 0u);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().status(), 0);
}

TEST_F(Stopped, ByItsTimeLimitExitsWith6) {
  const json report = forge_.json(run_args(sitting_agent(), {"--timeout", "2"}), 6);
  EXPECT_EQ(report.at("state"), "failed");
  EXPECT_EQ(report.at("reason"), "timeout");
  EXPECT_EQ(report.at("diff_stat").at("files"), 1);  // what was done is kept
  EXPECT_EQ(report.at("pushed"), false);
  expect_nothing_runs();
}

TEST_F(Stopped, ByItsBudgetExitsWith5AndWarnsBefore) {
  test::write_file(forge_.file("prices.json"), R"({"models": {"scripted": {"input": 1000000000, "output": 0, "cache_read": 0,
      "cache_write": 0, "free": ["output", "cache_read", "cache_write"], "context_window": 200000}}})");
  forge_.set("FORGE_MODELS__PRICES_FILE", forge_.file("prices.json").string());
  json steps = json::array();
  for (int i = 0; i < 5; ++i) {
    steps.push_back(does("step", {shell("echo " + std::to_string(i) + " >> log")}));
    steps.back()["usage"] = {{"input", 300'000}, {"output", 0}};
  }
  const json report = forge_.json(run_args(forge_.steps(steps), {"--budget-usd", "1"}), 5);
  EXPECT_EQ(report.at("reason"), "budget_exhausted");
  EXPECT_EQ(report.at("cost_nano_usd"), 1'200'000'000);
  EXPECT_EQ(report.at("error"), "the budget of the run is spent: $1.2000 of $1.0000");
  const auto budget = of_type(forge_.trace(report.at("job")), "budget");
  ASSERT_EQ(budget.size(), 2u);
  EXPECT_EQ(budget[0].at("data").at("action"), "warned");
  EXPECT_EQ(budget[0].at("data").at("spent_nano_usd"), 900'000'000);
  EXPECT_EQ(budget[1].at("data").at("action"), "stopped");
}

TEST_F(Stopped, ByItsTurnLimitIsAFailureThatKeepsTheWork) {
  json steps = json::array();
  for (int i = 0; i < 5; ++i) steps.push_back(does("step", {shell("echo " + std::to_string(i) + " >> log")}));
  const json report = forge_.json(run_args(forge_.steps(steps), {"--max-turns", "2"}), 1);
  EXPECT_EQ(report.at("reason"), "max_turns");
  EXPECT_THAT(forge_.forge({"show", report.at("job"), "--diff"}).out, HasSubstr("+0\n+1\n"));
  EXPECT_EQ(report.at("pushed"), false);
  EXPECT_EQ(repo_.git({"branch", "--list", "forge/*"}), "");
  // Configured, the half-done branch is pushed too.
  forge_.configure("[jobs]\npush_partial = true\n");
  const json partial = forge_.json(run_args(forge_.steps(steps), {"--max-turns", "2"}), 1);
  EXPECT_EQ(partial.at("pushed"), true);
  EXPECT_EQ(repo_.git({"show", partial.at("branch").get<std::string>() + ":log"}), "0\n1");
}

TEST_F(Stopped, WithoutChangesExitsWith3) {
  const json report = forge_.json(run_args(forge_.steps(runs("cat README.md; mkdir empty; touch README.md"))), 3);
  EXPECT_EQ(report.at("state"), "no_changes");
  EXPECT_EQ(report.at("commit"), nullptr);
  EXPECT_EQ(report.at("pushed"), false);
  EXPECT_EQ(repo_.git({"branch", "--list", "forge/*"}), "");
}

TEST_F(Stopped, BySetupThatFailsNeverReachesTheAgent) {
  const json report =
      forge_.json(run_args(forge_.steps(runs("echo y > y")), {"--setup", "echo prepared > p", "--setup", "echo broken >&2; exit 9"}), 1);
  EXPECT_EQ(report.at("reason"), "setup_failed");
  EXPECT_THAT(report.at("error").get<std::string>(), HasSubstr("setup command failed with exit status 9: echo broken >&2; exit 9\nbroken"));
  const auto events = forge_.trace(report.at("job"));
  EXPECT_THAT(of_type(events, "turn"), IsEmpty());
  ASSERT_EQ(of_type(events, "setup").size(), 2u);
  EXPECT_EQ(of_type(events, "setup")[1].at("data").at("exit_code"), 9);
}

TEST_F(Stopped, ByVerifyThatKeepsFailingAfterItWasToldToTheAgent) {
  json steps = json::array({does("try", {shell("echo 1 > n")}), says("first"), does("again", {shell("echo 2 > n")}), says("second"),
                            does("again", {shell("echo 3 > n")}), says("third")});
  const std::string check = "test $(cat n) = 3 || { echo not yet; false; }";
  const json good = forge_.json(run_args(forge_.steps(steps), {"--verify", check}));
  EXPECT_EQ(good.at("verify"), json::array({{{"command", check}, {"exit_code", 0}}}));
  const auto verify = of_type(forge_.trace(good.at("job")), "verify");
  ASSERT_EQ(verify.size(), 3u);
  EXPECT_EQ(verify[0].at("data").at("exit_code"), 1);
  EXPECT_EQ(verify[0].at("data").at("output").at("text"), "not yet\n");
  EXPECT_EQ(verify[2].at("data").at("round"), 2);
  forge_.set("FORGE_JOBS__VERIFY_ROUNDS", "1");
  const json bad = forge_.json(run_args(forge_.steps(steps), {"--verify", check}), 1);
  EXPECT_EQ(bad.at("reason"), "verify_failed");
  EXPECT_EQ(bad.at("error"), "the verify command still fails after 1 rounds of repair");
  EXPECT_EQ(bad.at("verify").at(0).at("exit_code"), 1);
}

TEST_F(Stopped, BySilenceOfTheAgent) {
  test::LoopbackServer hanging([](test::Connection& connection) { connection.wait_gone(); });
  forge_.set("ANTHROPIC_API_KEY", "sk-a-key-0123456789");
  forge_.set("ANTHROPIC_BASE_URL", hanging.url());
  forge_.set("FORGE_JOBS__STALL_LIMIT_S", "1");
  const json report = forge_.json(run_args("anthropic/claude-haiku-4-5"), 1);
  EXPECT_EQ(report.at("reason"), "no_output");
}

TEST_F(Stopped, ByTheModelsProvider) {
  const auto reason_of = [&](const json& step, int status = 1) {
    return forge_.json(run_args(forge_.steps(json::array({step}))), status).at("reason");
  };
  EXPECT_EQ(reason_of({{"error", {{"status", 401}}}}), "auth_error");
  EXPECT_EQ(reason_of({{"error", {{"status", 400}}}}), "api_error");
  EXPECT_EQ(reason_of({{"text", "No."}, {"stop", "refusal"}}), "refused");
}

/// One server; each run is caught in another state and cancelled over HTTP.
TEST_F(Stopped, ByCancelInEveryState) {
  forge_.set("FORGE_JOBS__CONCURRENCY", "1");
  test::LoopbackServer silent([](test::Connection& connection) { connection.wait_gone(); });
  Server server(forge_);
  const auto cancel = [&](const std::string& job, int status = 202) {
    return server.api("POST", "/api/v1/jobs/" + job + "/cancel", json::object(), status);
  };
  const auto run_of = [&](const std::string& job) { return server.api("GET", "/api/v1/jobs/" + job).at("last_run"); };

  json created = spec(sitting_agent());
  created["start"] = false;
  const std::string never_ran = server.create(created);
  EXPECT_EQ(server.api("GET", "/api/v1/jobs/" + never_ran).at("state"), "created");
  EXPECT_EQ(cancel(never_ran, 409).at("error").at("message"), "nothing to cancel: the job is created");

  const std::string running = server.create(spec(sitting_agent()));
  wait_for_process(mark_);
  const std::string queued = server.create(spec(sitting_agent()));
  EXPECT_EQ(run_of(queued).at("state"), "queued");
  EXPECT_EQ(cancel(queued).at("state"), "cancelled");
  EXPECT_EQ(run_of(queued).at("reason"), "cancelled");

  cancel(running);
  EXPECT_EQ(server.wait_ended(running).at("reason"), "cancelled");
  EXPECT_EQ(run_of(running).at("diff_stat").at("files"), 1);
  expect_nothing_runs();

  json fetching = spec(sitting_agent());
  fetching["repository"] = silent.url() + "/x.git";
  const std::string preparing = server.create(fetching);
  server.wait_for(preparing, "state", [](const json& state) { return state.at("to") == "preparing"; });
  cancel(preparing);
  EXPECT_EQ(server.wait_ended(preparing).at("reason"), "cancelled");

  EXPECT_EQ(cancel(running, 409).at("error").at("code"), "conflict");
  EXPECT_EQ(server.api("GET", "/api/v1/jobs?state=cancelled").at("items").size(), 3u);
}

/// What was done is committed and pushed; from then on a cancel comes too late.
TEST_F(Stopped, ByCancelNoMoreOnceItsWorkIsOnTheWay) {
  if (const std::string why = test::GitHttpServer::missing(); !why.empty()) GTEST_SKIP() << why;
  test::GitHttpServer git;
  const auto served = git.make_repository("app.git");
  repo_.git({"push", "--quiet", served.string(), "main"});
  const std::string gate = forge_.file("gate").string();
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  git.set_pre_receive_hook("app.git", "read word < " + gate);
  Server server(forge_);
  json job_spec = spec(forge_.steps(runs("echo y > y")));
  job_spec["repository"] = git.url("app.git");
  const std::string job = server.create(job_spec);
  const UniqueFd open_gate = checked_fd(::open(gate.c_str(), O_WRONLY | O_CLOEXEC), "opening the gate");  // blocks until the hook reads
  EXPECT_EQ(server.api("POST", "/api/v1/jobs/" + job + "/cancel", json::object(), 202).at("state"), "finalizing");
  write_all(open_gate.get(), "go\n", patience());
  EXPECT_EQ(server.wait_ended(job).at("state"), "succeeded");
  EXPECT_EQ(test::run_git(served, {"show", "forge/" + job.substr(0, 10) + "-1:y"}), "y");
}

}  // namespace
}  // namespace forge::functional
