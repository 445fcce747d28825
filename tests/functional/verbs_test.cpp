#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "orchestrator/base/text.h"
#include "tests/functional/remains.h"
#include "tests/functional/repository.h"
#include "tests/functional/server.h"
#include "tests/functional/steps.h"

namespace forge::functional {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Verbs : public testing::Test {
 protected:
  Verbs() {
    forge_.set("FORGE_REPOSITORIES__ALLOW_LOCAL", "/tmp," + repo_.path().parent_path().string());
    mark_ = "forge-agent-of-" + forge_.data().parent_path().filename().string();
  }
  std::string sitting_agent() const { return forge_.steps(runs("echo half > half.txt; " + sleeping_as(mark_))); }
  /// Runs one job to its end; returns its report.
  json done(const std::string& command, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> args{"run", "--repo", repo_.str(), "--task", "x", "--json", "--model", forge_.steps(runs(command))};
    args.insert(args.end(), more.begin(), more.end());
    return forge_.json(args);
  }

  Installation forge_;
  SmallRepo repo_;
  std::string mark_;
};

TEST_F(Verbs, WorkBesideARunWithoutAServer) {
  Program run = forge_.start({"run", "--repo", repo_.str(), "--task", "sit", "--json", "--model", sitting_agent()});
  wait_for_process(mark_);
  const json jobs = forge_.json({"jobs", "--json"});
  ASSERT_EQ(jobs.at("items").size(), 1u);
  EXPECT_EQ(jobs.at("items").at(0).at("state"), "running");
  const std::string job = jobs.at("items").at(0).at("id");
  EXPECT_THAT(forge_.forge({"show", job, "--trace"}).out, HasSubstr("exec -a for"));

  // Another run is done by the process that owns the directory, and waited for here.
  const std::string quick = forge_.script(runs("echo quick > quick").dump(), "quick.json");
  const json second = forge_.json({"run", "--repo", repo_.str(), "--task", "quick", "--json", "--model", quick});
  EXPECT_EQ(second.at("state"), "succeeded");

  EXPECT_THAT(forge_.forge({"serve"}).err, StartsWith("forge: another process owns the data directory " + forge_.data().string()));
  Program follower = forge_.start({"show", job.substr(0, 10), "--follow"});
  follower.wait_err("running");
  const Said cancelled = forge_.forge({"cancel", job.substr(0, 10)});
  EXPECT_EQ(cancelled.out,
            "job " + job.substr(0, 10) + " is asked to stop; forge show " + job.substr(0, 10) + " --follow tells when it has\n");
  EXPECT_EQ(run.wait().status(), 4);
  // The process that told it of the run is gone by now, or about to be.
  const Said followed = follower.wait();
  EXPECT_EQ(followed.status(), 4) << followed.err;
  EXPECT_EQ(forge_.json({"jobs", "--json"}).at("items").at(1).at("state"), "cancelled");
}

TEST_F(Verbs, SayTheSameThroughAServerAndWithoutOne) {
  const std::string job = done("echo y > y").at("job");
  const std::vector<std::vector<std::string>> verbs{{"jobs", "--json"},
                                                    {"show", job},
                                                    {"show", job, "--json"},
                                                    {"show", job, "--diff"},
                                                    {"show", job, "--trace"},
                                                    {"show", job, "--trace", "--json"},
                                                    {"show", job, "--cost"},
                                                    {"show", job, "--cost", "--json"},
                                                    {"show", job, "--follow", "--events"},
                                                    {"cancel", job},
                                                    {"show", "000000aaaa"},
                                                    {"token", "list", "--json"}};
  std::vector<Said> alone;
  for (const auto& verb : verbs) alone.push_back(forge_.forge(verb));
  Server server(forge_);
  for (std::size_t i = 0; i < verbs.size(); ++i) {
    SCOPED_TRACE(testing::PrintToString(verbs[i]));
    const Said through = forge_.forge(verbs[i]);
    EXPECT_EQ(through.status(), alone[i].status());
    EXPECT_EQ(through.out, alone[i].out);
    EXPECT_EQ(through.err, alone[i].err);
  }
  forge_.set("FORGE_TOKEN", server.token("admin", "remote"));
  forge_.set("FORGE_DATA_DIR", forge_.file("elsewhere").string());
  for (std::size_t i = 0; i + 1 < verbs.size(); ++i) {  // the list of tokens has one more by now
    SCOPED_TRACE("over TCP " + testing::PrintToString(verbs[i]));
    auto args = verbs[i];
    args.insert(args.end(), {"--server", server.url()});
    const Said remote = forge_.forge(args);
    EXPECT_EQ(remote.status(), alone[i].status());
    EXPECT_EQ(remote.out, alone[i].out);
    EXPECT_EQ(remote.err, alone[i].err);
  }
}

TEST_F(Verbs, RunThroughAServerBehavesAsWithoutOne) {
  Server server(forge_);
  const json local = done("echo y > y");
  EXPECT_EQ(local.at("state"), "succeeded");
  EXPECT_EQ(forge_.instances().size(), 1u);  // the server's: the verb made no sandbox of its own
  const std::string model = forge_.steps(runs("echo z > z"));
  const Said refused = forge_.forge({"run", "--repo", repo_.str(), "--task", "x", "--model", model, "--server", server.url()});
  EXPECT_EQ(refused.status(), 2);
  EXPECT_THAT(refused.err, HasSubstr("give a token with --token or FORGE_TOKEN"));
  forge_.set("FORGE_TOKEN", server.token("operator", "ci"));
  const json remote = forge_.json({"run", "--repo", repo_.str(), "--task", "x", "--json", "--model", model, "--server", server.url()});
  EXPECT_EQ(remote.at("state"), "succeeded");
  EXPECT_EQ(
      forge_
          .json({"run", "--repo", repo_.str(), "--task", "x", "--json", "--model", forge_.steps(runs("true")), "--server", server.url()}, 3)
          .at("state"),
      "no_changes");

  Program sitting = forge_.start({"run", "--repo", repo_.str(), "--task", "sit", "--json", "--model", sitting_agent()});
  wait_for_process(mark_);
  sitting.signal(SIGINT);
  EXPECT_EQ(sitting.wait().status(), 4);
}

TEST_F(Verbs, FollowGoesOnThroughARestartOfTheServer) {
  auto server = std::make_unique<Server>(forge_);
  const int port = server->port();
  const std::string job = server->create({{"repository", repo_.str()}, {"task", "sit"}, {"model", sitting_agent()}});
  wait_for_process(mark_);
  forge_.set("FORGE_TOKEN", server->token("viewer", "reader"));
  Program follower = forge_.start({"show", job, "--follow", "--events", "--server", server->url()});
  follower.wait_out("\"tool_call\"");
  server->kill9();
  follower.wait_err("trying again in");
  Server next(forge_, "127.0.0.1:" + std::to_string(port));
  const Said said = follower.wait();
  EXPECT_EQ(said.status(), 1);
  std::int64_t seq = 0;
  for (const auto line : split_lines(said.out)) EXPECT_EQ(json::parse(line).at("seq"), ++seq);
  EXPECT_THAT(said.out, HasSubstr("\"interrupted\""));
}

TEST_F(Verbs, RetryMakesANewRunOnABranchOfItsOwn) {
  const json first = done("echo 1 > n");
  const std::string job = first.at("job");
  test::write_file(forge_.file("script.json"), runs("echo 2 > n").dump());
  const json second = forge_.json({"retry", job, "--json"});
  EXPECT_EQ(second.at("run"), 2);
  EXPECT_EQ(second.at("branch"), "forge/" + job.substr(0, 10) + "-2");
  EXPECT_EQ(repo_.git({"show", first.at("branch").get<std::string>() + ":n"}), "1");
  EXPECT_EQ(repo_.git({"show", second.at("branch").get<std::string>() + ":n"}), "2");
  EXPECT_THAT(forge_.forge({"show", job, "--run", "1", "--diff"}).out, HasSubstr("+1"));
  EXPECT_THAT(forge_.forge({"show", job, "--diff"}).out, HasSubstr("+2"));
  EXPECT_EQ(forge_.trace(job, 1).size() > 5, true);
}

TEST_F(Verbs, ApplyPutsTheDiffIntoAWorkTree) {
  const json report = done("sed -i s/one/two/ src/main.py; rm data/table.csv; echo new > new; chmod +x new", {"--no-push"});
  EXPECT_EQ(report.at("pushed"), false);
  EXPECT_EQ(repo_.git({"branch", "--list", "forge/*"}), "");
  const std::string job = report.at("job");
  const Said applied = forge_.forge({"apply", job.substr(0, 6)}, "", repo_.path() / "src");
  EXPECT_EQ(applied.status(), 0) << applied.err;
  EXPECT_EQ(applied.out, "applied to " + repo_.str() + ": 3 files, +2 -3; not committed\n");
  EXPECT_EQ(repo_.git({"status", "--porcelain"}), " D data/table.csv\n M src/main.py\n?? new");
  EXPECT_EQ(repo_.head(), repo_.base());

  // A second time it does not fit, and changes nothing.
  const std::string before = repo_.git({"status", "--porcelain"});
  const Said again = forge_.forge({"apply", job, "--repo", repo_.str()});
  EXPECT_EQ(again.status(), 1);
  EXPECT_THAT(again.err, HasSubstr("the diff does not apply to " + repo_.str() + "; nothing was changed"));
  EXPECT_THAT(again.err, HasSubstr("changes that are not committed may be in the way: data/table.csv, src/main.py"));
  EXPECT_EQ(repo_.git({"status", "--porcelain"}), before);
}

TEST_F(Verbs, ApplyRefusesWhatHasMovedOn) {
  const json report = done("sed -i s/one/two/ src/main.py", {"--no-push"});
  repo_.write("src/main.py", "something else\n");
  repo_.commit("moved on");
  const Said said = forge_.forge({"apply", report.at("job"), "--repo", repo_.str()});
  EXPECT_EQ(said.status(), 1);
  EXPECT_THAT(said.err, HasSubstr("patch failed: src/main.py"));
  EXPECT_THAT(said.err, HasSubstr("the files have moved on since the run's base"));
  // Changes elsewhere are not in the way.
  repo_.git({"checkout", "--quiet", repo_.base()});
  repo_.write("README.md", "being written\n");
  EXPECT_EQ(forge_.forge({"apply", report.at("job"), "--repo", repo_.str()}).status(), 0);
  EXPECT_EQ(repo_.git({"status", "--porcelain"}), " M README.md\n M src/main.py");
}

TEST_F(Verbs, ShowWhatThisMachineAndConfigurationAre) {
  EXPECT_EQ(forge_.forge({"version"}).out, "forge 0.1.0\n");
  forge_.configure("[jobs]\nmax_turns = 7\n[models.providers.openai]\napi_key_env = \"SECRET_KEY\"\n");
  forge_.set("SECRET_KEY", "sk-never-shown-0123456789");
  const Said config = forge_.forge({"config", "show"});
  EXPECT_EQ(config.status(), 0);
  EXPECT_THAT(config.out, HasSubstr("forge.toml:2"));
  EXPECT_THAT(config.out, Not(HasSubstr("sk-never-shown")));
  const Said doctor = forge_.forge({"doctor"});
  EXPECT_EQ(doctor.status(), 0) << doctor.out;
  EXPECT_THAT(doctor.out, HasSubstr("Sandbox driver local (usable"));
  EXPECT_THAT(doctor.out, HasSubstr("This machine can run jobs."));
  EXPECT_THAT(doctor.out, Not(HasSubstr("sk-never-shown")));
}

TEST_F(Verbs, ShowADataDirectoryThatCannotBeUsedAmongTheRest) {
  const auto file = forge_.data().parent_path() / "file";
  test::write_file(file, "");
  // Below a file nothing can be made, by root neither.
  const Said nowhere = forge_.forge({"doctor", "--data-dir", (file / "data").string()});
  EXPECT_EQ(nowhere.status(), 1) << nowhere.err;
  EXPECT_THAT(nowhere.out, HasSubstr("Sandbox driver local (not usable"));
  EXPECT_THAT(nowhere.out, HasSubstr("MISSING data directory"));
  EXPECT_THAT(nowhere.out, HasSubstr("fix: choose another with --data-dir"));
  EXPECT_THAT(nowhere.out, HasSubstr("This machine cannot run jobs yet"));
  test::write_file(forge_.data() / "run", "in the way of the driver's directory");
  const Said half = forge_.forge({"doctor"});
  EXPECT_EQ(half.status(), 1) << half.err;
  EXPECT_THAT(half.out, HasSubstr("MISSING start of the driver"));
  EXPECT_THAT(half.out, HasSubstr("ok      data directory"));
}

}  // namespace
}  // namespace forge::functional
