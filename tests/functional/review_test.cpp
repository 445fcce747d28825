#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "orchestrator/base/guarded.h"
#include "orchestrator/base/stop.h"
#include "tests/functional/remains.h"
#include "tests/functional/repository.h"
#include "tests/functional/server.h"
#include "tests/functional/steps.h"
#include "tests/support/git_http_server.h"
#include "tests/support/numbered_lines.h"

namespace forge::functional {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A job is reviewed over HTTP by an administrator and by a reviewer, as the dashboard does it.
class Reviewed : public testing::Test {
 protected:
  Reviewed() {
    forge_.set("FORGE_REPOSITORIES__ALLOW_LOCAL", "/tmp," + repo_.path().parent_path().string());
    repo_.write("long.txt", test::numbered_lines(60));
    repo_.commit("long");
  }

  /// Runs a job whose agent runs `command`; returns its id.
  std::string run_job(Server& server, const std::string& command, const std::string& repository = {}) {
    std::string job = server.create({{"repository", repository.empty() ? repo_.str() : repository},
                                     {"task", "Change the lines"},
                                     {"model", forge_.steps(runs(command))}});
    EXPECT_EQ(server.wait_ended(job).at("state"), "succeeded");
    return job;
  }
  /// What the next run's agent does.
  void next_agent(const std::string& command) { test::write_file(forge_.file("script.json"), runs(command).dump()); }

  static std::string of(const std::string& job, const std::string& rest) { return "/api/v1/jobs/" + job + rest; }
  static json verdicts(const json& review, const std::vector<const char*>& verdicts) {
    json marks = json::array();
    for (std::size_t i = 0; i < verdicts.size(); ++i)
      marks.push_back({{"hunk_id", review.at("hunks").at(i).at("hunk_id")},
                       {"verdict", verdicts[i] == nullptr ? json(nullptr) : json(verdicts[i])},
                       {"reason", "because of " + std::to_string(i)}});
    return {{"verdicts", marks}};
  }
  /// PATCH with If-Match, as administrator.
  static json patch(Server& server, const std::string& target, const json& body, const json& revision, int status = 200) {
    const auto answer = server.ask("PATCH", target, body.dump(), server.admin() + "If-Match: \"" + revision.dump() + "\"\r\n");
    EXPECT_EQ(answer.status, status) << answer.body;
    return json::parse(answer.body);
  }

  Installation forge_;
  SmallRepo repo_;
};

TEST_F(Reviewed, MixedVerdictsGoIntoACommitAndTheRestBackToTheAgent) {
  Server server(forge_);
  const std::string job = run_job(server, "sed -i 's/^line 3$/three/; s/^line 40$/forty/' long.txt; echo new > new.txt");
  EXPECT_EQ(server.api("GET", of(job, "")).at("review"), "waiting");

  // Three hunks: one accepted, one rejected, one undecided.
  json review = server.api("GET", of(job, "/review"));
  ASSERT_EQ(review.at("hunks").size(), 3u);
  review = patch(server, of(job, "/review"), verdicts(review, {"accept", "reject"}), review.at("revision"));
  patch(server, of(job, "/review"), {{"summary", "late"}}, 1, 412);
  EXPECT_EQ(server.api("POST", of(job, "/review/apply"), {{"revision", review.at("revision")}}, 409).at("error").at("code"), "conflict");
  const json applied =
      server.api("POST", of(job, "/review/apply"), {{"revision", review.at("revision")}, {"confirm_undecided", true}}, 201);
  const std::string branch = applied.at("branch");
  EXPECT_EQ(applied.at("accepted"), 1);
  EXPECT_EQ(repo_.git({"rev-parse", branch}), applied.at("commit"));
  EXPECT_EQ(repo_.git({"diff", "--numstat", "main", branch}), "1\t1\tlong.txt");

  // The rest goes back, and what was decided is not asked again.
  server.api("POST", of(job, "/review/comments"),
             {{"path", "new.txt"}, {"side", "head"}, {"start_line", 1}, {"end_line", 1}, {"body", "Call it newer."}}, 201);
  next_agent("grep -q forty long.txt && sed -i 's/^forty$/FORTY/' long.txt && echo newer > new.txt");
  review = server.api("GET", of(job, "/review"));
  const json next = server.api("POST", of(job, "/review/send-back"), {{"revision", review.at("revision")}, {"note", "Nearly."}}, 201);
  EXPECT_EQ(next.at("run").at("number"), 2);
  EXPECT_EQ(server.wait_ended(job).at("state"), "succeeded");
  EXPECT_EQ(server.api("GET", of(job, "/runs/1")).at("review"), "changes_requested");
  review = server.api("GET", of(job, "/runs/2/review"));
  EXPECT_EQ(review.at("counts").at("accepted"), 1);
  EXPECT_EQ(review.at("counts").at("stale"), 1);
  EXPECT_TRUE(review.at("comments").at(0).at("stale"));

  const json between = server.api("GET", of(job, "/runs/2/diff?since_run=1"));
  EXPECT_THAT(between.at("text").get<std::string>(), AllOf(HasSubstr("-forty"), HasSubstr("+FORTY"), Not(HasSubstr("three\n+"))));
  EXPECT_EQ(between.at("changed_hunks").size(), 2u);

  // The whole of the second run, and it stands on the base alone.
  review = patch(server, of(job, "/review"), verdicts(review, {"accept", "accept", "accept"}), review.at("revision"));
  const json second = server.api("POST", of(job, "/review/apply"), {{"revision", review.at("revision")}}, 201);
  EXPECT_EQ(repo_.git({"rev-parse", second.at("branch").get<std::string>() + "^"}), repo_.git({"rev-parse", "main"}));
  EXPECT_EQ(repo_.git({"rev-parse", second.at("branch").get<std::string>() + "^{tree}"}),
            repo_.git({"rev-parse", "forge/" + job.substr(0, 10) + "-2^{tree}"}));
  EXPECT_EQ(server.api("GET", of(job, "")).at("review"), "applied");
}

TEST_F(Reviewed, TwoReviewersAtOnceLoseNoVerdict) {
  Server server(forge_);
  const std::string job = run_job(server, "sed -i 's/^line 3$/three/; s/^line 40$/forty/' long.txt");
  const json seen = server.api("GET", of(job, "/review"));
  const std::string target = of(job, "/review");
  int refused = 0;
  {
    // Both saw the same revision; who is refused looks again, as a dashboard does.
    std::vector<std::jthread> reviewers;
    Guarded<int> late;
    for (int who = 0; who < 2; ++who)
      reviewers.emplace_back([&, who, header = server.admin()] {
        json now = seen;
        while (true) {
          const json body = {
              {"verdicts", {{{"hunk_id", seen.at("hunks").at(static_cast<std::size_t>(who)).at("hunk_id")}, {"verdict", "accept"}}}}};
          const auto answer = server.ask("PATCH", target, body.dump(), header + "If-Match: \"" + now.at("revision").dump() + "\"\r\n");
          if (answer.status == 200) return;
          ASSERT_EQ(answer.status, 412) << answer.body;
          ++*late.lock();
          now = json::parse(server.ask("GET", target, "", header).body);
        }
      });
    reviewers.clear();
    refused = *late.lock();
  }
  EXPECT_EQ(refused, 1);
  const json after = server.api("GET", of(job, "/review"));
  EXPECT_EQ(after.at("counts").at("accepted"), 2);
  EXPECT_EQ(after.at("revision"), seen.at("revision").get<int>() + 2);
}

TEST_F(Reviewed, OneKeyActsOnceAlsoAcrossARestart) {
  std::string job;
  json applied;
  json sent;
  const auto post = [&](Server& server, const std::string& action, const json& body) {
    const auto answer =
        server.ask("POST", of(job, "/runs/1/review/" + action), body.dump(), server.admin() + "Idempotency-Key: the-key\r\n");
    EXPECT_EQ(answer.status, 201) << answer.body;
    return json::parse(answer.body);
  };
  json apply_body;
  json send_body;
  {
    Server server(forge_);
    job = run_job(server, "sed -i 's/^line 3$/three/' long.txt");
    json review = server.api("GET", of(job, "/review"));
    review = patch(server, of(job, "/review"), verdicts(review, {"accept"}), review.at("revision"));
    apply_body = {{"revision", review.at("revision")}};
    applied = post(server, "apply", apply_body);
    send_body = {{"revision", server.api("GET", of(job, "/review")).at("revision")}, {"note", "Go on."}};
    next_agent("echo more > more.txt");
    sent = post(server, "send-back", send_body);
    server.wait_ended(job);
    server.kill9();
  }
  Server server(forge_);
  EXPECT_EQ(post(server, "apply", apply_body).at("commit"), applied.at("commit"));
  EXPECT_EQ(post(server, "send-back", send_body).at("run").at("id"), sent.at("run").at("id"));
  EXPECT_EQ(server.api("GET", of(job, "/runs")).at("items").size(), 2u);
}

TEST_F(Reviewed, KilledBetweenTheCommitAndItsRowIsCompletedByTheNextStart) {
  if (const std::string why = test::GitHttpServer::missing(); !why.empty()) GTEST_SKIP() << why;
  test::GitHttpServer git;
  const auto served = git.make_repository("app.git");
  repo_.git({"push", "--quiet", served.string(), "main"});
  const std::string hold = forge_.file("hold").string();
  const std::string held = forge_.file("held").string();
  std::string job;
  std::string branch;
  {
    Server server(forge_);
    job = run_job(server, "sed -i 's/^line 3$/three/' long.txt", git.url("app.git"));
    branch = "forge/" + job.substr(0, 10) + "-1-accepted";
    json review = server.api("GET", of(job, "/review"));
    review = patch(server, of(job, "/review"), verdicts(review, {"accept"}), review.at("revision"));
    std::ofstream(hold).close();
    git.set_pre_receive_hook("app.git", "touch '" + held + "'; while [ -e '" + hold + "' ]; do sleep 0.05; done; exit 0");
    const std::jthread asking([&, header = server.admin(), revision = review.at("revision")] {
      try {
        server.ask("POST", of(job, "/review/apply"), json{{"revision", revision}}.dump(), header);
      } catch (const std::exception&) {  // the server dies under it
      }
    });
    for (const Stop stop = patience(); !std::filesystem::exists(held);) pause(std::chrono::milliseconds(20), stop);
    server.kill9();
  }
  std::filesystem::remove(hold);
  Server server(forge_);
  json review = server.api("GET", of(job, "/review"));
  for (const Stop stop = patience(); review.at("status") != "applied"; review = server.api("GET", of(job, "/review")))
    pause(std::chrono::milliseconds(50), stop);
  EXPECT_EQ(test::run_git(served, {"rev-parse", branch}), review.at("applied").at("commit"));
  EXPECT_EQ(test::run_git(served, {"diff", "--numstat", "main", branch}), "1\t1\tlong.txt");
}

// The same without a server and without a browser: each verb opens the data directory by itself.
TEST_F(Reviewed, FromTheCommandLine) {
  const std::string model = forge_.steps(runs("sed -i 's/^line 3$/three/; s/^line 40$/forty/' long.txt; echo new > new.txt"));
  const std::string job = forge_.json({"run", "--repo", repo_.str(), "--task", "Change the lines", "--model", model, "--json"}).at("job");
  EXPECT_THAT(forge_.forge({"show", job}).out, HasSubstr("forge review " + job.substr(0, 10)));
  const Said listed = forge_.forge({"review", job, "--diff"});
  EXPECT_EQ(listed.status(), 0) << listed.err;
  EXPECT_THAT(listed.out, AllOf(HasSubstr("long.txt"), HasSubstr("+three"), HasSubstr("+forty"), HasSubstr("+new")));

  const json review = forge_.json({"review", job, "--accept", "all", "--reject", "2", "--reason", "Not that one.", "--json"});
  EXPECT_EQ(review.at("counts").at("accepted"), 2);
  EXPECT_THAT(forge_.forge({"review", job, "--patch", "--accepted"}).out, AllOf(HasSubstr("+three"), Not(HasSubstr("forty"))));
  const json applied = forge_.json({"review", job, "--apply", "--json"});
  const std::string branch = "forge/" + job.substr(0, 10) + "-1-accepted";
  EXPECT_THAT(applied.dump(), HasSubstr(branch));
  EXPECT_THAT(repo_.git({"show", branch + ":long.txt"}), AllOf(HasSubstr("three"), Not(HasSubstr("forty"))));

  next_agent("grep -q forty long.txt && sed -i 's/^forty$/FORTY/' long.txt");
  const Said sent = forge_.forge({"review", job, "--comment", "new.txt:1", "--body", "Why new?", "--send-back", "--note", "Nearly."});
  EXPECT_EQ(sent.status(), 0) << sent.err;
  const json second = forge_.json({"review", job, "--json"});
  EXPECT_EQ(second.at("run"), 2);
  EXPECT_EQ(second.at("counts").at("accepted"), 2);
  EXPECT_EQ(second.at("counts").at("stale"), 1);
  EXPECT_EQ(second.at("comments").at(0).at("body"), "Why new?");
  EXPECT_EQ(forge_.forge({"review", job, "--accept", "99"}).status(), 2);
}

}  // namespace
}  // namespace forge::functional
