#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>

#include <csignal>
#include <thread>

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

/// Forge is killed with kill -9 while a run is under way. What stays behind is swept by the next start.
class Killed : public testing::Test {
 protected:
  Killed() {
    forge_.set("FORGE_REPOSITORIES__ALLOW_LOCAL", "/tmp," + repo_.path().parent_path().string());
    // Nobody else has this in a command line.
    mark_ = "forge-agent-of-" + forge_.data().parent_path().filename().string();
  }

  /// An agent that writes a file and then sits in its shell, with a child in the background.
  std::string sitting_agent() const {
    return forge_.steps(runs("echo half > half.txt; (" + sleeping_as(mark_) + ") & " + sleeping_as(mark_)));
  }
  json spec(const std::string& repository, const std::string& model) const {
    return {{"repository", repository}, {"task", "sit"}, {"model", model}};
  }
  /// What a live run has, so that the end can be held against it.
  void look_at(pid_t forge) {
    children_ = descendants(forge);
    instances_ = forge_.instances();
    ASSERT_FALSE(children_.empty());
    ASSERT_EQ(instances_.size(), 1u);
  }
  void expect_nothing_is_left() {
    wait_until_dead(children_);
    EXPECT_THAT(processes_with(mark_), IsEmpty());
    EXPECT_THAT(mounts_with(forge_.data().string()), IsEmpty());
    for (const auto& instance : instances_) {
      EXPECT_THAT(processes_with("forge-" + instance), IsEmpty());
      EXPECT_THAT(cgroups_with("forge-" + instance), IsEmpty());
      EXPECT_FALSE(std::filesystem::exists(forge_.data() / "run" / instance));
    }
  }
  static void expect_interrupted(const json& run) {
    EXPECT_EQ(run.at("state"), "failed");
    EXPECT_EQ(run.at("reason"), "interrupted");
    EXPECT_FALSE(run.at("ended_ms").is_null());
  }

  Installation forge_;
  SmallRepo repo_;
  std::string mark_;
  std::vector<Seen> children_;
  std::vector<std::string> instances_;
};

TEST_F(Killed, ServerInTheMiddleOfARunLeavesNothingBehind) {
  std::string job;
  {
    Server server(forge_);
    job = server.create(spec(repo_.str(), sitting_agent()));
    wait_for_process(mark_);
    look_at(server.program().pid());
    EXPECT_EQ(cgroups_with("forge-" + instances_.at(0)).empty(), ::geteuid() != 0);
    server.kill9();
  }
  wait_until_dead(children_);  // the kernel sees to it, before any next start
  Server server(forge_);
  expect_nothing_is_left();
  expect_interrupted(server.api("GET", "/api/v1/jobs/" + job).at("last_run"));
  auto stream = server.events("/api/v1/jobs/" + job + "/events");
  const auto last = stream.until([](const ServerEvent& event) { return event.data.value("type", "") == "terminal"; });
  EXPECT_EQ(last.data.at("data").at("reason"), "interrupted");
  EXPECT_EQ(repo_.git({"branch", "--list", "forge/*"}), "");

  // The next run of the job is not troubled by the first.
  test::write_file(forge_.file("script.json"), runs("echo whole > whole.txt").dump());
  const json run = server.api("POST", "/api/v1/jobs/" + job + "/run", json::object(), 201);
  EXPECT_EQ(run.at("number"), 2);
  EXPECT_EQ(server.wait_ended(job).at("state"), "succeeded");
  EXPECT_EQ(repo_.git({"show", "forge/" + job.substr(0, 10) + "-2:whole.txt"}), "whole");
}

TEST_F(Killed, ServerIsWaitedForByItsClientsAndReplacedByNone) {
  forge_.set("FORGE_JOBS__CONCURRENCY", "1");
  const std::string quick = forge_.script(runs("echo quick > quick").dump(), "quick.json");
  auto server = std::make_unique<Server>(forge_);
  Program client = forge_.start({"run", "--repo", repo_.str(), "--task", "sit", "--json", "--model", sitting_agent()});
  wait_for_process(mark_);
  const std::string queued = server->create(spec(repo_.str(), quick));
  server->kill9();
  client.wait_err("trying again in");
  // The directory is free, and what waits in it is the next server's.
  Server next(forge_);
  const Said said = client.wait();
  EXPECT_EQ(said.status(), 1) << said.err;
  EXPECT_THAT(said.out, HasSubstr("\"interrupted\""));
  EXPECT_EQ(next.wait_ended(queued).at("state"), "succeeded");
}

TEST_F(Killed, VerbThatLooksForAMomentKeepsNoServerFromStarting) {
  EXPECT_EQ(forge_.forge({"jobs"}).status(), 0);  // makes the directory
  UniqueFd lock(::open((forge_.data() / "lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0);
  std::jthread looking([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    lock = UniqueFd();
  });
  Server server(forge_);
  EXPECT_EQ(server.api("GET", "/api/v1/jobs").at("items").size(), 0u);
}

TEST_F(Killed, ServerWhileItFetchesLeavesNoTransfer) {
  test::LoopbackServer silent([](test::Connection& connection) { connection.wait_gone(); });
  std::string job;
  {
    Server server(forge_);
    job = server.create(spec(silent.url() + "/x.git", forge_.steps(runs("true"))));
    server.wait_for(job, "state", [](const json& state) { return state.at("to") == "preparing"; });
    wait_for_descendant(server.program().pid(), "git-network");
    look_at(server.program().pid());
    server.kill9();
  }
  Server server(forge_);
  expect_nothing_is_left();
  expect_interrupted(server.api("GET", "/api/v1/jobs/" + job).at("last_run"));
}

TEST_F(Killed, ServerWhileItPushesLeavesTheWorkInItsMirror) {
  if (const std::string why = test::GitHttpServer::missing(); !why.empty()) GTEST_SKIP() << why;
  test::GitHttpServer git;
  const auto served = git.make_repository("app.git");
  repo_.git({"push", "--quiet", served.string(), "main"});
  git.set_pre_receive_hook("app.git", "exec tail -f /dev/null");
  std::string job;
  {
    Server server(forge_);
    job = server.create(spec(git.url("app.git"), forge_.steps(runs("echo y > y"))));
    server.wait_for(job, "git", [](const json& done) { return done.at("action") == "diff"; });
    wait_for_descendant(server.program().pid(), "git-network");
    look_at(server.program().pid());
    server.kill9();
  }
  Server server(forge_);
  expect_nothing_is_left();
  const json run = server.api("GET", "/api/v1/jobs/" + job).at("last_run");
  expect_interrupted(run);
  EXPECT_EQ(run.at("pushed"), false);
  EXPECT_EQ(test::run_git(served, {"branch", "--list", "forge/*"}), "");
}

TEST_F(Killed, RunWithoutAServerIsSweptByTheNextVerb) {
  Program run = forge_.start({"run", "--repo", repo_.str(), "--task", "sit", "--model", sitting_agent()});
  wait_for_process(mark_);
  look_at(run.pid());
  run.signal(SIGKILL);
  EXPECT_EQ(run.wait().exit.signal, SIGKILL);
  const json jobs = forge_.json({"jobs", "--json"});
  expect_nothing_is_left();
  EXPECT_THAT(forge_.instances(), IsEmpty());
  ASSERT_EQ(jobs.at("items").size(), 1u);
  expect_interrupted(jobs.at("items").at(0).at("last_run"));
  const std::string job = jobs.at("items").at(0).at("id");
  const Said shown = forge_.forge({"show", job});
  EXPECT_THAT(shown.out, HasSubstr("run 1 failed (interrupted)"));
  EXPECT_THAT(shown.out, HasSubstr("forge retry " + job.substr(0, 10)));
}

TEST_F(Killed, SandboxRunIsSweptByTheNextVerb) {
  Program run = forge_.start({"sandbox", "run", "--", "bash", "-c", "exec -a $0$1 sleep 1000", mark_.substr(0, 9), mark_.substr(9)});
  wait_for_process(mark_);
  look_at(run.pid());
  run.signal(SIGKILL);
  run.wait();
  EXPECT_EQ(forge_.forge({"sandbox", "run", "--", "true"}).status(), 0);
  expect_nothing_is_left();
  EXPECT_THAT(forge_.instances(), IsEmpty());
}

}  // namespace
}  // namespace forge::functional
