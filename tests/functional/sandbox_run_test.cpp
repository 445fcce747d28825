#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "tests/functional/installation.h"
#include "tests/functional/remains.h"
#include "tests/functional/steps.h"

namespace forge::functional {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::StartsWith;

/// A plain user runs degraded, and is told at the beginning which limits are missing.
std::string without_what_is_not_enforced(const std::string& err) {
  std::string rest;
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("forge: not enforced: ")) rest += line + "\n";
  return rest;
}

class SandboxRun : public testing::Test {
 protected:
  Said run(std::vector<std::string> args) const {
    args.insert(args.begin(), {"sandbox", "run"});
    Said said = forge_.forge(args);
    said.err = without_what_is_not_enforced(said.err);
    return said;
  }
  Installation forge_;
};

TEST_F(SandboxRun, ExitsAsTheCommandDoes) {
  const Said fine = run({"--", "sh", "-c", "echo out; echo err >&2; pwd; id -u; exit 7"});
  EXPECT_EQ(fine.status(), 7);
  EXPECT_EQ(fine.out, "out\n/workspace\n1000\n");
  EXPECT_EQ(fine.err, "err\n");
  EXPECT_EQ(run({"--", "sh", "-c", "kill -TERM $$"}).status(), 128 + SIGTERM);
  EXPECT_EQ(run({"--", "true"}).status(), 0);
}

TEST_F(SandboxRun, ExitsWith124AtItsTimeOutAndLeavesNothing) {
  const std::string mark = "forge-slow-" + forge_.data().parent_path().filename().string();
  const Said slow = run({"--timeout", "1", "--", "bash", "-c", "(" + sleeping_as(mark) + ") & " + sleeping_as(mark)});
  EXPECT_EQ(slow.status(), 124);
  EXPECT_EQ(slow.err, "forge: stopped after 1 s\n");
  EXPECT_THAT(processes_with(mark), testing::IsEmpty());
  const json told = forge_.json({"sandbox", "run", "--json", "--timeout", "1", "--", "sleep", "1000"}, 124);
  EXPECT_EQ(told.at("timedOut"), true);
  EXPECT_EQ(told.at("ended"), "timed_out");
  EXPECT_GE(told.at("durationMs"), 1000);
}

TEST_F(SandboxRun, ExitsWith125WhenForgeIsToBlame) {
  EXPECT_EQ(run({}).status(), 125);
  EXPECT_EQ(run({"--template", "nope", "--", "true"}).status(), 125);
  EXPECT_EQ(run({"--driver", "nope", "--", "true"}).status(), 125);
  const Said none = run({"--driver", "none", "--", "true"});
  EXPECT_EQ(none.status(), 125);
  EXPECT_EQ(none.err, "forge: sandboxes are disabled (sandbox.provider = none)\n");
  const Said missing = run({"--", "/nonexistent"});
  EXPECT_EQ(missing.status(), 125);
  EXPECT_EQ(missing.err, "forge: running '/nonexistent': finding the program: No such file or directory\n");
  const Said open = run({"--network", "egress", "--", "true"});
  EXPECT_EQ(open.status(), 125);
  EXPECT_THAT(open.err, StartsWith("forge: --network egress without a host allows nothing"));
}

TEST_F(SandboxRun, TellsEverythingAsJson) {
  const json told = forge_.json({"sandbox", "run", "--json", "--", "sh", "-c", "echo out; echo err >&2; exit 3"}, 3);
  std::vector<std::string> keys;
  for (const auto& [key, value] : told.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"durationMs", "ended", "exitCode", "limits", "provider", "signal", "stderr", "stdout",
                                            "timedOut", "truncated", "unenforced"}));
  EXPECT_EQ(told.at("stdout"), "out\n");
  EXPECT_EQ(told.at("stderr"), "err\n");
  EXPECT_EQ(told.at("exitCode"), 3);
  EXPECT_EQ(told.at("signal"), nullptr);
  EXPECT_EQ(told.at("timedOut"), false);
  EXPECT_EQ(told.at("provider"), "local");
  EXPECT_THAT(told.at("limits").get<std::vector<std::string>>(),
              IsSupersetOf({"network none", "seccomp", "no capabilities, no_new_privs"}));
  const json killed = forge_.json({"sandbox", "run", "--json", "--", "sh", "-c", "kill -9 $$"}, 137);
  EXPECT_EQ(killed.at("exitCode"), nullptr);
  EXPECT_EQ(killed.at("signal"), SIGKILL);
}

TEST_F(SandboxRun, PassesOutputOnWhileItComes) {
  Program running = forge_.start({"sandbox", "run", "--", "sh", "-c", "echo first; exec sleep 1000"});
  running.wait_out("first\n");
  running.signal(SIGINT);
  const Said said = running.wait();
  EXPECT_EQ(said.status(), 125);
  EXPECT_THAT(forge_.instances(), testing::IsEmpty());
}

TEST_F(SandboxRun, SeesNothingOfTheHost) {
  forge_.set("CANARY", "the-value-of-the-host");
  const Said said = run({"--", "sh", "-c", "env; cat /proc/*/environ; ls /home; cat /proc/mounts; ls \"$0\"", forge_.data().string()});
  EXPECT_THAT(said.out, testing::Not(HasSubstr("the-value-of-the-host")));
  EXPECT_THAT(said.out, testing::Not(HasSubstr(forge_.data().string())));
  EXPECT_THAT(said.err, HasSubstr("cannot access '" + forge_.data().string() + "'"));
}

}  // namespace
}  // namespace forge::functional
