#include <gmock/gmock.h>
#include <unistd.h>

#include <iostream>

#include "orchestrator/base/fd.h"
#include "tests/support/golden.h"
#include "tests/support/temp_repo.h"
#include "tests/unit/cli/fixture.h"

namespace forge::cli {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kJobPath = std::string("/api/v1/jobs/") + kJobId;

TEST_F(CliTest, JobsListsThemNewestFirst) {
  EXPECT_EQ(run({"jobs"}), 0);
  EXPECT_EQ(services.used, EngineUse::look) << "reading starts nothing";
  EXPECT_THAT(out, HasSubstr("06f3m2k9qa succeeded"));
  EXPECT_THAT(out, HasSubstr("$0.0123  Repair the parser\n"));
  EXPECT_THAT(forge().requests(), Contains("GET /api/v1/jobs?limit=20"));
}

TEST_F(CliTest, JobsPassesFiltersOn) {
  EXPECT_EQ(run({"jobs", "--state", "failed", "--repo", "/srv/git/a b", "--limit", "5", "--cursor", "x/y"}), 0);
  EXPECT_THAT(forge().requests(), Contains("GET /api/v1/jobs?limit=5&state=failed&repository=%2Fsrv%2Fgit%2Fa%20b&cursor=x%2Fy"));
}

TEST_F(CliTest, JobsPrintsThePageAsJson) {
  EXPECT_EQ(run({"jobs", "--json"}), 0);
  EXPECT_EQ(json::parse(out).at("items").at(0).at("id"), kJobId);
}

TEST_F(CliTest, JobsRefusesAStateThatIsNone) {
  EXPECT_EQ(run({"jobs", "--state", "done"}), 2);
  EXPECT_THAT(err, StartsWith("forge: --state must be one of created, queued, leased, preparing, running, finalizing, succeeded, "
                              "no_changes, failed, cancelled"));
}

TEST_F(CliTest, ShowTellsWhatCameOfTheJob) {
  EXPECT_EQ(run({"show", "06F3M2"}), 0) << "a prefix, in any case";
  EXPECT_THAT(forge().requests(), Contains("GET /api/v1/jobs/06f3m2"));
  test::expect_golden("tests/unit/cli/golden/show.txt", out);
}

TEST_F(CliTest, ShowTellsThatAJobHasNotRun) {
  script.job.last_run.reset();
  script.job.state = JobState::created;
  EXPECT_EQ(run({"show", kJobId}), 0);
  EXPECT_EQ(out, "job 06f3m2k9qa is created: it has not run yet\n");
}

TEST_F(CliTest, ShowPrintsTheDiffByteByByteIntoAPipe) {
  script.diff = "diff\n+\x1b[31mred\r\n";
  EXPECT_EQ(run({"show", kJobId, "--diff"}), 0);
  EXPECT_EQ(out, script.diff);
  EXPECT_EQ(forge().last("GET " + kJobPath + "/diff").header("accept"), "text/x-diff");
}

TEST_F(CliTest, ShowSaysOfARunWithoutTokensOnlyThat) {
  script.job.last_run->usage = {};
  script.job.last_run->cost_nano_usd = 0;
  EXPECT_EQ(run({"show", kJobId}), 0);
  EXPECT_THAT(out, HasSubstr("cost      $0.0000, no tokens counted\n")) << "a script may have answered without saying its usage";
}

TEST_F(CliTest, ShowPrintsTheDiffOfTheApiAsJson) {
  script.answers["GET " + kJobPath + "/diff"] = test::http_answer(200, R"({"run":1,"text":"diff\n"})");
  EXPECT_EQ(run({"show", kJobId, "--diff", "--json"}), 0);
  EXPECT_EQ(out, "{\"run\":1,\"text\":\"diff\\n\"}\n");
}

TEST_F(CliTest, EndsQuietlyWhenNobodyReadsItsOutput) {
  Pipe pipe = make_pipe();
  const UniqueFd saved(::dup(STDOUT_FILENO));
  ::dup2(pipe.write.get(), STDOUT_FILENO);
  pipe.read.reset();
  forge();
  std::ostringstream err_stream;
  const int status = run_cli({"show", kJobId, "--diff"}, services, {.out = std::cout, .err = err_stream});
  ::dup2(saved.get(), STDOUT_FILENO);
  std::cout.clear();
  EXPECT_EQ(status, 141);
  EXPECT_EQ(err_stream.str(), "");
}

TEST_F(CliTest, ShowPrintsTheWholeTrace) {
  EXPECT_EQ(run({"show", kJobId, "--trace", "--run", "1"}), 0);
  EXPECT_THAT(out, HasSubstr("    | all passed\n"));
  EXPECT_THAT(forge().requests(), Contains("GET " + kJobPath + "/runs/1/trace?cursor=0&limit=500"));
  EXPECT_EQ(run({"show", kJobId, "--trace", "--json"}), 0);
  EXPECT_THAT(out, StartsWith("{\"seq\":1,"));
}

TEST_F(CliTest, ShowPrintsTheCostByModel) {
  EXPECT_EQ(run({"show", kJobId, "--cost"}), 0);
  test::expect_golden("tests/unit/cli/golden/cost.txt", out);
  EXPECT_EQ(run({"show", kJobId, "--cost", "--json"}), 0);
  EXPECT_EQ(json::parse(out).at("cost_nano_usd"), 12'300'000);
}

TEST_F(CliTest, ShowPrintsTheReportAsJson) {
  EXPECT_EQ(run({"show", kJobId, "--json"}), 0);
  EXPECT_EQ(json::parse(out).at("branch"), "forge/06f3m2k9qa-1");
}

TEST_F(CliTest, ShowFollowsToTheEndAndExitsAsRunDoes) {
  script.job.state = script.job.last_run->state = JobState::no_changes;
  script.job.last_run->reason = Reason::no_changes;
  EXPECT_EQ(run({"show", kJobId, "--follow"}), 3);
  EXPECT_THAT(err, HasSubstr("turn 1"));
}

TEST_F(CliTest, ShowDoesNotWaitForARunThatNobodyWorksOn) {
  services.own_engine = true;
  script.job.state = script.job.last_run->state = JobState::queued;
  EXPECT_EQ(run({"show", kJobId, "--follow"}), 7);
  EXPECT_EQ(err,
            "forge: the run waits, and nothing works on this data directory\n  start `forge serve`, or take it back with `forge cancel`\n");
}

TEST_F(CliTest, ShowRefusesBadInput) {
  EXPECT_EQ(run({"show", "../etc"}), 2);
  EXPECT_EQ(err, "forge: \"../etc\" is not a job's id\n  6 to 26 letters and digits; `forge jobs` lists them\n");
  EXPECT_EQ(run({"show", kJobId, "--diff", "--cost"}), 2);
  EXPECT_EQ(err, "forge: --diff, --trace, --cost and --follow exclude each other\n  choose one\n");
}

TEST_F(CliTest, ShowSaysThatThereIsNoSuchJob) {
  script.answers["GET /api/v1/jobs/abcdef"] = test::http_answer(404, R"({"error":{"code":"not_found","message":"no job abcdef"}})");
  EXPECT_EQ(run({"show", "abcdef"}), 1);
  EXPECT_EQ(err, "forge: no job abcdef\n");
}

TEST_F(CliTest, CancelAsksForTheEnd) {
  script.job.state = script.job.last_run->state = JobState::running;
  EXPECT_EQ(run({"cancel", kJobId}), 0);
  EXPECT_EQ(out, "job 06f3m2k9qa is asked to stop; forge show 06f3m2k9qa --follow tells when it has\n");
  EXPECT_THAT(forge().requests(), Contains("POST " + kJobPath + "/cancel"));
}

TEST_F(CliTest, CancelSaysThatTheJobHasEnded) {
  script.answers["POST " + kJobPath + "/cancel"] = test::http_answer(409, R"({"error":{"code":"conflict","message":"the job has ended"}})");
  EXPECT_EQ(run({"cancel", kJobId}), 1);
  EXPECT_EQ(err, "forge: the job has ended\n");
}

/// A work tree, and a diff of one line of it.
class ApplyTest : public CliTest {
 protected:
  ApplyTest() {
    repo.write("dir/a.txt", "one\ntwo\nthree\n");
    repo.write("b.txt", "b\n");
    repo.commit("first");
    repo.write("dir/a.txt", "one\n2\nthree\n");
    repo.write("new.bin", std::string("\0\1\2", 3));
    repo.git({"add", "-A"});
    script.diff = repo.git({"diff", "--cached", "--binary"}) + "\n";
    repo.git({"reset", "-q", "--hard"});
  }
  std::string content(const std::string& file) const { return test::read_file(repo.path() / file); }
  test::TempRepo repo;
};

TEST_F(ApplyTest, ApplyPutsTheDiffIntoTheWorkTree) {
  EXPECT_EQ(run({"apply", kJobId, "--repo", repo.str()}), 0);
  EXPECT_EQ(content("dir/a.txt"), "one\n2\nthree\n");
  EXPECT_EQ(content("new.bin"), std::string("\0\1\2", 3));
  EXPECT_THAT(out, HasSubstr("2 files, +1234 -5; not committed"));
}

TEST_F(ApplyTest, ApplyWorksFromAFolderInside) {
  EXPECT_EQ(run({"apply", kJobId, "--repo", (repo.path() / "dir").string()}), 0);
  EXPECT_EQ(content("new.bin"), std::string("\0\1\2", 3)) << "also what lies above that folder";
}

TEST_F(ApplyTest, ApplyRefusesWhatDoesNotFitAndNamesDirtyFiles) {
  repo.write("dir/a.txt", "one\nmine\nthree\n");
  EXPECT_EQ(run({"apply", kJobId, "--repo", repo.str()}), 1);
  EXPECT_THAT(err, HasSubstr("the diff does not apply to " + repo.str() + "; nothing was changed"));
  EXPECT_THAT(err, HasSubstr("dir/a.txt: patch does not apply"));
  EXPECT_THAT(err, HasSubstr("changes that are not committed may be in the way: dir/a.txt; commit or stash them first"));
  EXPECT_EQ(content("dir/a.txt"), "one\nmine\nthree\n");
  EXPECT_FALSE(std::filesystem::exists(repo.path() / "new.bin")) << "all or nothing";
}

TEST_F(ApplyTest, ApplySaysThatTheFilesHaveMovedOn) {
  repo.write("dir/a.txt", "other\n");
  repo.commit("second");
  EXPECT_EQ(run({"apply", kJobId, "--repo", repo.str()}), 1);
  EXPECT_THAT(err, HasSubstr("the files have moved on since the run's base"));
}

TEST_F(ApplyTest, ApplyKeepsUnrelatedDirtyFiles) {
  repo.write("b.txt", "mine\n");
  EXPECT_EQ(run({"apply", kJobId, "--repo", repo.str()}), 0);
  EXPECT_EQ(content("b.txt"), "mine\n");
}

TEST_F(ApplyTest, ApplyNeedsAWorkTree) {
  test::TempDir plain;
  EXPECT_EQ(run({"apply", kJobId, "--repo", plain.str()}), 2);
  EXPECT_EQ(err, "forge: " + plain.str() + " is not a git work tree\n  name the work tree with --repo DIR\n");
}

TEST_F(ApplyTest, ApplyOfNothingSaysSo) {
  script.diff = "";
  EXPECT_EQ(run({"apply", kJobId, "--repo", repo.str()}), 3);
  EXPECT_EQ(err, "the run changed nothing\n");
}

TEST_F(CliTest, TokenCreatePrintsTheSecretOnce) {
  script.answers["POST /api/v1/tokens"] = test::http_answer(
      201,
      R"({"id":"06f3m2k9qaw5x7y8z9t0v1b2c3","name":"ci","role":"operator","created_ms":1,"last_used_ms":null,"revoked":false,"secret":"forge_abc"})");
  EXPECT_EQ(run({"token", "create", "ci", "--role", "operator"}), 0);
  EXPECT_EQ(out, "forge_abc\n") << "nothing else, so that a script can take it";
  EXPECT_THAT(err, HasSubstr("the only time that the token \"ci\" (operator) is shown"));
  EXPECT_EQ(json::parse(forge().last("POST /api/v1/tokens").body), (json{{"name", "ci"}, {"role", "operator"}}));
}

TEST_F(CliTest, TokenListAndRevoke) {
  script.answers["GET /api/v1/tokens"] = test::http_answer(
      200,
      R"({"items":[{"id":"06f3m2k9qaw5x7y8z9t0v1b2c3","name":"ci","role":"viewer","created_ms":1,"last_used_ms":null,"revoked":true}],"next_cursor":null})");
  script.answers["DELETE /api/v1/tokens/ci"] = test::http_answer(
      200, R"({"id":"06f3m2k9qaw5x7y8z9t0v1b2c3","name":"ci","role":"viewer","created_ms":1,"last_used_ms":2,"revoked":true})");
  EXPECT_EQ(run({"token", "list"}), 0);
  EXPECT_THAT(out, HasSubstr("06f3m2k9qa ci                       viewer   made "));
  EXPECT_THAT(out, HasSubstr(" d ago, used never, revoked\n"));
  EXPECT_EQ(run({"token", "list", "--json"}), 0);
  EXPECT_EQ(json::parse(out).at("items").at(0).at("revoked"), true);
  EXPECT_EQ(run({"token", "revoke", "ci"}), 0);
  EXPECT_EQ(out, "revoked \"ci\"\n");
}

TEST_F(CliTest, TokenRefusesARoleThatIsNone) {
  EXPECT_EQ(run({"token", "create", "ci", "--role", "root"}), 2);
  EXPECT_EQ(err, "forge: --role must be one of admin, operator, reviewer, viewer, not \"root\"\n");
}

TEST_F(CliTest, ConfigShowPrintsEveryKeyWithItsSource) {
  EXPECT_EQ(run({"config", "show", "--set", "jobs.concurrency=2"}), 0);
  EXPECT_EQ(out,
            "# file /data/forge.toml\n# data /data\n"
            "jobs.concurrency   = 2           # default\n"
            "jobs.default_model = fake/model  # forge.toml:3\n"
            "sandbox.e2bApiKey  = (set)       # environment E2B_API_KEY\n");
  ASSERT_EQ(services.config.overrides.size(), 1u);
  EXPECT_EQ(services.config.overrides[0].key, "jobs.concurrency");
  EXPECT_EQ(run({"config", "show", "--json"}), 0);
  EXPECT_EQ(json::parse(out).at("keys").at("jobs.concurrency"), (json{{"value", 2}, {"source", "default"}}));
}

TEST_F(CliTest, AConfigurationFileThatIsNotThereIsCalledThat) {
  services.file_found = false;
  EXPECT_EQ(run({"config", "show"}), 0);
  EXPECT_THAT(out, StartsWith("# file /data/forge.toml (not there)\n"));
  EXPECT_EQ(run({"doctor"}), 0);
  EXPECT_THAT(out, HasSubstr("\nConfiguration /data/forge.toml (not there: defaults)\n"));
}

TEST_F(CliTest, AMissingVerbIsAMistakeThatIsAnsweredByTheHelp) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{}, {"config"}, {"sandbox"}, {"token"}}) {
    EXPECT_EQ(run(args), 2) << testing::PrintToString(args);
    EXPECT_EQ(out, "");
    EXPECT_THAT(err, HasSubstr("Usage: forge"));
  }
  EXPECT_EQ(run({"config", "--help"}), 0);
  EXPECT_THAT(out, HasSubstr("Usage: forge config"));
}

TEST_F(CliTest, ServePrintsWhereItIsAndTakesAnAddress) {
  EXPECT_EQ(run({"serve", "--listen", "127.0.0.1:0"}), 0);
  EXPECT_TRUE(services.served);
  EXPECT_EQ(out,
            "Forge is up at http://127.0.0.1:8700\n"
            "Sign in (once, within 15 minutes): http://127.0.0.1:8700/sign-in/abc\n"
            "Command line of this machine: through /data/forge.sock\n");
  ASSERT_EQ(services.config.overrides.size(), 1u);
  EXPECT_EQ(services.config.overrides[0].value, "127.0.0.1:0");
  EXPECT_EQ(services.config.overrides[0].flag, "--listen");
}

TEST_F(CliTest, DoctorSaysWhatIsThereAndHowToFixTheRest) {
  EXPECT_EQ(run({"doctor"}), 0);
  test::expect_golden("tests/unit/cli/golden/doctor.txt", out);
}

TEST_F(CliTest, DoctorFailsWhereJobsCannotRun) {
  services.reports[0].usable = false;
  services.reports[0].rows[0] = {"user namespaces", false, true, "not permitted", "sysctl kernel.unprivileged_userns_clone=1"};
  EXPECT_EQ(run({"doctor"}), 1);
  EXPECT_THAT(out, HasSubstr("MISSING user namespaces"));
  EXPECT_THAT(out, HasSubstr("fix: sysctl kernel.unprivileged_userns_clone=1"));
  EXPECT_EQ(run({"doctor", "--json"}), 1);
  EXPECT_EQ(json::parse(out).at("usable"), false);
  EXPECT_EQ(json::parse(out).at("drivers").at(0).at("rows").at(0).at("available"), false);
}

TEST_F(CliTest, DoctorFailsWithoutADataDirectory) {
  services.directory = {{"writable", false, true, "permission denied", "chown it"}};
  EXPECT_EQ(run({"doctor"}), 1);
}

TEST_F(CliTest, AdapterListSaysWhatIsUsable) {
  services.adapters.push_back({"claude-code", false, false, "not installed", "forge adapter install claude-code"});
  EXPECT_EQ(run({"adapter", "list"}), 0);
  EXPECT_EQ(out, "pi             usable     built in\nclaude-code    not usable not installed: forge adapter install claude-code\n");
  EXPECT_EQ(run({"adapter", "list", "--json"}), 0);
  EXPECT_EQ(json::parse(out).at("items").at(1).at("usable"), false);
}

TEST_F(CliTest, AdapterInstallAndRemoveSayWhatTheyDid) {
  EXPECT_EQ(run({"adapter", "install", "claude-code"}), 0);
  EXPECT_EQ(out, "claude-code is installed\n");
  EXPECT_EQ(err, "asking npm\n");
  EXPECT_EQ(run({"adapter", "install", "claude-code"}), 0);
  EXPECT_EQ(out, "claude-code was installed before\n");
  EXPECT_EQ(run({"adapter", "remove", "claude-code"}), 0);
  EXPECT_EQ(out, "claude-code is removed\n");
  EXPECT_EQ(run({"adapter", "remove", "claude-code"}), 0);
  EXPECT_EQ(out, "claude-code was not installed\n");
  EXPECT_EQ(run({"adapter", "install", "other"}), 2);
  EXPECT_THAT(err, HasSubstr("other cannot be installed"));
}

TEST_F(CliTest, VersionNeedsNoConfiguration) {
  services.config_error = bad_input("x", "forge.toml:1: broken");
  EXPECT_EQ(run({"version"}), 0);
  EXPECT_THAT(out, StartsWith("forge "));
  EXPECT_EQ(run({"version", "--json"}), 0);
  EXPECT_TRUE(json::parse(out).contains("version"));
}

TEST_F(CliTest, AConfigurationErrorIsPrintedWithItsHint) {
  services.config_error = bad_input("jobs.max_turn", "forge.toml:2: unknown key jobs.max_turn", "did you mean jobs.max_turns?");
  EXPECT_EQ(run({"jobs"}), 2);
  EXPECT_EQ(err, "forge: forge.toml:2: unknown key jobs.max_turn\n  did you mean jobs.max_turns?\n");
}

TEST_F(CliTest, WarningsOfTheConfigurationAreShown) {
  services.warnings = {"/data/key holds a secret and everybody can read it: chmod 600 /data/key"};
  EXPECT_EQ(run({"config", "show"}), 0);
  EXPECT_EQ(err, "warning: /data/key holds a secret and everybody can read it: chmod 600 /data/key\n");
}

}  // namespace
}  // namespace forge::cli
