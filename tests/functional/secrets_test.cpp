#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>

#include "orchestrator/base/error.h"
#include "tests/functional/remains.h"
#include "tests/functional/repository.h"
#include "tests/functional/server.h"
#include "tests/functional/steps.h"
#include "tests/support/git_http_server.h"
#include "tests/support/model_server.h"

namespace forge::functional {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Of no known shape, so that only knowing the value itself can redact it.
constexpr const char* kCanaryKey = "canary-of-the-model-0123456789abcdef";
constexpr const char* kCanaryToken = "canary.of.the.git.server.0123456789";
constexpr const char* kHeader = "canary-of-a-header-0123456789";

/// Names of the canaries that `text` holds.
std::string canaries_in(const std::string& text) {
  std::string found;
  for (const char* canary : {kCanaryKey, kCanaryToken, kHeader})
    if (text.find(canary) != std::string::npos) found += std::string(canary) + " ";
  return found;
}

std::vector<std::string> files_with_canaries(const fs::path& directory) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    if (entry.is_regular_file() && !entry.is_symlink())
      if (const std::string seen = canaries_in(test::read_file(entry.path())); !seen.empty())
        found.push_back(entry.path().string() + ": " + seen);
  return found;
}

class Secrets : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::GitHttpServer::missing(); !why.empty()) GTEST_SKIP() << why;
    git_ = std::make_unique<test::GitHttpServer>(test::GitHttpServer::Options{.username = "x-access-token", .password = kCanaryToken});
    repo_.git({"push", "--quiet", git_->make_repository("app.git").string(), "main"});
    forge_.set("FORGE_REPOSITORIES__ALLOW_LOCAL", "/tmp," + repo_.path().parent_path().string());
    test::write_file(forge_.file("git-token"), std::string(kCanaryToken) + "\n");
    fs::permissions(forge_.file("git-token"), fs::perms::owner_read | fs::perms::owner_write);
    forge_.configure("[git.credentials.\"" + git_->authority() + "\"]\ntoken_file = \"" + forge_.file("git-token").string() +
                     "\"\n[models.providers.anthropic]\nheaders = { \"x-corp-token\" = \"" + kHeader + "\" }\n");
    // The agent says and prints what it cannot know, as if it had found a leak.
    json steps = runs("echo y > y; echo the key is " + std::string(kCanaryKey) + ".; printf canary.of.; printf the.git.server.0123456789");
    steps[0]["text"] = std::string("I found ") + kCanaryKey + " and " + kHeader;
    steps[0]["thinking"] = std::string("Is it ") + kCanaryToken + "?";
    steps[1]["text"] = std::string("Done with ") + kCanaryKey;
    model_ = std::make_unique<test::ModelServer>(steps.dump());
    forge_.set("ANTHROPIC_API_KEY", kCanaryKey);
    forge_.set("ANTHROPIC_BASE_URL", model_->url());
  }
  /// Command lines and environments of everything below Forge, and its own command line.
  static std::string seen_of(pid_t forge) {
    std::string text = proc(forge, "cmdline");
    for (const Seen& child : descendants(forge)) text += proc(child.pid, "cmdline") + proc(child.pid, "environ");
    return text;
  }
  static std::string proc(pid_t pid, const char* name) {
    const UniqueFd file(::open(("/proc/" + std::to_string(pid) + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
    try {
      return file ? read_all(file.get(), 1 << 20, patience()) : "";
    } catch (const Error&) {
      return "";  // it ended meanwhile
    }
  }

  Installation forge_;
  SmallRepo repo_;
  std::unique_ptr<test::GitHttpServer> git_;
  std::unique_ptr<test::ModelServer> model_;
};

TEST_F(Secrets, AreInNoFileOutputOrChildOfForge) {
  const std::string gate = forge_.file("gate").string();
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  git_->set_pre_receive_hook("app.git", "read word < " + gate);
  Said server_said;
  std::string answers;
  {
    Server server(forge_);
    const std::string job = server.create({{"repository", git_->url("app.git")}, {"task", "x"}, {"model", "anthropic/claude-haiku-4-5"}});
    // The push waits in its hook, with the token in its memory.
    const UniqueFd open_gate = checked_fd(::open(gate.c_str(), O_WRONLY | O_CLOEXEC), "opening the gate");
    EXPECT_THAT(seen_of(server.program().pid()), HasSubstr("git-network"));
    EXPECT_EQ(canaries_in(seen_of(server.program().pid())), "");
    write_all(open_gate.get(), "go\n", patience());
    EXPECT_EQ(server.wait_ended(job).at("state"), "succeeded");
    for (const char* part : {"", "/trace", "/runs", "/cost", "/diff"}) answers += server.api("GET", "/api/v1/jobs/" + job + part).dump();
    answers += server.ask("GET", "/metrics", "", server.admin()).body;
    server_said = server.stop();
  }
  EXPECT_EQ(model_->requests().at(0).header("x-corp-token"), kHeader);
  EXPECT_EQ(canaries_in(answers), "");
  EXPECT_THAT(answers, HasSubstr("the key is [redacted]."));
  EXPECT_EQ(canaries_in(server_said.out + server_said.err), "");
  EXPECT_EQ(canaries_in(git_->log()), "");
  const auto files = files_with_canaries(forge_.data());
  ASSERT_EQ(files.size(), 1u) << testing::PrintToString(files);
  EXPECT_THAT(files[0], testing::StartsWith((forge_.data() / "forge.toml").string() + ": " + kHeader));
}

TEST_F(Secrets, AreInNoProcessOfASandbox) {
  const std::string mark = "forge-agent-of-" + forge_.data().parent_path().filename().string();
  Program run = forge_.start({"run", "--repo", repo_.str(), "--task", "x", "--model", forge_.steps(runs(sleeping_as(mark)))});
  wait_for_process(mark);
  const std::string seen = seen_of(run.pid());
  EXPECT_THAT(seen, HasSubstr(mark));
  EXPECT_EQ(canaries_in(seen), "");
  run.signal(SIGINT);
  const Said said = run.wait();
  EXPECT_EQ(said.status(), 4);
  EXPECT_EQ(canaries_in(said.out + said.err), "");
}

TEST_F(Secrets, OfARunWithoutAServerStayOutOfItsOutput) {
  const Said said = forge_.forge({"run", "--repo", git_->url("app.git"), "--task", "x", "--model", "anthropic/claude-haiku-4-5"});
  EXPECT_EQ(said.status(), 0) << said.err;
  EXPECT_EQ(canaries_in(said.out + said.err), "");
  EXPECT_THAT(said.err, HasSubstr("the key is [redacted]."));
}

}  // namespace
}  // namespace forge::functional
