#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/contract/row.h"
#include "tests/contract/stage.h"
#include "tests/functional/remains.h"

namespace forge::contract {
namespace {

/// A command that blocks until it is killed, under that name.
std::string blocks(const std::string& name) { return "exec bash -c 'exec -a " + name + " tail -f /dev/null'"; }

/// The end came from outside or by a limit; what was done so far is kept, and is not pushed.
void expect_stopped(const Ended& ended, Reason reason) {
  EXPECT_EQ(ended.run.reason, reason) << ended.run.error;
  EXPECT_EQ(ended.run.state, reason == Reason::cancelled ? JobState::cancelled : JobState::failed);
}

void cancel(Agent agent) {
  const Tools tools(agent);
  const std::string name = "contract-cancel-" + std::to_string(::getpid());
  Stage stage(agent, json::array({does({tools.write("kept", "kept\n")}), does({tools.shell(blocks(name))}), says("never")}));
  const std::string job = stage.start(stage.spec());
  functional::wait_for_process(name);
  EXPECT_FALSE(stage.processes().empty()) << "the look after the end would see nothing";
  stage.cancel(job);
  const Ended ended = stage.ended(job);
  expect_stopped(ended, Reason::cancelled);
  EXPECT_EQ(stage.changed(ended), "A\tkept");
  EXPECT_THAT(functional::processes_with(name), testing::IsEmpty());
  EXPECT_EQ(ended.of("tool_result").back().at("ok"), false);
}

void time_out(Agent agent) {
  const Tools tools(agent);
  const std::string name = "contract-time-" + std::to_string(::getpid());
  Stage stage(agent, json::array({does({tools.write("kept", "kept\n")}), does({tools.shell(blocks(name))}), says("never")}));
  JobSpec spec = stage.spec();
  spec.limits.time_limit_s = 5;
  const Ended ended = stage.run(spec);
  expect_stopped(ended, Reason::timeout);
  EXPECT_THAT(functional::processes_with(name), testing::IsEmpty());
}

void budget(Agent agent) {
  const Tools tools(agent);
  const json script = json::array(
      {does({tools.write("one", "1\n")}), does({tools.write("two", "2\n")}), does({tools.write("three", "3\n")}), says("never")});
  Stage stage(agent, script);
  JobSpec spec = stage.spec();
  spec.budget_nano_usd = Stage::cost_of(script[0].at("usage")) + 1;
  const Ended ended = stage.run(spec);
  expect_stopped(ended, Reason::budget_exhausted);
  EXPECT_EQ(stage.model().requests().size(), 2u) << "what is asked before the budget is spent is answered, and nothing after it";
  EXPECT_EQ(stage.changed(ended), "A\tone\nA\ttwo");
  EXPECT_FALSE(ended.of("budget").empty());
}

void max_turns(Agent agent) {
  const Tools tools(agent);
  Stage stage(agent, json::array({does({tools.write("one", "1\n")}), does({tools.write("two", "2\n")}), does({tools.write("three", "3\n")}),
                                  says("never")}));
  JobSpec spec = stage.spec();
  spec.limits.max_turns = 2;
  const Ended ended = stage.run(spec);
  expect_stopped(ended, Reason::max_turns);
  EXPECT_EQ(ended.of("turn").size(), 2u);
  EXPECT_EQ(stage.changed(ended), "A\tone\nA\ttwo");
}

}  // namespace

std::vector<Row> limit_rows() {
  return {{"Cancel", cancel},
          {"TimeOut", time_out},
          {"Budget", budget, {{Agent::dummy, "it asks no model, so it spends nothing"}}},
          {"MaxTurns", max_turns}};
}

}  // namespace forge::contract
