#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "orchestrator/base/from_base64.h"
#include "orchestrator/base/text.h"
#include "tests/functional/installation.h"
#include "tests/support/paths.h"
#include "tests/support/raw_http.h"
#include "tests/support/temp_repo.h"

namespace forge::functional {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> demo(const std::string& once) {
  return {"/bin/bash", test::source_file("docs/demo/run.sh"), forge_program(), once};
}

TEST(Demo, RepairsTheSampleAndShowsDiffCostAndAddress) {
  Installation forge;
  forge.set("FORGE_SERVER__LISTEN", "127.0.0.1:0");
  const Said said = forge.start_program(demo("1")).wait();
  EXPECT_EQ(said.status(), 0) << said.out << said.err;
  EXPECT_THAT(said.out, HasSubstr("No model key is set: this is a replay. No model is asked"));
  EXPECT_THAT(said.out, HasSubstr("docs/demo/fix-wrap.jsonl"));
  EXPECT_THAT(said.out, ContainsRegex("anthropic/claude-sonnet-5-5 +5 +3,490 +506 +8,610 +2,780")) << "metered like the real thing";
  EXPECT_THAT(said.out, HasSubstr("+        if line and len(line) + 1 + len(word) > width:"));
  EXPECT_THAT(said.out, ContainsRegex("branch forge/[0-9a-z]{10}-1"));
  EXPECT_THAT(said.out, HasSubstr("$0.019851"));
  EXPECT_THAT(said.out, ContainsRegex("Forge is up at http://127\\.0\\.0\\.1:[0-9]+\n"));
  EXPECT_THAT(said.out, Not(HasSubstr("/sign-in/"))) << "of a server that stops at once";
  EXPECT_THAT(forge.instances(), testing::IsEmpty());
  // The sample's own tests pass on the branch.
  const auto sample = forge.data() / "sample";
  const std::string branch = test::run_git(sample, {"for-each-ref", "--format=%(refname:short)", "refs/heads/forge"});
  test::run_git(sample, {"checkout", "--quiet", branch});
  EXPECT_EQ(forge.start_program({"/usr/bin/python3", "-m", "unittest"}, "", sample).wait().status(), 0);
}

/// What a cassette holds but for times and for how the network cut the answers: of each exchange the request and the whole answer.
std::vector<nlohmann::json> conversation(const std::string& cassette) {
  std::vector<nlohmann::json> exchanges;
  const std::string text = test::read_file(cassette);
  for (const auto line : split_lines(text)) {
    nlohmann::json exchange = nlohmann::json::parse(line);
    std::string answer;
    for (const auto& chunk : exchange.value("chunks", nlohmann::json::array()))
      answer += from_base64(chunk.at(1).get<std::string>()).value();
    exchange["chunks"] = answer;
    exchanges.push_back(std::move(exchange));
  }
  return exchanges;
}

TEST(Demo, ReplaysWhatItsScriptWouldBeRecordedAs) {
  Installation forge;
  const std::string file = forge.file("fix-wrap.jsonl").string();
  const std::vector<std::string> record{"/bin/bash", test::source_file("docs/demo/record.sh"), forge_program(),
                                        test::built_program("scripted-model-server"), file};
  const Said said = forge.start_program(record).wait();
  ASSERT_EQ(said.status(), 0) << said.out << said.err;
  EXPECT_EQ(conversation(file), conversation(test::source_file("docs/demo/fix-wrap.jsonl"))) << "record it anew: docs/demo/record.sh";
}

TEST(Demo, WaitsForNobodyOnATerminal) {
  if (!std::filesystem::exists("/usr/bin/script")) GTEST_SKIP() << "no script(1), which gives a terminal";
  Installation forge;
  forge.set("FORGE_SERVER__LISTEN", "127.0.0.1:0");
  forge.set("PAGER", "cat >/dev/null");  // what goes through a pager is seen to be missing
  std::string command;
  for (const std::string& word : demo("1")) command += word + " ";
  const Said said = forge.start_program({"/usr/bin/script", "--quiet", "--return", "--command", command, "/dev/null"}).wait();
  EXPECT_EQ(said.status(), 0) << said.out << said.err;
  EXPECT_THAT(said.out, ContainsRegex("branch forge/[0-9a-z]{10}-1"));
}

TEST(Demo, LeavesADemoThatIsUpAlone) {
  Installation forge;
  forge.set("FORGE_SERVER__LISTEN", "127.0.0.1:0");
  Program first = forge.start_program(demo("0"));
  first.wait_out("in another terminal");
  const auto branches = [&] { return test::run_git(forge.data() / "sample", {"for-each-ref", "--format=%(refname:short)"}); };
  const std::string before = branches();
  EXPECT_THAT(before, HasSubstr("forge/"));
  const Said second = forge.start_program(demo("1")).wait();
  EXPECT_EQ(second.status(), 1);
  EXPECT_THAT(second.err, HasSubstr("another process owns the data directory"));
  EXPECT_THAT(second.err, HasSubstr("If a demo is up already, stop it first"));
  EXPECT_EQ(branches(), before);
  first.signal(SIGINT);
  const Said said = first.wait();
  EXPECT_EQ(said.status(), 128 + SIGINT);
  const auto link = said.out.find("/sign-in/");
  ASSERT_NE(link, std::string::npos);
  EXPECT_EQ(said.out.find("/sign-in/", link + 1), std::string::npos) << "one link, printed once";
  EXPECT_THAT(forge.instances(), testing::IsEmpty());
}

/// A job on the demo's sample as the dashboard makes one; the error of its run.
std::string error_of_another_job(const Installation& forge, int port) {
  const std::string token = forge.json({"token", "create", "dashboard", "--role", "operator", "--json"}).at("secret");
  const std::string body =
      nlohmann::json{{"repository", (forge.data() / "sample").string()}, {"task", "x"}, {"model", "anthropic/claude-sonnet-5-5"}}.dump();
  const test::RawResponse made = test::RawClient::tcp(port).ask(
      "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token +
      "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_EQ(made.status, 201) << made.body;
  if (made.status != 201) return "";
  const Said followed = forge.forge({"show", nlohmann::json::parse(made.body).at("id"), "--follow"});
  EXPECT_EQ(followed.status(), 1) << followed.err;
  return followed.out;
}

TEST(Demo, TakesAnotherJobOnItsSampleAndSaysWhyItNeedsAKey) {
  Installation forge;
  forge.set("FORGE_SERVER__LISTEN", "127.0.0.1:0");
  Program up = forge.start_program(demo("0"));
  const std::string out = up.wait_out("in another terminal");
  const std::string before = "Forge is up at http://127.0.0.1:";
  const int port = std::stoi(out.substr(out.find(before) + before.size()));
  const std::string error = error_of_another_job(forge, port);
  EXPECT_THAT(error, HasSubstr("the recording fix-wrap.jsonl is used up"));
  EXPECT_THAT(error, HasSubstr("ANTHROPIC_API_KEY or OPENAI_API_KEY"));
  EXPECT_THAT(error, HasSubstr("The model could not be asked, or its provider kept failing")) << "no provider had a part in it";
}

}  // namespace
}  // namespace forge::functional
