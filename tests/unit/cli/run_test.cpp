#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "tests/support/golden.h"
#include "tests/unit/cli/fixture.h"

namespace forge::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST_F(CliTest, RunShowsTheTraceAndWhatCameOfIt) {
  EXPECT_EQ(run({"run", "--repo", "/srv/git/app", "--task", "Repair the parser"}), 0);
  EXPECT_EQ(services.used, EngineUse::work);
  test::expect_golden("tests/unit/cli/golden/run.out.txt", out);
  test::expect_golden("tests/unit/cli/golden/run.err.txt", err);
}

TEST_F(CliTest, RunSendsWhatWasSaidAndLeavesTheRestToTheServer) {
  EXPECT_EQ(run({"run", "--repo", "/srv/git/app", "--task", "Repair"}), 0);
  EXPECT_EQ(json::parse(forge().last("POST /api/v1/jobs").body), (json{{"repository", "/srv/git/app"}, {"task", "Repair"}}));
}

TEST_F(CliTest, RunSendsEveryOption) {
  const std::string model = (directory / "steps.json").string();
  EXPECT_EQ(run({"run",
                 "--repo",
                 "https://h/r.git",
                 "--base",
                 "v1",
                 "--task",
                 "Do [a, b]",
                 "--adapter",
                 "pi",
                 "--model",
                 "scripted:" + model,
                 "--template",
                 "base",
                 "--driver",
                 "local",
                 "--setup",
                 "npm ci",
                 "--setup",
                 "make",
                 "--verify",
                 "make test",
                 "--verify",
                 "make lint",
                 "--allow-host",
                 "a.org",
                 "--allow-host",
                 "b.org",
                 "--budget-usd",
                 "1.50",
                 "--max-turns",
                 "50",
                 "--timeout",
                 "90",
                 "--no-push"}),
            0);
  const json body = json::parse(forge().last("POST /api/v1/jobs").body);
  EXPECT_EQ(body,
            json::parse(R"({"repository":"https://h/r.git","base":"v1","task":"Do [a, b]","adapter":"pi","template":"base","driver":"local",
      "setup":["npm ci","make"],"verify":["make test","make lint"],"network":{"allow_hosts":["a.org","b.org"]},
      "budget":{"run_nano_usd":1500000000},"limits":{"max_turns":50,"time_limit_s":90},"push":false,"model":"scripted:)" +
                        model + "\"}"));
}

TEST_F(CliTest, RunMakesPathsAbsoluteBecauseTheServerIsElsewhere) {
  EXPECT_EQ(run({"run", "--task", "t", "--model", "scripted:steps.json"}), 0);
  const json body = json::parse(forge().last("POST /api/v1/jobs").body);
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(body.at("repository"), here);
  EXPECT_EQ(body.at("model"), "scripted:" + here + "/steps.json");
}

TEST_F(CliTest, RunReadsTheTaskFromAFile) {
  test::write_file(directory / "task.md", "Two\nlines\n");
  EXPECT_EQ(run({"run", "--task-file", (directory / "task.md").string()}), 0);
  EXPECT_EQ(json::parse(forge().last("POST /api/v1/jobs").body).at("task"), "Two\nlines\n");
}

TEST_F(CliTest, RunPrintsOneObjectWithJson) {
  EXPECT_EQ(run({"run", "--task", "t", "--json"}), 0);
  const json report = json::parse(out);
  EXPECT_EQ(out.find('\n'), out.size() - 1) << "one line";
  EXPECT_EQ(report.at("job"), kJobId);
  EXPECT_EQ(report.at("state"), "succeeded");
  EXPECT_EQ(report.at("diff_stat"), (json{{"files", 2}, {"insertions", 1234}, {"deletions", 5}}));
  EXPECT_EQ(report.at("cost_nano_usd"), 12'300'000);
  EXPECT_EQ(report.at("duration_ms"), 42'300);
  EXPECT_THAT(err, HasSubstr("make test")) << "progress goes to standard error";
}

TEST_F(CliTest, RunPrintsEventsAsLines) {
  EXPECT_EQ(run({"run", "--task", "t", "--events"}), 0);
  std::string expected;
  for (const auto& one : good_run()) expected += envelope_json(one) + "\n";
  EXPECT_EQ(out, expected);
  EXPECT_THAT(err, IsEmpty());
}

TEST_F(CliTest, RunTellsByItsStatusHowItEnded) {
  const auto status_of = [this](JobState state, Reason reason) {
    script.job.state = script.job.last_run->state = state;
    script.job.last_run->reason = reason;
    FakeForge other(script, (directory / "other.sock").string());
    services.socket = (directory / "other.sock").string();
    const int status = run_cli({"run", "--task", "t", "--json"}, services, standard_console());
    std::filesystem::remove(directory / "other.sock");
    return status;
  };
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(status_of(JobState::succeeded, Reason::completed), 0);
  EXPECT_EQ(status_of(JobState::failed, Reason::verify_failed), 1);
  EXPECT_EQ(status_of(JobState::no_changes, Reason::no_changes), 3);
  EXPECT_EQ(status_of(JobState::cancelled, Reason::cancelled), 4);
  EXPECT_EQ(status_of(JobState::failed, Reason::budget_exhausted), 5);
  EXPECT_EQ(status_of(JobState::failed, Reason::timeout), 6);
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
}

TEST_F(CliTest, RunSaysWhyItFailed) {
  script.job.state = script.job.last_run->state = JobState::failed;
  script.job.last_run->reason = Reason::verify_failed;
  script.job.last_run->error = "the verify command still fails after 2 rounds of repair";
  script.job.last_run->verify = {{"make test", 2}};
  script.job.last_run->pushed = false;
  script.job.last_run->findings = {"fifo: pipe: left out"};
  script.job.last_run->unenforced = {"memory: no cgroup"};
  script.job.last_run->cost_nano_usd = std::nullopt;
  EXPECT_EQ(run({"run", "--repo", "/srv/app", "--task", "t"}), 1);
  test::expect_golden("tests/unit/cli/golden/run_failed.out.txt", out);
}

TEST_F(CliTest, RunGoesThroughAServerWithAToken) {
  FakeForge remote(script);
  EXPECT_EQ(run({"run", "--task", "t", "--server", remote.url(), "--token", "forge_secret"}), 0);
  EXPECT_EQ(services.used, std::nullopt) << "the data directory of this machine is not touched";
  EXPECT_EQ(remote.last("POST /api/v1/jobs").header("authorization"), "Bearer forge_secret");
  EXPECT_THAT(out + err, Not(HasSubstr("forge_secret")));
}

TEST_F(CliTest, CtrlCCancelsTheJobAndWaitsForItsEnd) {
  script.wait_for_cancel = true;
  script.events = {event(1, trace::State{JobState::running, JobState::cancelled, Reason::cancelled, ""}),
                   event(2, trace::Terminal{Reason::cancelled, ""})};
  FakeForge& server = forge();
  std::jthread person([&server] {
    server.wait_for_stream(Stop::after(std::chrono::seconds(50)));
    ::kill(::getpid(), SIGINT);
  });
  EXPECT_EQ(run({"run", "--task", "t"}), 4);
  EXPECT_THAT(server.requests(), Contains(std::string("POST /api/v1/jobs/") + kJobId + "/cancel"));
  EXPECT_THAT(err, HasSubstr("cancelling the job; Ctrl-C again stops at once"));
  EXPECT_THAT(out, HasSubstr("run 1 cancelled"));
}

TEST_F(CliTest, ASecondCtrlCEndsTheProcessAtOnce) {
  script.wait_for_cancel = true;
  // The server answers no cancel, so that only the second signal can end it.
  script.answers[std::string("POST /api/v1/jobs/") + kJobId + "/cancel"] =
      test::http_answer(503, R"({"error":{"code":"busy","message":"draining"}})");
  EXPECT_EXIT(
      {
        FakeForge server(script, (directory / "inside.sock").string());
        services.socket = (directory / "inside.sock").string();
        std::jthread person([&server] {
          const Stop stop = Stop::after(std::chrono::seconds(50));
          server.wait_for_stream(stop);
          ::kill(::getpid(), SIGINT);
          server.wait_for_request(std::string("POST /api/v1/jobs/") + kJobId + "/cancel", stop);
          ::kill(::getpid(), SIGINT);
        });
        run_cli({"run", "--task", "t"}, services, standard_console());
        std::_Exit(99);  // it must not come back
      },
      testing::ExitedWithCode(4), "");
}

TEST_F(CliTest, RunWaitsForOtherRunsOfThisProcess) {
  services.own_engine = true;
  services.other_runs = 2;
  EXPECT_EQ(run({"run", "--task", "t"}), 0);
  EXPECT_TRUE(services.drained);
  EXPECT_THAT(err, HasSubstr("waiting for 2 more runs that this process works on"));
}

TEST_F(CliTest, RunTakesUpALostConnection) {
  script.cut_after = {3, 2};
  EXPECT_EQ(run({"run", "--task", "t", "--events"}), 0);
  std::string expected;
  for (const auto& one : good_run()) expected += envelope_json(one) + "\n";
  EXPECT_EQ(out, expected) << "each event once, in order";
}

TEST_F(CliTest, RetryWatchesTheNewRun) {
  script.job.last_run->number = 2;
  EXPECT_EQ(run({"retry", kJobId}), 0);
  EXPECT_EQ(services.used, EngineUse::work);
  EXPECT_THAT(forge().requests(), Contains(std::string("POST /api/v1/jobs/") + kJobId + "/run"));
  EXPECT_THAT(forge().requests(), Contains(std::string("GET /api/v1/jobs/") + kJobId + "/runs/2/events"));
  EXPECT_THAT(out, HasSubstr("run 2 succeeded"));
}

TEST_F(CliTest, RetryAsksForTheBudgetThatItWasTold) {
  script.job.last_run->number = 2;
  EXPECT_EQ(run({"retry", kJobId, "--follow-up", "--note", "Go on.", "--budget-usd", "2.5"}), 0);
  EXPECT_EQ(forge().last("POST").body, R"({"budget":{"run_nano_usd":2500000000},"kind":"follow_up","note":"Go on."})");
  EXPECT_NE(run({"retry", kJobId, "--budget-usd", "much"}), 0);
  EXPECT_THAT(err, HasSubstr("--budget-usd"));
}

struct BadRun {
  std::vector<std::string> args;
  std::string says;
};

TEST_F(CliTest, RunNamesThePathThatTheSystemRefuses) {
  const std::string loop = (directory / "loop").string();
  std::filesystem::create_symlink(loop, loop);
  EXPECT_NE(run({"run", "--task-file", loop}), 0);
  EXPECT_EQ(err, "forge: " + loop + ": Too many levels of symbolic links\n");
  EXPECT_NE(run({"run", "--task", "t", "--repo", std::string(5000, 'a') + ":x"}), 0);
  EXPECT_THAT(err, AllOf(StartsWith("forge: aaaa"), EndsWith("File name too long\n")));
}

TEST_F(CliTest, RunRefusesBadInputWithAHint) {
  const std::vector<BadRun> bad{
      {{}, "forge: no task: say what the agent is to do\n  --task TEXT, or --task-file FILE\n"},
      {{"--task", "  "}, "forge: the task is empty\n  say what the agent is to do\n"},
      {{"--task", "a", "--task-file", "b"}, "forge: --task and --task-file exclude each other\n  choose one\n"},
      {{"--task-file", "/no/such/file"}, "forge: /no/such/file: no such file\n  a file, or - for standard input\n"},
      {{"--task", "t", "--json", "--events"}, "forge: --json and --events exclude each other\n  choose one\n"},
      {{"--task", "t", "--max-turns", "0"}, "forge: --max-turns must be an integer from 1 to 10000, not \"0\"\n"},
      {{"--task", "t", "--timeout", "1h"}, "forge: --timeout must be an integer from 1 to 604800, not \"1h\"\n"},
      {{"--task", "t", "--base", "a", "--base", "b"}, "forge: --base is given more than once\n  give it once\n"},
      {{"--task", "t", "--server", "localhost:8700"},
       "forge: --server must be an http or https URL, not \"localhost:8700\"\n  for example http://127.0.0.1:8700\n"},
  };
  for (const BadRun& one : bad) {
    std::vector<std::string> args{"run"};
    args.insert(args.end(), one.args.begin(), one.args.end());
    EXPECT_EQ(run(args), 2) << one.says;
    EXPECT_EQ(err, one.says);
    EXPECT_EQ(out, "");
  }
  EXPECT_EQ(run({"run", "--task", "t", "--budget-usd", "much"}), 2);
  EXPECT_THAT(err, HasSubstr("--budget-usd"));
}

TEST_F(CliTest, RunSaysWhenTheServerIsGone) {
  EXPECT_EQ(run({"run", "--task", "t", "--server", "http://127.0.0.1:1"}), 7);
  EXPECT_THAT(err, HasSubstr("forge: no answer from http://127.0.0.1:1"));
  EXPECT_THAT(err, HasSubstr("check the address, and that the server is up"));
}

TEST_F(CliTest, RunPassesOnWhatTheServerRefuses) {
  script.answers["POST /api/v1/jobs"] = test::http_answer(
      400, R"({"error":{"code":"invalid_argument","message":"no model configured","field":"model","hint":"set ANTHROPIC_API_KEY"}})");
  EXPECT_EQ(run({"run", "--task", "t"}), 2);
  EXPECT_EQ(err, "forge: no model configured\n  set ANTHROPIC_API_KEY\n");
}

TEST_F(CliTest, RunSaysThatATokenIsMissing) {
  script.answers["POST /api/v1/jobs"] = test::http_answer(401, R"({"error":{"code":"unauthenticated","message":"a token is needed"}})");
  EXPECT_EQ(run({"run", "--task", "t"}), 2);
  EXPECT_THAT(err, HasSubstr("give a token with --token or FORGE_TOKEN"));
}

TEST_F(CliTest, AnEngineThatCannotBeOpenedIsUnavailable) {
  services.engine_error = public_failure(ErrorCode::unavailable, "the data directory is taken");
  EXPECT_EQ(run({"run", "--task", "t"}), 7);
  EXPECT_EQ(err, "forge: the data directory is taken\n");
}

}  // namespace
}  // namespace forge::cli
