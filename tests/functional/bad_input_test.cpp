#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/functional/repository.h"
#include "tests/functional/steps.h"
#include "tests/support/git_http_server.h"
#include "tests/support/loopback_server.h"

namespace forge::functional {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

/// What somebody gets wrong, and exactly what Forge answers on standard error.
struct Mistake {
  std::vector<std::string> args;
  std::string says;
};

class BadInput : public testing::Test {
 protected:
  std::vector<std::string> run_args(const std::vector<std::string>& more) const {
    std::vector<std::string> args{"run", "--repo", repo_.str(), "--task", "x"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  void expect_refused(const Mistake& mistake, int status = 2) const {
    const Said said = forge_.forge(mistake.args);
    SCOPED_TRACE(testing::PrintToString(mistake.args));
    EXPECT_EQ(said.status(), status);
    EXPECT_EQ(said.err, "forge: " + mistake.says + "\n");
    EXPECT_EQ(said.out, "");
  }
  /// The error of a run that failed for its repository.
  std::string git_failure(const std::string& repository, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> args{"run", "--repo", repository, "--task", "x", "--json", "--model", forge_.steps(runs("true"))};
    args.insert(args.end(), more.begin(), more.end());
    const json report = forge_.json(args, 1);
    EXPECT_EQ(report.at("state"), "failed");
    EXPECT_EQ(report.at("reason"), "git_failed");
    return report.at("error");
  }

  Installation forge_;
  SmallRepo repo_;
};

TEST_F(BadInput, ADirectoryOfOthersIsNotTakenForData) {
  const auto others = forge_.file("others");
  std::filesystem::create_directories(others);
  std::filesystem::permissions(others, std::filesystem::perms(0755));
  std::ofstream(others / "letter.txt") << "dear";
  expect_refused({{"--data-dir", others.string(), "jobs"},
                  "data-dir: '" + others.string() +
                      "' holds other things and is no data directory of Forge\n"
                      "  name a directory of its own with --data-dir or FORGE_DATA_DIR"});
  EXPECT_EQ(std::filesystem::status(others).permissions(), std::filesystem::perms(0755));
  std::filesystem::remove(others / "letter.txt");
  EXPECT_EQ(forge_.forge({"--data-dir", others.string(), "jobs"}).status(), 0);
  EXPECT_EQ(std::filesystem::status(others).permissions(), std::filesystem::perms(0700));
}

TEST_F(BadInput, ADirectoryThatOnlyASandboxUsedIsTakenForData) {
  const std::string data = forge_.file("fresh").string();
  forge_.forge({"--data-dir", data, "sandbox", "run", "--", "true"});
  std::filesystem::create_directories(data + "/run");  // whatever that driver keeps
  EXPECT_EQ(forge_.forge({"--data-dir", data, "jobs"}).status(), 0);
}

TEST_F(BadInput, OfTheConfigurationNamesFileLineAndWhatWouldBeRight) {
  forge_.configure("[jobs]\nmax_turn = 3\n");
  expect_refused({{"jobs"}, "forge.toml:2: unknown key jobs.max_turn\n  did you mean jobs.max_turns?"});
  forge_.configure("[jobs]\n\nmax_turns = \"many\"\n");
  expect_refused({{"jobs"}, "forge.toml:3: jobs.max_turns must be an integer from 1 to 10000, not \"many\""});
  forge_.configure("[sandbox]\nprovider = \"podman\"\n");
  expect_refused({{"serve"}, "forge.toml:2: sandbox.provider must be one of local, docker, e2b, daytona, none, not \"podman\""});
  forge_.configure("[jobs\n");
  EXPECT_THAT(forge_.forge({"jobs"}).err, StartsWith("forge: config: forge.toml:1: "));
  expect_refused(
      {{"--config", "/nonexistent.toml", "jobs"}, "config: /nonexistent.toml: no such file\n  name an existing file with --config"});
}

TEST_F(BadInput, OfTheEnvironmentNamesTheVariable) {
  forge_.set("FORGE_JOBS__CONCURRENCY", "lots");
  expect_refused(
      {{"jobs"}, "environment variable FORGE_JOBS__CONCURRENCY: jobs.concurrency must be an integer from 1 to 64, not \"lots\""});
  forge_.unset("FORGE_JOBS__CONCURRENCY");
  forge_.set("FORGE_JOBS__MAX_TURN", "3");
  expect_refused({{"jobs"}, "environment variable FORGE_JOBS__MAX_TURN: unknown key jobs.max_turn\n  did you mean jobs.max_turns?"});
  forge_.unset("FORGE_JOBS__MAX_TURN");
  forge_.set("FORGE_JOBS_MAX_TURNS", "3");
  expect_refused({{"jobs"},
                  "environment variable FORGE_JOBS_MAX_TURNS: a section and its key are separated by two underscores\n"
                  "  write FORGE_JOBS__MAX_TURNS"});
}

TEST_F(BadInput, ADirectoryThatIsGoneIsMissedByThoseWhoNeedIt) {
  const auto from_nowhere = [&](const std::string& words) {
    const std::string script = "mkdir gone && cd gone && rmdir ../gone && exec " + forge_program() + " " + words;
    return forge_.start_program({"/bin/sh", "-c", script}, "", forge_.data().parent_path()).wait();
  };
  for (const char* words : {"jobs", "config show", "adapter list", "token list"})
    EXPECT_EQ(from_nowhere(words).status(), 0) << from_nowhere(words).err;
  const std::string told = "forge: the current directory is gone\n  change to a directory that is there, or name the path from / on\n";
  for (const char* words : {"run --task x", "apply 000000aaaa", "--data-dir here jobs", "--set server.socket=here jobs"}) {
    const Said said = from_nowhere(words);
    EXPECT_EQ(said.status(), 2) << words;
    EXPECT_EQ(said.err, told) << words;
  }
}

// Not in the middle of the first run, after everything was fetched and made for it.
TEST_F(BadInput, OfACassetteIsToldAtTheStart) {
  const auto tape = [&](const char* word, const std::string& name) {
    forge_.set("FORGE_GATEWAY__CASSETTE", word + forge_.file(name).string());
    for (const std::vector<std::string>& args : {std::vector<std::string>{"serve"}, run_args({"--model", forge_.steps(runs("true"))})}) {
      const Said said = forge_.forge(args);
      EXPECT_EQ(said.status(), 2) << said.err;
      EXPECT_THAT(said.err, StartsWith("forge: gateway.cassette: the cassette " + std::filesystem::path(name).filename().string()));
    }
    EXPECT_EQ(forge_.forge({"jobs"}).status(), 0) << "who only looks needs none";
  };
  tape("replay:", "none.jsonl");
  test::write_file(forge_.file("broken.jsonl"), "no cassette\n");
  tape("replay:", "broken.jsonl");
  tape("record:", "broken.jsonl");
  tape("record:", "missing/new.jsonl");
}

TEST_F(BadInput, OfTheCommandLineNamesTheOption) {
  const std::string model = forge_.steps(runs("true"));
  const std::vector<Mistake> mistakes{
      {{"run", "--taks", "x"}, "unknown option --taks\n  did you mean --task?"},
      {{"runn"}, "unknown verb \"runn\"\n  did you mean run?"},
      {{"run"}, "no task: say what the agent is to do\n  --task TEXT, or --task-file FILE"},
      {{"run", "--task", " "}, "the task is empty\n  say what the agent is to do"},
      {{"run", "--task", "x", "--task-file", "y"}, "--task and --task-file exclude each other\n  choose one"},
      {{"run", "--task-file", "/nonexistent"}, "/nonexistent: no such file\n  a file, or - for standard input"},
      {run_args({"--json", "--events"}), "--json and --events exclude each other\n  choose one"},
      {run_args({"--max-turns", "0"}), "--max-turns must be an integer from 1 to 10000, not \"0\""},
      {run_args({"--timeout", "never"}), "--timeout must be an integer from 1 to 604800, not \"never\""},
      {run_args({"--budget-usd", "1 EUR", "--model", model}),
       "--budget-usd: not an amount of dollars\n  an amount in dollars, for example 1.5"},
      {{"show"}, "ID is required\n  `forge show --help` shows what it takes"},
      {{"show", "not-an-id"}, "\"not-an-id\" is not a job's id\n  6 to 26 letters and digits; `forge jobs` lists them"},
      {{"jobs", "--server", "here"}, "--server must be an http or https URL, not \"here\"\n  for example http://127.0.0.1:8700"},
      {{"token", "create", "x", "--role", "king"}, "--role must be one of admin, operator, reviewer, viewer, not \"king\""},
      {{"apply", "000000aaaa", "--repo", "/"}, "/ is not a git work tree\n  name the work tree with --repo DIR"},
  };
  for (const auto& mistake : mistakes) expect_refused(mistake);
}

TEST_F(BadInput, OfAJobIsRefusedBeforeItExists) {
  const std::string model = forge_.steps(runs("true"));
  const auto with_model = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--model", model});
    return run_args(more);
  };
  const std::string ssh = "repository: ssh is not supported\n  the repository's https:// URL, with a token in git.credentials";
  const std::vector<Mistake> mistakes{
      {run_args({}), "no model configured: set ANTHROPIC_API_KEY, or OPENAI_API_KEY, or models.providers in " +
                         (forge_.data() / "forge.toml").string() + ", or use --model scripted:FILE"},
      {with_model({"--adapter", "nope"}), "there is no adapter named 'nope'\n  use one of: pi, claude-code"},
      {with_model({"--driver", "nope"}), "there is no driver named 'nope'\n  use one of: local, none"},
      {with_model({"--template", "nope"}), "there is no template named 'nope'\n  use one of: base"},
      {with_model({"--budget-usd", "0"}), "the budget must be more than 0\n  leave it out for no budget"},
      {with_model({"--allow-host", "a b"}),
       "network.allow_hosts[0]: is not a host name\n  a name as in example.com, or *.example.com for all below it"},
      {{"run", "--repo", "git@git.example.com:a/b.git", "--task", "x", "--model", model}, ssh},
      {{"run", "--repo", "ssh://git@git.example.com/a/b.git", "--task", "x", "--model", model}, ssh},
      {{"run", "--repo", "ext::sh -c id", "--task", "x", "--model", model},
       "repository: 'ext::' is not supported\n  an absolute path, a file:// URL or an http(s):// URL"},
      {{"run", "--repo", "https://u:p@git.example.com/b.git", "--task", "x", "--model", model},
       "repository: the URL carries credentials, which would end in logs and in the database\n"
       "  leave them out, and configure git.credentials.\"HOST\" with token_env or token_file"},
  };
  for (const auto& mistake : mistakes) expect_refused(mistake);
  EXPECT_EQ(forge_.json({"jobs", "--json"}).at("items").size(), 0u);
}

TEST_F(BadInput, OfAModelScriptNamesFileStepAndField) {
  const std::string file = forge_.file("bad.json").string();
  const auto script = [&](const std::string& text) { return run_args({"--model", forge_.script(text, "bad.json")}); };
  expect_refused({run_args({"--model", "scripted:" + file}), "scripted model " + file + ": the file cannot be read"});
  expect_refused({script("{"), "scripted model " + file + ": the script is not valid JSON (byte 2)"});
  expect_refused({script("[]"), "scripted model " + file + ": the script has no step"});
  expect_refused({script(R"([{}, {"txt": "a"}])"), "[1].txt: scripted model " + file + ": unknown field\n  did you mean 'text'?"});
  expect_refused({script(R"([{"tools": [{"name": "bash", "input": 3}]}])"),
                  "[0].tools[0].input: scripted model " + file + ": expected an object\n  raw_input takes any text"});
}

TEST_F(BadInput, OfALocalRepositorySaysWhatIsWrongWithIt) {
  const test::TempDir directory;
  const std::string path = directory.str();
  EXPECT_EQ(git_failure(path + "/none"), "there is no directory '" + path + "/none'");
  EXPECT_EQ(git_failure(path),
            "'" + path + "' is not a git repository (run `git init` and make a first commit there, or name another directory)");
  EXPECT_EQ(git_failure(repo_.str(), {"--base", "mainn"}),
            "'" + repo_.str() + "' has no branch, tag or commit 'mainn'; did you mean main (a branch, a tag or a commit id)");
  const test::TempRepo empty;
  EXPECT_EQ(git_failure(empty.str()), "'" + empty.str() + "' is empty: it has no branch with a commit (make a first commit in it)");
  test::run_git(directory.path(), {"init", "--quiet", "--object-format=sha256"});
  EXPECT_EQ(git_failure(path), "'" + path + "' uses SHA-256 object names, which are not supported (a SHA-1 repository)");
}

TEST_F(BadInput, OfAServedRepositorySaysWhatIsWrongWithIt) {
  if (const std::string why = test::GitHttpServer::missing(); !why.empty()) GTEST_SKIP() << why;
  test::GitHttpServer server({.username = "x-access-token", .password = "right-token-0123456789"});
  repo_.git({"push", "--quiet", server.make_repository("app.git").string(), "main"});
  server.make_repository("empty.git");
  const test::TempDir sha256;
  test::run_git(sha256.path(), {"init", "--quiet", "--object-format=sha256", "--initial-branch=main"});
  test::run_git(sha256.path(), {"commit", "--quiet", "--allow-empty", "--message", "one"});
  test::run_git(sha256.path(), {"push", "--quiet", server.make_repository("new.git", "sha256").string(), "main"});
  const std::string url = server.url("app.git");
  EXPECT_EQ(git_failure(url), "'" + url + "' needs authentication, and no credentials are configured for its host (set git.credentials.\"" +
                                  server.authority() + "\" with token_env or token_file)");
  forge_.configure("[git.credentials.\"" + server.authority() + "\"]\ntoken_env = \"TEST_GIT_TOKEN\"\n");
  forge_.set("TEST_GIT_TOKEN", "wrong-token-0123456789");
  EXPECT_EQ(git_failure(url), "'" + url + "' refuses the configured credentials (check the token of git.credentials.\"" +
                                  server.authority() + "\": it may have expired or lack this repository)");
  forge_.set("TEST_GIT_TOKEN", "right-token-0123456789");
  EXPECT_THAT(git_failure(url, {"--base", "v1"}), StartsWith("'" + url + "' has no branch, tag or commit 'v1'; "));
  EXPECT_THAT(git_failure(server.url("none.git")), HasSubstr("holds no repository, or hides it from us"));
  EXPECT_THAT(git_failure(server.url("empty.git")), HasSubstr("is empty: it has no branch with a commit"));
  EXPECT_THAT(git_failure(server.url("new.git")), HasSubstr("most likely SHA-256 (a SHA-1 repository)"));
}

TEST_F(BadInput, OfAServerThatIsNotThereOrSaysNothing) {
  EXPECT_EQ(git_failure("http://127.0.0.1:1/x.git"),
            "'http://127.0.0.1:1/x.git' cannot be reached: nothing listens there (check host and port, and whether the server is up)");
  test::LoopbackServer silent([](test::Connection& connection) { connection.wait_gone(); });
  const json report = forge_.json(
      {"run", "--repo", silent.url() + "/x.git", "--task", "x", "--json", "--timeout", "3", "--model", forge_.steps(runs("true"))}, 6);
  EXPECT_EQ(report.at("reason"), "timeout");
  EXPECT_GT(silent.connections(), 0);
}

TEST_F(BadInput, OfAJobsNameIsNotFoundOnce) {
  const std::vector<Mistake> mistakes{{{"show", "000000aaaa"}, "no job '000000aaaa'"},
                                      {{"cancel", "000000aaaa"}, "no job '000000aaaa'"},
                                      {{"retry", "000000aaaa"}, "no job '000000aaaa'"},
                                      {{"apply", "000000aaaa", "--repo", repo_.str()}, "no job '000000aaaa'"}};
  for (const auto& mistake : mistakes) expect_refused(mistake, 1);
}

TEST_F(BadInput, OfTheServersAddressIsUnavailable) {
  const Said said =
      forge_.forge({"run", "--repo", repo_.str(), "--task", "x", "--model", "scripted:/nonexistent", "--server", "http://127.0.0.1:1"});
  EXPECT_EQ(said.status(), 7);
  EXPECT_THAT(said.err, StartsWith("forge: no answer from http://127.0.0.1:1/"));
}

}  // namespace
}  // namespace forge::functional
