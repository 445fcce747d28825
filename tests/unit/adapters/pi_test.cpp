#include "adapters/pi/pi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/dummy_sandbox.h"
#include "tests/support/errors.h"
#include "tests/support/fake_clock.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"
#include "tests/support/trace_recorder.h"
#include "tests/support/with_store.h"

namespace forge::adapters {
namespace {

using test::soon;
using testing::HasSubstr;

/// The adapter as main.cpp puts it together: real gateway, store, tools and scripted model; only the sandbox is a dummy.
class PiTest : public testing::Test, protected test::WithStore<test::FakeClock> {
 protected:
  void script(const std::string& json) { test::write_file(dir_ / "script.json", json); }

  AgentResult run(const std::string& task) {
    spec_.repository = "/repository";
    spec_.task = task;
    spec_.model = "scripted:" + (dir_ / "script.json").string();
    pi_->check(spec_);
    const Job job = store_->insert_job(spec_, "tester", true);
    run_ = *store_->run(job.id, 1);
    const RunContext context{job, run_, sandbox_, trace_, "Run ./test.sh before you end."};
    return pi_->start(context)->prompt(task, Stop::after(std::chrono::hours(1)));  // less than its time limit would be a warning
  }

  models::PriceBook prices_;
  models::ModelFactory factory_{models::ModelSettings{}, prices_, clock_};
  egress::Gateway gateway_{factory_, prices_, *store_, clock_, *log_, {}};
  std::unique_ptr<AgentAdapter> pi_ = make_pi(gateway_);
  test::DummySandbox sandbox_;
  test::TraceRecorder trace_;
  JobSpec spec_;
  forge::Run run_;
};

TEST_F(PiTest, MendsAProjectFromTheFirstLookToTheCheck) {
  sandbox_.write_file("sum.sh", "echo $(($1 - $2))\n", soon());
  sandbox_.write_file("test.sh", "test \"$(sh sum.sh 2 3)\" = 5 && echo passed\n", soon());
  script(R"([
    {"thinking": "Look first.", "text": "I look.", "tools": [{"name": "bash", "input": {"command": "ls; sh test.sh"}}], "usage": {"input": 100, "output": 20}},
    {"tools": [{"name": "read_file", "input": {"path": "sum.sh"}}], "usage": {"input": 50, "output": 10, "cache_read": 100}},
    {"tools": [{"name": "edit_file", "input": {"path": "sum.sh", "edits": [{"old_text": "$1 - $2", "new_text": "$1 + $2"}]}},
               {"name": "bash", "input": {"command": "sh test.sh"}}], "usage": {"input": 60, "output": 30}},
    {"text": "Add in sum.sh instead of subtracting\n\nThe test passes.", "usage": {"input": 70, "output": 15}}
  ])");
  const AgentResult result = run("make the test pass");
  EXPECT_EQ(result.reason, Reason::completed) << result.error;
  EXPECT_EQ(result.summary, "Add in sum.sh instead of subtracting\n\nThe test passes.");
  EXPECT_EQ(sandbox_.read_file("sum.sh", 100, soon()), "echo $(($1 + $2))\n");
  EXPECT_EQ(trace_.types(),
            "turn model thinking text tool_call tool_result turn model tool_call tool_result turn model tool_call tool_result tool_call "
            "tool_result turn model text");
  const auto results = trace_.of<trace::ToolResult>();
  EXPECT_EQ(results.at(0).exit_code, 1);
  EXPECT_EQ(results.at(3).output.text, "passed\n");
  const auto rows = store_->usage_of_run(run_.id);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].requests, 4);
  EXPECT_EQ(rows[0].usage, (Usage{280, 75, 100, 0}));
}

TEST_F(PiTest, NeverRunsArgumentsThatTheModelSentBroken) {
  script(R"([
    {"tools": [{"name": "bash", "raw_input": "{\"command\": \"touch ran"}]},
    {"tools": [{"name": "bash", "input": {"command": "touch ran"}}], "stop": "max_tokens"},
    {"text": "done"}
  ])");
  EXPECT_EQ(run("task").reason, Reason::completed);
  EXPECT_TRUE(sandbox_.commands().empty());
}

TEST_F(PiTest, EndsWithTheReasonOfTheModelsFailure) {
  script(R"([{"error": {"status": 401}}])");
  EXPECT_EQ(run("task").reason, Reason::auth_error);
}

TEST_F(PiTest, EndsAsAFailureWhenTheScriptIsOver) {
  script(R"([{"tools": [{"name": "bash", "input": {"command": "true"}}]}])");
  EXPECT_EQ(run("task").reason, Reason::api_error);
}

TEST_F(PiTest, StopsWhenItsBudgetIsSpent) {
  prices_.add(R"({"date": "2026-01-01", "source": "test", "unit": "nano-dollars per million tokens",
                  "models": {"scripted": {"input": 1000000000, "output": 1000000000, "cache_read": 1000000000, "cache_write": 1000000000}}})",
              "test");
  script(R"([
    {"tools": [{"name": "bash", "input": {"command": "echo 1"}}], "usage": {"input": 80}},
    {"tools": [{"name": "bash", "input": {"command": "echo 2"}}], "usage": {"input": 20}},
    {"text": "never asked"}
  ])");
  spec_.budget_nano_usd = 100'000;
  const AgentResult result = run("task");
  EXPECT_EQ(result.reason, Reason::budget_exhausted);
  EXPECT_THAT(result.error, HasSubstr("the budget of the run is spent"));
  ASSERT_EQ(trace_.of<trace::Budget>().size(), 2U);
  EXPECT_EQ(trace_.of<trace::Budget>()[0].action, "warned");
  EXPECT_EQ(trace_.of<trace::Budget>()[1].action, "stopped");
}

TEST_F(PiTest, RefusesAModelThatIsNotToBeHad) {
  spec_.model = "anthropic/claude";
  EXPECT_EQ(test::code_of([&] { pi_->check(spec_); }), "invalid_argument");
  EXPECT_EQ(pi_->name(), "pi");
  EXPECT_TRUE(pi_->listener_ports().empty());
}

}  // namespace
}  // namespace forge::adapters
