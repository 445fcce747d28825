#include <gmock/gmock.h>

#include "tests/unit/cli/fixture.h"

namespace forge::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST_F(CliTest, SandboxRunPassesOutputAndStatusThrough) {
  EXPECT_EQ(run({"sandbox", "run", "--", "sh", "-c", "echo out; echo err >&2; exit 7"}), 7);
  EXPECT_EQ(out, "out\n");
  EXPECT_EQ(err, "err\n");
  EXPECT_EQ(services.driver_.counts().released, 1);
}

TEST_F(CliTest, SandboxRunTakesTheCommandAsItIs) {
  EXPECT_EQ(run({"sandbox", "run", "--", "printf", "%s|", "--json", "a b", "--", "-x"}), 0);
  EXPECT_EQ(out, "--json|a b|--|-x|");
}

TEST_F(CliTest, SandboxRunReportsASignal) { EXPECT_EQ(run({"sandbox", "run", "--", "sh", "-c", "kill -9 $$"}), 128 + 9); }

TEST_F(CliTest, SandboxRunPrintsOneObjectWithJson) {
  EXPECT_EQ(run({"sandbox", "run", "--json", "--", "sh", "-c", "echo out; echo err >&2; exit 3"}), 3);
  const json report = json::parse(out);
  EXPECT_EQ(report.at("stdout"), "out\n");
  EXPECT_EQ(report.at("stderr"), "err\n");
  EXPECT_EQ(report.at("exitCode"), 3);
  EXPECT_EQ(report.at("signal"), nullptr);
  EXPECT_EQ(report.at("timedOut"), false);
  EXPECT_EQ(report.at("provider"), "dummy");
  EXPECT_GE(report.at("durationMs").get<int>(), 0);
  EXPECT_EQ(report.at("limits"), json::array({"nothing (dummy)"}));
  EXPECT_EQ(err, "");
}

TEST_F(CliTest, SandboxRunReportsATimeOut) {
  services.driver_.fail({.ended = sandbox::Ended::timed_out});
  EXPECT_EQ(run({"sandbox", "run", "--timeout", "2", "--", "true"}), 124);
  EXPECT_EQ(err, "forge: stopped after 2 s\n");
  EXPECT_EQ(run({"sandbox", "run", "--json", "--", "true"}), 124);
  EXPECT_EQ(json::parse(out).at("timedOut"), true);
}

TEST_F(CliTest, SandboxRunSaysThatMemoryRanOut) {
  services.driver_.fail({.ended = sandbox::Ended::out_of_memory});
  run({"sandbox", "run", "--", "true"});
  EXPECT_EQ(err, "forge: killed: out of memory\n");
}

TEST_F(CliTest, SandboxRunEndsWith125WhenForgeFails) {
  services.driver_.fail({.acquire = ErrorCode::sandbox_unavailable});
  EXPECT_EQ(run({"sandbox", "run", "--", "true"}), 125);
  services.driver_.fail({});
  EXPECT_EQ(run({"sandbox", "run", "--driver", "docker", "--", "true"}), 125);
  EXPECT_EQ(err, "forge: there is no driver docker\n  dummy\n");
  EXPECT_EQ(run({"sandbox", "run", "--template", "none", "--", "true"}), 125);
  EXPECT_EQ(run({"sandbox", "run"}), 125);
  EXPECT_EQ(err, "forge: no command\n  write it after --: forge sandbox run -- ls -l\n");
  services.config_error = bad_input("x", "forge.toml:1: broken");
  EXPECT_EQ(run({"sandbox", "run", "--", "true"}), 125);
}

TEST_F(CliTest, SandboxRunWantsTheCommandBehindTheDashes) {
  EXPECT_EQ(run({"sandbox", "run", "ls", "/"}), 2);
  EXPECT_EQ(err, "forge: unexpected argument \"ls\"\n  write the command after --\n");
}

TEST_F(CliTest, SandboxRunRefusesAModeThatIsNone) {
  EXPECT_EQ(run({"sandbox", "run", "--network", "bridge", "--", "true"}), 2);
  EXPECT_EQ(err, "forge: --network must be one of none, egress, not \"bridge\"\n");
}

}  // namespace
}  // namespace forge::cli
