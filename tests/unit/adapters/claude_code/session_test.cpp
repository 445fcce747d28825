#include "adapters/claude_code/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <thread>

#include "tests/support/dummy_sandbox.h"
#include "tests/support/errors.h"
#include "tests/support/soon.h"
#include "tests/support/trace_recorder.h"

namespace forge::adapters::claude_code {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kInit =
    R"({"type":"system","subtype":"init","claude_code_version":"2.1.332","permissionMode":"bypassPermissions","mcp_servers":[]})";

/// A door whose state the test sets.
class FakeDoor final : public egress::ModelDoor {
 public:
  FakeDoor(const std::optional<egress::DoorClosed>& closed, const std::function<void()>& asked) : closed_(closed), asked_(asked) {}
  std::optional<egress::DoorClosed> closed() const override { return closed_; }
  int requests() const override { return 0; }
  const std::string& model_name() const override {
    if (asked_) asked_();
    return name_;
  }
  const std::string& metered_name() const override { return metered_name_; }

 private:
  const std::optional<egress::DoorClosed>& closed_;
  const std::function<void()>& asked_;
  const std::string name_ = "claude-sonnet-5";
  const std::string metered_name_ = "anthropic/claude-sonnet-5";
};

/// Programs of the test in the place of claude-code; the rest is real.
class ClaudeSession : public testing::Test {
 protected:
  /// A shell script that stands for the program; `say` prints one line of its protocol.
  Session& program(const std::string& body, std::optional<SavedSession> resume = {}) {
    const std::string path = dir_.str() + "/claude";
    test::write_file(path, "#!/bin/sh\nsay() { printf '%s\\n' \"$1\"; }\nsay '" + std::string(kInit) + "'\n" + body);
    std::filesystem::permissions(path, std::filesystem::perms(0755));
    sandbox::SandboxSpec spec;
    spec.files = {{.target = std::string(kProgram), .source = path}};
    sandbox_ = std::make_unique<test::DummySandbox>(spec);
    context_ = std::make_unique<RunContext>(RunContext{job_, run_, *sandbox_, recorder_, "", std::move(resume)});
    session_ = std::make_unique<Session>(
        *context_,
        [&](TraceSink& trace) {
          door_trace_ = &trace;
          return std::make_unique<FakeDoor>(closed_, before_start_);
        },
        Session::Options{.end_time = std::chrono::milliseconds(50)});
    return *session_;
  }
  AgentResult run(const std::string& body) { return program(body).prompt("Mend it", test::soon()); }

  static std::string done(const std::string& text) {
    return R"(say '{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","total_cost_usd":0.25,"result":")" +
           text + "\"}'\n";
  }

  test::TempDir dir_;
  Job job_;
  forge::Run run_;
  std::optional<egress::DoorClosed> closed_;
  std::function<void()> before_start_;  // runs when a prompt is about to start the program
  test::TraceRecorder recorder_;
  std::unique_ptr<test::DummySandbox> sandbox_;
  std::unique_ptr<RunContext> context_;
  std::unique_ptr<Session> session_;
  TraceSink* door_trace_ = nullptr;
};

TEST_F(ClaudeSession, EndsAsCompletedWithTheLastWords) {
  const AgentResult result = run(done("Mended"));
  EXPECT_EQ(result.reason, Reason::completed) << result.error;
  EXPECT_EQ(result.summary, "Mended");
  EXPECT_EQ(result.reported_cost_nano_usd, 250'000'000);
  EXPECT_GE(recorder_.alive_calls(), 1);
}

TEST_F(ClaudeSession, DoesNotBelieveTheExitCode) {
  EXPECT_EQ(run(done("Mended") + "exit 3\n").reason, Reason::completed);
  EXPECT_EQ(run("exit 0\n").reason, Reason::agent_crash);
}

TEST_F(ClaudeSession, DoesNotBelieveTheWordSuccess) {
  const AgentResult result = run(
      R"(say '{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":500,"result":"API Error: 500"}')");
  EXPECT_EQ(result.reason, Reason::api_error);
  EXPECT_EQ(result.error, "API Error: 500");
}

TEST_F(ClaudeSession, GivesFeedbackToTheSameSession) {
  Session& session = program(done("Mended"));
  session.prompt("Mend it", test::soon());
  const AgentResult result = session.prompt("The checks fail", test::soon());
  EXPECT_EQ(result.reason, Reason::completed);
  EXPECT_EQ(result.reported_cost_nano_usd, 500'000'000) << "of both prompts";
  ASSERT_EQ(sandbox_->commands().size(), 3U);  // folders, prompt, prompt
  const auto& first = sandbox_->commands()[1].argv;
  const auto& second = sandbox_->commands()[2].argv;
  const auto id = std::find(first.begin(), first.end(), "--session-id") + 1;
  const auto resumed = std::find(second.begin(), second.end(), "--resume") + 1;
  EXPECT_EQ(*id, *resumed);
  EXPECT_THAT(second, Contains("The checks fail"));
}

TEST_F(ClaudeSession, TellsACrashWithWhatTheProgramSaid) {
  const AgentResult result = run("echo 'cannot be used with root' >&2; exit 1\n");
  EXPECT_EQ(result.reason, Reason::agent_crash);
  EXPECT_THAT(result.error, HasSubstr("with exit code 1"));
  EXPECT_THAT(result.error, HasSubstr("cannot be used with root"));
}

TEST_F(ClaudeSession, TellsASignalAsACrash) { EXPECT_THAT(run("kill -SEGV $$\n").error, HasSubstr("by signal 11")); }

TEST_F(ClaudeSession, TellsGarbageAsABrokenProtocol) {
  const AgentResult result = run("printf 'Welcome to \\377 \\000 the shell\\n'; exit 0\n");
  EXPECT_EQ(result.reason, Reason::protocol_error);
  EXPECT_THAT(result.error, HasSubstr("Welcome to"));
}

TEST_F(ClaudeSession, PassesOverGarbageBesideAResult) {
  EXPECT_EQ(run("echo 'warning: something'\n" + done("Mended")).reason, Reason::completed);
}

TEST_F(ClaudeSession, LeavesOutAHugeLineAndGoesOn) {
  const AgentResult result = run("head -c 17000000 /dev/zero | tr '\\0' x; echo\n" + done("Mended"));
  EXPECT_EQ(result.reason, Reason::completed);
  EXPECT_THAT(recorder_.of<trace::LogLine>().at(0).message, HasSubstr("1 lines of claude-code over 16.0 MiB were left out"));
}

TEST_F(ClaudeSession, EndsAProgramThatHangsAfterItsLastLine) {
  const AgentResult result = run(done("Mended") + "exec tail -f /dev/null\n");
  EXPECT_EQ(result.reason, Reason::completed);
}

TEST_F(ClaudeSession, EndsAProgramThatHangsBeforeADoorThatIsClosed) {
  closed_ = egress::DoorClosed{Reason::auth_error, "the model's vendor refused the key"};
  const AgentResult result = run("say '{}'\nexec tail -f /dev/null\n");
  EXPECT_EQ(result.reason, Reason::auth_error);
  EXPECT_EQ(result.error, "the model's vendor refused the key");
}

TEST_F(ClaudeSession, LetsTheGatewayDecideAlsoAgainstASuccess) {
  closed_ = egress::DoorClosed{Reason::budget_exhausted, "the budget of the run is spent"};
  EXPECT_EQ(run(done("Mended")).reason, Reason::budget_exhausted);
}

TEST_F(ClaudeSession, IsCancelledWhileTheProgramHangsAndKeepsWhatWasSaid) {
  Session& session = program(
      "mkdir -p \"$CLAUDE_CONFIG_DIR/projects/-workspace\"\n"
      "while [ $# -gt 0 ]; do [ \"$1\" = --session-id ] && echo words > \"$CLAUDE_CONFIG_DIR/projects/-workspace/$2.jsonl\"; shift; done\n"
      "say "
      "'{\"type\":\"assistant\",\"request_id\":\"r\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\"}]}}'\n"
      "exec tail -f /dev/null\n");
  std::stop_source cancel;
  std::jthread canceller([&] {
    while (recorder_.of<trace::ToolCall>().empty()) pause(std::chrono::milliseconds(5), test::soon());
    cancel.request_stop();
  });
  EXPECT_EQ(test::code_of([&] { session.prompt("Mend it", Stop(cancel.get_token())); }), "cancelled");
  EXPECT_EQ(recorder_.of<trace::ToolResult>().size(), 1U) << "the call that was under way has an end";
  EXPECT_TRUE(session.save(test::soon()));
}

TEST_F(ClaudeSession, TimesOutWhileTheProgramHangs) {
  Session& session = program("exec tail -f /dev/null\n");
  EXPECT_EQ(test::code_of([&] { session.prompt("Mend it", Stop::after(std::chrono::milliseconds(300))); }), "timed_out");
}

TEST_F(ClaudeSession, EndsWhenTheTokensAreUsed) {
  job_.spec.limits.max_tokens = 100;
  Session& session = program("exec tail -f /dev/null\n");
  std::jthread gateway([&] {
    while (recorder_.alive_calls() == 0) pause(std::chrono::milliseconds(5), test::soon());
    door_trace_->append(trace::Model{.request_id = "r1", .usage = {60, 40, 0, 0}});
  });
  const AgentResult result = session.prompt("Mend it", test::soon());
  EXPECT_EQ(result.reason, Reason::budget_exhausted);
  EXPECT_THAT(result.error, HasSubstr("tokens"));
  gateway.join();
  EXPECT_EQ(session.prompt("Go on", test::soon()).reason, Reason::budget_exhausted);
}

// The gateway counts on a thread of its own: what the last prompt used may be known only when the next one begins.
TEST_F(ClaudeSession, EndsWhenTheTokensTurnOutToBeUsedAsItStarts) {
  job_.spec.limits.max_tokens = 100;
  Session& session = program("exec tail -f /dev/null\n");
  before_start_ = [&] { door_trace_->append(trace::Model{.request_id = "r1", .usage = {60, 40, 0, 0}}); };
  EXPECT_EQ(session.prompt("Mend it", test::soon()).reason, Reason::budget_exhausted);
}

TEST_F(ClaudeSession, CountsTurnsOverAllPrompts) {
  job_.spec.limits.max_turns = 2;
  Session& session = program(
      "n=$(cat \"$TMPDIR/n\" 2>/dev/null || echo 0); n=$((n + 1)); echo $n > \"$TMPDIR/n\"\n"
      "say "
      "\"{\\\"type\\\":\\\"assistant\\\",\\\"request_id\\\":\\\"r$n\\\",\\\"message\\\":{\\\"content\\\":[{\\\"type\\\":\\\"text\\\","
      "\\\"text\\\":\\\"x\\\"}]}}\"\n" +
      done("x"));
  session.prompt("one", test::soon());
  door_trace_->append(trace::Model{.request_id = "titles", .model = "anthropic/claude-haiku-5-5", .stop_reason = "end_turn"});
  door_trace_->append(trace::Model{.request_id = "another", .model = "anthropic/claude-sonnet-5", .stop_reason = "end_turn"});
  const auto before = sandbox_->commands().size();
  EXPECT_EQ(session.prompt("two", test::soon()).reason, Reason::max_turns);
  EXPECT_EQ(sandbox_->commands().size(), before) << "the program is not even started";
  EXPECT_EQ(recorder_.of<trace::Limit>().at(0).what, "max_turns");
}

// It gives sessions titles, for example, with a small model and without a word about it.
TEST_F(ClaudeSession, CountsNoTurnForWhatTheProgramAsksOfAHelperModel) {
  job_.spec.limits.max_turns = 1;
  Session& session = program(done("x"));
  door_trace_->append(trace::Model{.request_id = "titles", .model = "anthropic/claude-haiku-5-5", .stop_reason = "end_turn"});
  EXPECT_NE(session.prompt("one", test::soon()).reason, Reason::max_turns);
  EXPECT_EQ(recorder_.types(), "model");
}

TEST_F(ClaudeSession, FindsNoSettingsThatASetupCommandLeft) {
  Session& session = program("test -e \"$CLAUDE_CONFIG_DIR/settings.json\" && exit 9\n" + done("clean"));
  sandbox_->write_file(std::string(kStateFolder) + "/settings.json", "{}", test::soon());
  EXPECT_EQ(session.prompt("Mend it", test::soon()).reason, Reason::completed);
}

TEST_F(ClaudeSession, KeepsItsConversationForALaterRun) {
  Session& session = program(
      "mkdir -p \"$CLAUDE_CONFIG_DIR/projects/-workspace\"\n"
      "while [ $# -gt 0 ]; do [ \"$1\" = --session-id ] && echo words > \"$CLAUDE_CONFIG_DIR/projects/-workspace/$2.jsonl\"; shift; "
      "done\n" +
      done("Mended"));
  EXPECT_FALSE(session.save(test::soon())) << "nothing was said yet";
  session.prompt("Mend it", test::soon());
  const auto saved = session.save(test::soon());
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->data, "words\n");
  const std::string id = saved->id;

  Session& later = program("cat \"$CLAUDE_CONFIG_DIR/projects/-workspace/" + id + ".jsonl\" >&2\n", saved);
  const AgentResult result = later.prompt("Go on", test::soon());
  EXPECT_THAT(result.error, HasSubstr("words")) << "it lies where the program looks for it";
  EXPECT_THAT(sandbox_->commands().back().argv, Contains("--resume"));
  EXPECT_THAT(sandbox_->commands().back().argv, Contains(id));
}

TEST_F(ClaudeSession, SaysWhenItsConversationCannotBeKept) {
  Session& session = program(done("Mended"));
  session.prompt("Mend it", test::soon());
  EXPECT_FALSE(session.save(test::soon()));
  EXPECT_THAT(recorder_.of<trace::LogLine>().at(0).message, HasSubstr("is not kept"));
}

}  // namespace
}  // namespace forge::adapters::claude_code
