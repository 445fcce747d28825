#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/base/text.h"
#include "tests/functional/repository.h"
#include "tests/functional/steps.h"
#include "tests/support/git_http_server.h"
#include "tests/support/golden.h"
#include "tests/support/model_server.h"

namespace forge::functional {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kGitToken = "ghs_TheTokenOfTheTest-0123456789";
constexpr const char* kModelKey = "sk-test-TheKeyOfTheTest-0123456789";

// Odd numbers, so that a wrong factor or a rounding in the wrong place cannot hide.
constexpr const char* kPrices = R"({"models": {
  "scripted": {"input": 2000000003, "output": 10000000019, "cache_read": 100000007, "cache_write": 2500000037, "context_window": 200000},
  "anthropic/test-model": {"input": 2000000003, "output": 10000000019, "cache_read": 100000007, "cache_write": 2500000037, "context_window": 200000},
  "openai/test-model": {"input": 2000000003, "output": 10000000019, "cache_read": 100000007, "cache_write": 2500000037, "context_window": 200000}
}})";

std::int64_t cost_of(const json& usage) {
  const std::int64_t sum = usage.at("input").get<std::int64_t>() * 2000000003 + usage.at("output").get<std::int64_t>() * 10000000019 +
                           usage.at("cache_read").get<std::int64_t>() * 100000007 +
                           usage.at("cache_write").get<std::int64_t>() * 2500000037;
  return (sum + 500000) / 1000000;
}

/// An agent that uses every tool: adds, changes, deletes, makes executable, links, and touches what is ignored.
json full_script() {
  json steps = json::array();
  steps.push_back(does("I look around.", {shell("ls; cat src/main.py"), call("read_file", {{"path", "README.md"}})}));
  steps.push_back(
      does("I change it.", {call("edit_file", {{"path", "src/main.py"}, {"edits", {{{"old_text", "'one'"}, {"new_text", "'two'"}}}}}),
                            call("write_file", {{"path", "docs/new/page.md"}, {"content", "# A page\n"}}),
                            shell("rm data/table.csv; printf '#!/bin/sh\\n' > run.sh; chmod +x run.sh; ln -s run.sh link; "
                                  "mkdir build; echo x > build/out")}));
  steps.push_back(says("Print two, add a page\n\nAnd a script."));
  steps[0]["thinking"] = "First the files.";
  steps[0]["usage"] = {{"input", 1841}, {"output", 63}, {"cache_read", 0}, {"cache_write", 1511}};
  steps[1]["usage"] = {{"input", 411}, {"output", 149}, {"cache_read", 1511}, {"cache_write", 383}};
  steps[2]["usage"] = {{"input", 233}, {"output", 41}, {"cache_read", 1894}, {"cache_write", 0}};
  return steps;
}

class Run : public testing::Test {
 protected:
  Run() {
    test::write_file(forge_.file("prices.json"), kPrices);
    forge_.set("FORGE_MODELS__PRICES_FILE", forge_.file("prices.json").string());
  }

  json run(const std::string& repository, const std::vector<std::string>& more) {
    std::vector<std::string> args{"run", "--repo", repository, "--task", "Print two, please", "--json"};
    args.insert(args.end(), more.begin(), more.end());
    return forge_.json(args);
  }

  /// What the branch holds, beside the base.
  static void expect_edits(const std::filesystem::path& repository, const std::string& base, const json& report) {
    const std::string branch = report.at("branch");
    const std::string changed = test::run_git(repository, {"diff-tree", "-r", "--no-renames", base, branch});
    EXPECT_THAT(changed, HasSubstr("D\tdata/table.csv"));
    EXPECT_THAT(changed, HasSubstr("A\tdocs/new/page.md"));
    EXPECT_THAT(changed, HasSubstr("M\tsrc/main.py"));
    EXPECT_THAT(changed, HasSubstr(":000000 100755 "));
    EXPECT_THAT(changed, HasSubstr(":000000 120000 "));
    EXPECT_EQ(split_lines(changed).size(), 5u) << changed;
    EXPECT_EQ(test::run_git(repository, {"show", branch + ":src/main.py"}), "def main():\n    print('two')\n\n\nmain()");
    EXPECT_EQ(test::run_git(repository, {"show", branch + ":docs/new/page.md"}), "# A page");
    EXPECT_EQ(test::run_git(repository, {"show", branch + ":link"}), "run.sh");
    EXPECT_EQ(test::run_git(repository, {"rev-parse", branch}), report.at("commit"));
    EXPECT_EQ(test::run_git(repository, {"rev-parse", branch + "^"}), base);
    EXPECT_EQ(test::run_git(repository, {"rev-parse", "main"}), base);
    const std::string message = test::run_git(repository, {"log", "-1", "--format=%an <%ae>%n%B", branch});
    EXPECT_THAT(message, HasSubstr("Forge <forge@localhost>\nPrint two, add a page\n\n"));
    EXPECT_THAT(message, HasSubstr("And a script."));
    EXPECT_THAT(message, HasSubstr("Forge-Job: " + report.at("job").get<std::string>() + "\nForge-Run: 1\nCo-authored-by: pi ("));
  }

  void expect_diff_gives_the_same_tree(const std::filesystem::path& repository, const std::string& base, const json& report) {
    const Said diff = forge_.forge({"show", report.at("job"), "--diff"});
    EXPECT_EQ(tree_after_apply(repository, base, diff.out),
              test::run_git(repository, {"rev-parse", report.at("branch").get<std::string>() + "^{tree}"}));
  }

  /// The trace tells the whole script, step by step, with its figures.
  void expect_replay(const json& report, const json& script, const std::string& model) {
    const auto events = forge_.trace(report.at("job"));
    std::vector<std::string> told;
    std::vector<std::string> expected;
    std::int64_t cost = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i].at("seq"), i + 1);
      EXPECT_EQ(events[i].at("run"), 1);
      EXPECT_GE(events[i].at("ts_ms"), events[i == 0 ? 0 : i - 1].at("ts_ms"));
      if (events[i].contains("turn")) told.push_back(line_of(events[i]));
    }
    for (std::size_t i = 0; i < script.size(); ++i) {
      const json& usage = script[i].at("usage");
      const std::string turn = std::to_string(i + 1);
      cost += cost_of(usage);
      expected.push_back(turn + " turn");
      expected.push_back(turn + " model " + model + " " + usage.dump() + " " + std::to_string(cost_of(usage)));
      if (script[i].contains("thinking")) expected.push_back(turn + " thinking " + script[i].at("thinking").get<std::string>());
      expected.push_back(turn + " text " + script[i].at("text").get<std::string>());
      for (const auto& tool : script[i].value("tools", json::array())) {
        expected.push_back(turn + " tool_call " + tool.at("name").get<std::string>() + " " + tool.at("input").dump());
        expected.push_back(turn + " tool_result " + tool.at("name").get<std::string>() + " ok");
      }
    }
    EXPECT_EQ(told, expected);
    EXPECT_EQ(report.at("cost_nano_usd"), cost);
    const json costs = forge_.json({"show", report.at("job"), "--cost", "--json"});
    EXPECT_EQ(costs.at("cost_nano_usd"), cost);
    EXPECT_EQ(costs.at("models").at(0).at("requests"), script.size());
    EXPECT_EQ(costs.at("usage"), report.at("usage"));
    EXPECT_EQ(events.back().at("type"), "terminal");
    EXPECT_EQ(events.back().at("data").at("reason"), "completed");
  }

  /// "2 tool_call bash {...}": what an event of a turn says, checked for its durations on the way.
  static std::string line_of(const json& event) {
    const std::string type = event.at("type");
    const json& data = event.at("data");
    std::string line = std::to_string(event.at("turn").get<int>()) + " " + type;
    if (type == "model") {
      EXPECT_GE(data.at("duration_ms"), data.at("time_to_first_token_ms"));
      EXPECT_FALSE(data.at("request_id").get<std::string>().empty());
      return line + " " + data.at("model").get<std::string>() + " " + data.at("usage").dump() + " " + data.at("cost_nano_usd").dump();
    }
    if (type == "text" || type == "thinking") return line + " " + data.at("text").get<std::string>();
    if (type == "tool_call")
      return line + " " + data.at("name").get<std::string>() + " " + json::parse(data.at("arguments").at("text").get<std::string>()).dump();
    if (type == "tool_result") {
      EXPECT_GE(data.at("duration_ms"), 0);
      EXPECT_TRUE(data.at("output").contains("text"));
      return line + " " + data.at("name").get<std::string>() + (data.at("ok").get<bool>() ? " ok" : " failed");
    }
    return line;
  }

  Installation forge_;
  SmallRepo repo_;
};

TEST_F(Run, OfALocalRepositoryPushesExactlyTheEdits) {
  const std::string model = forge_.steps(full_script());
  repo_.write("README.md", "changed, not committed\n");
  const json report = run(repo_.str(), {"--model", model, "--verify", "sh -n run.sh", "--verify", "grep -q two src/main.py"});
  expect_edits(repo_.path(), repo_.base(), report);
  expect_diff_gives_the_same_tree(repo_.path(), repo_.base(), report);
  expect_replay(report, full_script(), model);
  EXPECT_EQ(repo_.git({"status", "--porcelain"}), " M README.md");  // the person's work tree stays as it is
  EXPECT_EQ(repo_.git({"symbolic-ref", "HEAD"}), "refs/heads/main");
  const std::string findings = report.at("findings").dump();
  EXPECT_THAT(findings, HasSubstr("uncommitted changes are not included (1 file)"));
  EXPECT_THAT(findings, HasSubstr("build/out"));
  EXPECT_GT(report.at("duration_ms"), 0);
}

TEST_F(Run, ReportsTheWholeRunAsOneJsonObject) {
  const json report = run(repo_.str(), {"--model", forge_.steps(full_script()), "--verify", "true"});
  json shown = report;
  EXPECT_GT(shown.at("duration_ms"), 0);
  shown["duration_ms"] = 0;
  shown["unenforced"] = json::array();  // what a developer without root has
  std::string text = shown.dump(2) + "\n";
  for (const auto& [from, to] : {std::pair<std::string, std::string>{report.at("job"), "JOB"},
                                 {report.at("job").get<std::string>().substr(0, 10), "JOB10"},
                                 {report.at("commit"), "COMMIT"},
                                 {repo_.base(), "BASE"},
                                 {repo_.str(), "REPOSITORY"}})
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at)) text.replace(at, from.size(), to);
  test::expect_golden("tests/golden/functional/run_report.json", text);
}

TEST_F(Run, OfARepositoryBehindBasicAuthUsesTheConfiguredToken) {
  if (const std::string why = test::GitHttpServer::missing(); !why.empty()) GTEST_SKIP() << why;
  test::GitHttpServer server({.username = "x-access-token", .password = kGitToken});
  const auto served = server.make_repository("team/app.git");
  repo_.git({"push", "--quiet", served.string(), "main"});
  forge_.configure("[git.credentials.\"" + server.authority() + "\"]\ntoken_env = \"TEST_GIT_TOKEN\"\n");
  forge_.set("TEST_GIT_TOKEN", kGitToken);
  const std::string model = forge_.steps(full_script());
  const json report = run(server.url("team/app.git"), {"--model", model});
  expect_edits(served, repo_.base(), report);
  expect_diff_gives_the_same_tree(served, repo_.base(), report);
  expect_replay(report, full_script(), model);
  EXPECT_EQ(report.at("repository"), server.url("team/app.git"));
  EXPECT_THAT(server.log(), HasSubstr("POST /team/app.git/git-receive-pack 200"));
  EXPECT_THAT(server.log(), Not(HasSubstr(kGitToken)));
}

TEST_F(Run, ThroughTheAnthropicWireFormat) {
  test::ModelServer model(full_script().dump());
  forge_.set("ANTHROPIC_API_KEY", kModelKey);
  forge_.set("ANTHROPIC_BASE_URL", model.url());
  const json report = run(repo_.str(), {"--model", "anthropic/test-model"});
  expect_edits(repo_.path(), repo_.base(), report);
  expect_diff_gives_the_same_tree(repo_.path(), repo_.base(), report);
  expect_replay(report, full_script(), "anthropic/test-model");
  ASSERT_EQ(model.requests().size(), 3u);
  EXPECT_EQ(model.requests()[0].header("x-api-key"), kModelKey);
  EXPECT_EQ(model.requests()[0].target, "/v1/messages");
}

TEST_F(Run, ThroughTheOpenAiWireFormatOfANamedProvider) {
  json script = full_script();
  script[0].erase("thinking");  // this wire format has none
  for (auto& step : script) step["usage"]["cache_write"] = 0;
  test::ModelServer model(script.dump());
  test::write_file(forge_.file("key"), std::string(kModelKey) + "\n");
  forge_.configure("[models.providers.openai]\nbase_url = \"" + model.url() + "/v1\"\napi_key_file = \"" + forge_.file("key").string() +
                   "\"\n[jobs]\ndefault_model = \"openai/test-model\"\n");
  const json report = run(repo_.str(), {});
  expect_edits(repo_.path(), repo_.base(), report);
  expect_diff_gives_the_same_tree(repo_.path(), repo_.base(), report);
  expect_replay(report, script, "openai/test-model");
  ASSERT_EQ(model.requests().size(), 3u);
  EXPECT_EQ(model.requests()[0].header("authorization"), std::string("Bearer ") + kModelKey);
  EXPECT_EQ(model.requests()[0].target, "/v1/chat/completions");
}

TEST_F(Run, SurvivesFaultsOfTheModelsServerAndPaysForDroppedAnswers) {
  test::ModelServer model(full_script().dump());
  model.fault_once({.split_at = 137});
  model.fault_once({.error_after = 3});
  model.answer_once("HTTP/1.1 529 Overloaded\r\nContent-Length: 0\r\nretry-after-ms: 1\r\nConnection: close\r\n\r\n");
  forge_.set("ANTHROPIC_API_KEY", kModelKey);
  forge_.set("ANTHROPIC_BASE_URL", model.url());
  const json report = run(repo_.str(), {"--model", "anthropic/test-model"});
  expect_edits(repo_.path(), repo_.base(), report);
  const auto events = forge_.trace(report.at("job"));
  EXPECT_GE(of_type(events, "retry").size(), 2u);
  std::int64_t cost = 0;
  for (const auto& event : of_type(events, "model")) cost += cost_of(event.at("data").at("usage"));
  EXPECT_EQ(report.at("cost_nano_usd"), cost);
}

TEST_F(Run, ShowsPeopleWhatHappenedAndHowToGoOn) {
  const Said said = forge_.forge({"run", "--repo", repo_.str(), "--task", "x", "--model", forge_.steps(full_script())});
  EXPECT_EQ(said.status(), 0);
  for (const char* part :
       {"queued", "git fetch", "sandbox     acquired", "turn 1", "I look around.", "bash        ls; cat src/main.py", "git push    forge/"})
    EXPECT_THAT(said.err, HasSubstr(part));
  for (const char* part :
       {"run 1 succeeded in ", "5 files, +", "branch    forge/", ", pushed", "cost      $", "forge show ", " switch forge/"})
    EXPECT_THAT(said.out, HasSubstr(part));
  EXPECT_THAT(said.out + said.err, Not(HasSubstr("\x1b")));  // no terminal, no colours
}

TEST_F(Run, TakesTheTaskFromAFileAndFromStandardInput) {
  const std::string model = forge_.steps(runs("echo y > y"));
  test::write_file(forge_.file("task.md"), "The task of the file\nsecond line\n");
  const json from_file =
      forge_.json({"run", "--repo", repo_.str(), "--task-file", forge_.file("task.md").string(), "--model", model, "--json"});
  const json shown = forge_.json({"jobs", "--json"});
  EXPECT_EQ(shown.at("items").at(0).at("task"), "The task of the file\nsecond line\n");
  EXPECT_EQ(shown.at("items").at(0).at("title"), "The task of the file");
  const Said said = forge_.forge({"run", "--repo", repo_.str(), "--task-file", "-", "--model", model, "--events"}, "Read from a pipe");
  ASSERT_EQ(said.status(), 0) << said.err;
  EXPECT_EQ(said.err, "");
  for (const auto line : split_lines(said.out)) EXPECT_TRUE(json::parse(line).contains("seq"));
  EXPECT_EQ(forge_.json({"jobs", "--json", "--limit", "1"}).at("items").at(0).at("task"), "Read from a pipe");
}

TEST_F(Run, StartsFromTheNamedBase) {
  repo_.git({"switch", "--quiet", "--create", "release"});
  repo_.write("VERSION", "7\n");
  const std::string release = repo_.commit("release");
  repo_.git({"switch", "--quiet", "main"});
  const std::string model = forge_.steps(runs("cp VERSION copy"));
  const json report = run(repo_.str(), {"--model", model, "--base", "release"});
  EXPECT_EQ(report.at("base"), release);
  EXPECT_EQ(repo_.git({"show", report.at("branch").get<std::string>() + ":copy"}), "7");
  const json by_url = run("file://" + repo_.str(), {"--model", model, "--base", release.substr(0, 9)});
  EXPECT_EQ(by_url.at("base"), release);
}

}  // namespace
}  // namespace forge::functional
