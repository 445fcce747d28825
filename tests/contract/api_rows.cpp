#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/models/script.h"
#include "tests/contract/row.h"
#include "tests/contract/stage.h"
#include "tests/support/model_stream.h"

namespace forge::contract {
namespace {

using testing::IsEmpty;
using testing::Not;

/// A script of two steps that writes `done`; the first answer is an error.
json failing(Agent agent, const json& error) {
  json script = json::array({does({Tools(agent).write("done", "done\n")}), says("Done")});
  if (!error.is_null()) script[0]["error"] = error;
  return script;
}

void expect_failure(const Ended& ended, Reason reason) {
  EXPECT_EQ(ended.run.reason, reason) << ended.run.error;
  EXPECT_EQ(ended.run.state, JobState::failed);
  EXPECT_EQ(ended.run.head_commit, "");
  EXPECT_THAT(ended.of("tool_call"), IsEmpty());
}

void expect_recovery(const Stage& stage, const Ended& ended) {
  EXPECT_EQ(ended.run.reason, Reason::completed) << ended.run.error;
  EXPECT_EQ(stage.changed(ended), "A\tdone");
  EXPECT_EQ(ended.of("tool_call").size(), 1u);
}

void key_refused(Agent agent) {
  Stage stage(agent, failing(agent, {{"status", 401}}));
  const Ended ended = stage.run();
  expect_failure(ended, Reason::auth_error);
  EXPECT_EQ(stage.model().requests().size(), 1u) << "it will not get better";
}

void rate_limit(Agent agent) {
  Stage stage(agent, failing(agent, {{"status", 429}, {"retry_after_s", 1}, {"times", 1}}));
  const Ended ended = stage.run();
  expect_recovery(stage, ended);
  ASSERT_THAT(ended.of("retry"), Not(IsEmpty()));
  const json retry = ended.of("retry").at(0);
  EXPECT_EQ(retry.at("status"), 429);
  EXPECT_GE(retry.at("delay_ms"), 1000) << "the server's word is heeded";
  EXPECT_EQ(stage.model().requests().size(), 3u);
}

void overloaded(Agent agent) {
  Stage stage(agent, failing(agent, {{"status", 529}, {"times", 2}}));
  const Ended ended = stage.run();
  expect_recovery(stage, ended);
  EXPECT_EQ(ended.of("retry").size(), 2u);
  EXPECT_EQ(stage.model().requests().size(), 4u);
}

void overloaded_for_ever(Agent agent) {
  Stage stage(agent, failing(agent, {{"status", 529}}));
  const Ended ended = stage.run();
  expect_failure(ended, Reason::api_error);
  EXPECT_GE(stage.model().requests().size(), 2u);
  EXPECT_EQ(ended.run.usage, Usage());
}

/// The stream of one call, without its last events, as a proxy ends it that was restarted.
std::string cut_stream(const json& step) {
  const auto steps = models::parse_script(json::array({step}).dump(), "of a cut stream");
  const auto events = test::model_events(steps.at(0), {.format = test::ModelFormat::anthropic, .model = "claude-sonnet-5"}, {});
  std::string stream;
  for (std::size_t i = 0; i + 3 < events.size(); ++i) stream += events[i];
  return stream;
}

void stream_cut(Agent agent) {
  Stage stage(agent, failing(agent, nullptr));
  stage.model().stream_once(cut_stream(does({Tools(agent).shell("touch EXECUTED")}, "")));
  const Ended ended = stage.run();
  expect_recovery(stage, ended);
  EXPECT_THAT(ended.of("retry"), Not(IsEmpty()));
  EXPECT_EQ(ended.of("model").size(), 3u) << "the tokens of the answer that broke off are billed, too";
  EXPECT_GT(ended.run.usage.input, stage.script_usage().at("input"));
}

void hang(Agent agent) {
  Stage stage(agent, failing(agent, nullptr));
  stage.model().set_faults({.hang = true});
  JobSpec spec = stage.spec();
  spec.limits.stall_limit_s = 6;
  const Ended ended = stage.run(spec);
  expect_failure(ended, Reason::no_output);
}

Row row(std::string name, std::function<void(Agent)> hold) {
  return {std::move(name), std::move(hold), {{Agent::dummy, "it asks no model, so no answer of one reaches it"}}};
}

}  // namespace

std::vector<Row> api_rows() {
  return {row("Api401", key_refused),      row("Api429WithRetryAfter", rate_limit),
          row("Api529", overloaded),       row("Api529ForEver", overloaded_for_ever),
          row("ApiStreamCut", stream_cut), row("ApiHang", hang)};
}

}  // namespace forge::contract
