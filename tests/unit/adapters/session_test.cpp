#include "adapters/pi/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/base/error.h"
#include "tests/support/dummy_sandbox.h"
#include "tests/support/errors.h"
#include "tests/support/fake_model.h"
#include "tests/support/soon.h"
#include "tests/support/trace_recorder.h"

namespace forge::adapters::pi {
namespace {

using models::ModelObserver;
using models::ModelRequest;
using models::ModelResponse;
using models::StopReason;
using models::TextBlock;
using models::ToolResultBlock;
using models::ToolUseBlock;
using test::calls;
using test::FakeModel;
using test::says;
using test::soon;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string bash(const std::string& command) { return R"({"command": ")" + command + R"("})"; }

/// A session over a fake model and a dummy sandbox.
class SessionTest : public testing::Test {
 protected:
  Session& session() {
    if (!session_) {
      auto made = std::make_unique<FakeModel>(std::move(model));
      made_model = made.get();
      context_.emplace(RunContext{job, run, sandbox, trace, instructions});
      session_ = std::make_unique<Session>(*context_, tools_, [&](TraceSink& sink) {
        sink_ = &sink;
        return std::unique_ptr<models::Model>(std::move(made));
      });
    }
    return *session_;
  }
  AgentResult prompt(const std::string& text = "the task", const Stop& stop = {}) { return session().prompt(text, stop); }

  /// The tool results and texts of the last user message that the model was sent.
  std::vector<std::string> last_told() const {
    std::vector<std::string> texts;
    for (const auto& block : made_model->requests().back().messages.back().blocks) {
      if (const auto* result = std::get_if<ToolResultBlock>(&block)) texts.push_back(result->content);
      if (const auto* text = std::get_if<TextBlock>(&block)) texts.push_back(text->text);
    }
    return texts;
  }

  FakeModel model;
  FakeModel* made_model = nullptr;  // where `model` went when the session was made
  test::DummySandbox sandbox;
  test::TraceRecorder trace;
  Job job;
  forge::Run run;
  std::string instructions;
  TraceSink* sink_ = nullptr;

 private:
  tools::Registry tools_{tools::workspace_tools({tools::Caller::agent})};
  std::optional<RunContext> context_;
  std::unique_ptr<Session> session_;
};

/// Two calls in one response.
ModelResponse calls_twice(const std::string& first, const std::string& second) {
  ModelResponse response = calls("bash", first, "call_a");
  response.blocks.emplace_back(ToolUseBlock{"call_b", "bash", second, true});
  return response;
}

TEST_F(SessionTest, WorksUntilTheModelEndsByItself) {
  model.then(calls("write_file", R"({"path": "a.txt", "content": "hello"})")).then(says("Add a.txt\n\nIt says hello."));
  const AgentResult result = prompt();
  EXPECT_EQ(result.reason, Reason::completed);
  EXPECT_EQ(result.summary, "Add a.txt\n\nIt says hello.");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(sandbox.read_file("a.txt", 100, soon()), "hello");
}

TEST_F(SessionTest, SendsSystemPromptToolsTaskAndResults) {
  instructions = "Use tabs.";
  model.then(calls("bash", bash("echo hi"), "id-1")).then(says("done"));
  prompt("fix it");
  ASSERT_THAT(made_model->requests(), SizeIs(2));
  const ModelRequest& first = made_model->requests()[0];
  EXPECT_THAT(first.system, HasSubstr("<repository_instructions>\nUse tabs."));
  ASSERT_THAT(first.tools, SizeIs(4));
  EXPECT_EQ(first.tools[0].name, "bash");
  EXPECT_EQ(first.turn, 1);
  EXPECT_EQ(std::get<TextBlock>(first.messages[0].blocks[0]).text, "fix it");
  const ModelRequest& second = made_model->requests()[1];
  ASSERT_THAT(second.messages, SizeIs(3));
  const auto& result = std::get<ToolResultBlock>(second.messages[2].blocks[0]);
  EXPECT_EQ(result.id, "id-1");
  EXPECT_EQ(result.content, "hi\n");
  EXPECT_FALSE(result.is_error);
}

TEST_F(SessionTest, TracesEveryStepInOrder) {
  ModelResponse response = calls("bash", bash("exit 3"), "id-1");
  response.blocks.insert(response.blocks.begin(), {models::ThinkingBlock{"hm", "s", false}, TextBlock{"I run it."}});
  model.then(response).then(says("done"));
  prompt();
  EXPECT_EQ(trace.types(), "turn thinking text tool_call tool_result turn text");
  const auto result = trace.of<trace::ToolResult>().at(0);
  EXPECT_EQ(result.name, "bash");
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(trace.all().at(3).turn, 1);
  EXPECT_EQ(trace.all().at(6).turn, 2);
}

TEST_F(SessionTest, RunsCallsStrictlyInTheOrderOfTheResponse) {
  ModelResponse response = calls("write_file", R"({"path": "z.txt", "content": "there"})", "call_w");
  response.blocks.emplace_back(ToolUseBlock{"call_b", "bash", bash("cat z.txt"), true});
  response.blocks.emplace_back(ToolUseBlock{"call_r", "read_file", R"({"path": "z.txt"})", true});
  model.then(response).then(says("done"));
  prompt();
  EXPECT_THAT(last_told(), ElementsAre("Wrote 5 bytes to z.txt.", "there\n", "there"));
}

TEST_F(SessionTest, NeverRunsArgumentsThatDidNotParse) {
  ModelResponse response = calls("bash", R"({"command": "touch ran)", "id-1");
  std::get<ToolUseBlock>(response.blocks[0]).parsed = false;
  model.then(response).then(says("done"));
  prompt();
  EXPECT_THAT(sandbox.commands(), IsEmpty());
  EXPECT_THAT(last_told(), ElementsAre(AllOf(HasSubstr("Not run: the arguments are not one JSON object"), HasSubstr("touch ran"))));
  EXPECT_FALSE(trace.of<trace::ToolResult>().at(0).ok);
}

TEST_F(SessionTest, NeverRunsACallOfAResponseThatWasCut) {
  ModelResponse response = calls("bash", bash("touch ran"));  // whole JSON, but who knows what should have followed
  response.stop_reason = StopReason::max_tokens;
  model.then(response).then(says("done"));
  EXPECT_EQ(prompt().reason, Reason::completed);
  EXPECT_THAT(sandbox.commands(), IsEmpty());
  EXPECT_THAT(last_told(), ElementsAre(HasSubstr("cut at its limit of length")));
}

TEST_F(SessionTest, AnswersUnknownToolsAndWrongArguments) {
  model.then(calls("shell", bash("ls"))).then(calls("bash", R"({"cmd": "ls"})")).then(says("done"));
  prompt();
  EXPECT_THAT(last_told(), ElementsAre(HasSubstr("command: is missing")));
  EXPECT_THAT(trace.of<trace::ToolResult>().at(0).output.text, HasSubstr("There is no tool 'shell'"));
}

TEST_F(SessionTest, StopsAfterTheLastTurnAndNotBefore) {
  job.spec.limits.max_turns = 2;
  model.then(calls("bash", bash("echo 1"))).then(calls("bash", bash("echo 2 > two")));
  const AgentResult result = prompt();
  EXPECT_EQ(result.reason, Reason::max_turns);
  EXPECT_THAT(result.error, HasSubstr("its 2 turns"));
  EXPECT_EQ(sandbox.read_file("two", 10, soon()), "2\n");  // the work of the last turn is kept
  const auto limit = trace.of<trace::Limit>().back();
  EXPECT_EQ(limit.what, "max_turns");
  EXPECT_EQ(limit.value, 2);
}

TEST_F(SessionTest, EndsNormallyInItsLastTurn) {
  job.spec.limits.max_turns = 2;
  model.then(calls("bash", bash("echo 1"))).then(says("done"));
  EXPECT_EQ(prompt().reason, Reason::completed);
}

TEST_F(SessionTest, CountsTurnsOverAllPrompts) {
  job.spec.limits.max_turns = 2;
  model.then(says("done")).then(says("done again"));
  EXPECT_EQ(prompt("one").reason, Reason::completed);
  EXPECT_EQ(prompt("two").reason, Reason::completed);
  EXPECT_EQ(prompt("three").reason, Reason::max_turns);
}

TEST_F(SessionTest, StopsAtTheLimitOfTokens) {
  job.spec.limits.max_tokens = 100;
  model.then(calls("bash", bash("echo 1"), "a", {60, 39, 0, 0})).then(calls("bash", bash("echo 2"), "b", {0, 0, 1, 0}));
  const AgentResult result = prompt();
  EXPECT_EQ(result.reason, Reason::budget_exhausted);
  EXPECT_EQ(trace.of<trace::Limit>().back().what, "max_tokens");
  EXPECT_THAT(made_model->requests(), SizeIs(2));  // 99 of 100 did not stop it
}

TEST_F(SessionTest, CountsTheTokensOfDroppedAttempts) {
  job.spec.limits.max_tokens = 100;
  model.then([](const ModelRequest&, ModelObserver& observer, const Stop&) {
    observer.wasted({90, 0, 0, 0});
    observer.retrying({1, 500, 529, "overloaded"});
    return calls("bash", bash("echo 1"));
  });
  EXPECT_EQ(prompt().reason, Reason::budget_exhausted);
  const auto retry = trace.of<trace::Retry>().at(0);
  EXPECT_EQ(retry.what, "model");
  EXPECT_EQ(retry.status, 529);
}

TEST_F(SessionTest, WarnsTheModelOnceAtEightyPercentOfItsTurns) {
  job.spec.limits.max_turns = 5;
  for (int i = 0; i < 4; ++i) model.then(calls("bash", bash("echo " + std::to_string(i))));
  model.then(says("done"));
  prompt();
  for (std::size_t turn = 1; turn < 4; ++turn) EXPECT_THAT(made_model->requests()[turn].messages.back().blocks, SizeIs(1)) << turn;
  EXPECT_THAT(last_told(), ElementsAre("3\n", HasSubstr("4 of your 5 turns are used. Finish up")));
  EXPECT_THAT(trace.of<trace::Limit>(), SizeIs(1));
}

TEST_F(SessionTest, PassesTheGatewaysWarningOnToTheModel) {
  model
      .then([&](const ModelRequest&, ModelObserver&, const Stop&) {
        sink_->append(trace::Budget{800'000'000, 1'000'000'000, "warned", "run"});
        return calls("bash", bash("echo x"));
      })
      .then(says("done"));
  prompt();
  EXPECT_THAT(last_told(), ElementsAre("x\n", HasSubstr("$0.8000 of the run's $1.0000 are spent")));
  EXPECT_THAT(trace.of<trace::Budget>(), SizeIs(1));
}

TEST_F(SessionTest, WarnsWhenTheTimeRunsOut) {
  job.spec.limits.time_limit_s = 1000;
  model.then(calls("bash", bash("echo x"))).then(says("done"));
  prompt("the task", Stop::after(std::chrono::seconds(150)));
  EXPECT_THAT(last_told(), ElementsAre("x\n", HasSubstr("s of your time are left")));
}

TEST_F(SessionTest, MapsFailuresOfTheModelToReasons) {
  const std::vector<std::pair<ErrorCode, Reason>> table{{ErrorCode::unauthenticated, Reason::auth_error},
                                                        {ErrorCode::invalid_argument, Reason::api_error},
                                                        {ErrorCode::unavailable, Reason::api_error},
                                                        {ErrorCode::budget_exhausted, Reason::budget_exhausted},
                                                        {ErrorCode::context_overflow, Reason::context_overflow}};
  for (const auto& [code, reason] : table) {
    FakeModel failing;
    failing.for_ever(
        [code = code](const ModelRequest&, ModelObserver&, const Stop&) -> ModelResponse { throw public_failure(code, "told"); });
    const RunContext context{job, run, sandbox, trace, {}};
    const tools::Registry registry(tools::workspace_tools({tools::Caller::agent}));
    Session one(context, registry, [&](TraceSink&) { return std::make_unique<FakeModel>(std::move(failing)); });
    const AgentResult result = one.prompt("task", soon());
    EXPECT_EQ(result.reason, reason) << name_of(code);
    EXPECT_NE(result.error, "");
  }
}

TEST_F(SessionTest, ShowsPeopleNothingInternalOfAFailure) {
  model.then_throw(ErrorCode::unavailable, "connect to 10.1.2.3: refused");
  EXPECT_THAT(prompt().error, Not(HasSubstr("10.1.2.3")));
}

TEST_F(SessionTest, LetsFaultsThatAreNotTheModelsPass) {
  model.then_throw(ErrorCode::internal, "bug");
  EXPECT_EQ(test::code_of([&] { prompt(); }), "internal");
}

TEST_F(SessionTest, EndsWhenTheModelRefuses) {
  ModelResponse response = says("I cannot help with that.");
  response.stop_reason = StopReason::refusal;
  model.then(response);
  const AgentResult result = prompt();
  EXPECT_EQ(result.reason, Reason::refused);
  EXPECT_EQ(result.summary, "I cannot help with that.");
}

TEST_F(SessionTest, SendsAPausedTurnBackAsItIs) {
  ModelResponse paused = says("still searching");
  paused.stop_reason = StopReason::pause_turn;
  model.then(paused).then(says("done"));
  EXPECT_EQ(prompt().summary, "done");
  EXPECT_EQ(made_model->requests()[1].messages.back().speaker, models::Speaker::assistant);
}

TEST_F(SessionTest, AsksAModelThatWasCutToGoOnShorter) {
  ModelResponse cut = says("a very long");
  cut.stop_reason = StopReason::max_tokens;
  model.then(cut).then(says("done"));
  EXPECT_EQ(prompt().reason, Reason::completed);
  EXPECT_THAT(last_told(), ElementsAre(HasSubstr("with shorter texts")));
}

TEST_F(SessionTest, AsksAnEmptyResponseToGoOnAndStopsAtTheThird) {
  model.for_ever([](const ModelRequest&, ModelObserver&, const Stop&) { return says(""); });
  const AgentResult result = prompt();
  EXPECT_EQ(result.reason, Reason::stuck);
  EXPECT_THAT(made_model->requests(), SizeIs(3));
  EXPECT_THAT(last_told(), ElementsAre(HasSubstr("Your response was empty")));
}

TEST_F(SessionTest, NudgesAModelThatRepeatsItselfAndThenStopsIt) {
  model.for_ever([](const ModelRequest&, ModelObserver&, const Stop&) { return calls("bash", bash("echo same")); });
  const AgentResult result = prompt();
  EXPECT_EQ(result.reason, Reason::stuck);
  EXPECT_THAT(result.error, HasSubstr("bash was called 4 times in a row"));
  ASSERT_THAT(made_model->requests(), SizeIs(8));
  const auto& blocks = made_model->requests()[4].messages.back().blocks;
  EXPECT_THAT(std::get<TextBlock>(blocks.back()).text, HasSubstr("You go round in circles"));
  EXPECT_THAT(trace.of<trace::LogLine>(), SizeIs(2));
}

TEST_F(SessionTest, KeepsTheConversationOverPrompts) {
  model.then(says("done")).then(says("mended"));
  prompt("the task");
  EXPECT_EQ(prompt("the check fails").summary, "mended");
  const auto& messages = made_model->requests()[1].messages;
  ASSERT_THAT(messages, SizeIs(3));
  EXPECT_EQ(std::get<TextBlock>(messages[0].blocks[0]).text, "the task");
  EXPECT_EQ(std::get<TextBlock>(messages[2].blocks[0]).text, "the check fails");
}

TEST_F(SessionTest, AnswersEveryCallAlsoWhenItIsCancelled) {
  std::stop_source source;
  model
      .then([&](const ModelRequest&, ModelObserver&, const Stop&) {
        source.request_stop();
        return calls_twice(bash("touch a"), bash("touch b"));
      })
      .then(says("done"));
  EXPECT_EQ(test::code_of([&] { prompt("the task", Stop(source.get_token())); }), "cancelled");
  EXPECT_THAT(sandbox.commands(), IsEmpty());
  EXPECT_EQ(prompt("go on").reason, Reason::completed);
  EXPECT_THAT(last_told(), ElementsAre("Not run: the run was stopped.", "Not run: the run was stopped.", "go on"));
  EXPECT_EQ(trace.of<trace::ToolCall>().size(), trace.of<trace::ToolResult>().size());
}

TEST_F(SessionTest, LetsTheEndOfTheSandboxPass) {
  sandbox.failures.run = ErrorCode::unavailable;
  model.then(calls("bash", bash("true")));
  EXPECT_EQ(test::code_of([&] { prompt(); }), "unavailable");
  EXPECT_EQ(trace.types(), "turn tool_call tool_result");
}

TEST_F(SessionTest, PassesOnThatTheModelIsAtWork) {
  model.then([](const ModelRequest&, ModelObserver& observer, const Stop&) {
    observer.text_delta("d");
    observer.thinking_delta("e");
    return says("done");
  });
  prompt();
  EXPECT_EQ(trace.alive_calls(), 2);
}

/// A turn with a long result; the model counts `tokens` for all so far.
ModelResponse long_turn(int number, std::int64_t tokens) {
  return calls("bash", bash("head -c 20000 /dev/zero | tr '\\\\0' x; echo " + std::to_string(number)), "c" + std::to_string(number),
               {tokens, 0, 0, 0});
}

TEST_F(SessionTest, SumsUpTheOldPartWhenTheWindowIsNearlyFull) {
  model = FakeModel("fake/model", 40'000);
  for (int i = 0; i < 5; ++i) model.then(long_turn(i, std::int64_t{5000} * (i + 1)));
  model.then(says("## Goal\nthe summary")).then(says("done"));
  EXPECT_EQ(prompt("the long task").reason, Reason::completed);
  const auto& requests = made_model->requests();
  ASSERT_THAT(requests, SizeIs(7));
  EXPECT_THAT(requests[5].tools, IsEmpty());
  EXPECT_THAT(std::get<TextBlock>(requests[5].messages[0].blocks[0]).text, HasSubstr("USER: the long task"));
  const auto& after = requests[6].messages;
  EXPECT_THAT(std::get<TextBlock>(after[0].blocks[0]).text,
              AllOf(HasSubstr("The task, as it was given:\nthe long task"), HasSubstr("## Goal\nthe summary")));
  EXPECT_LT(after.size(), requests[4].messages.size());
  EXPECT_EQ(after[1].speaker, models::Speaker::assistant);
  const auto compaction = trace.of<trace::Compaction>().at(0);
  EXPECT_GT(compaction.tokens_before, 30'000);
  EXPECT_LT(compaction.tokens_after, 20'000);
  EXPECT_EQ(compaction.summary.text, "## Goal\nthe summary");
}

TEST_F(SessionTest, SumsUpOnceWhenTheModelSaysThatItIsTooLong) {
  model.then(long_turn(1, 100)).then(long_turn(2, 200));
  model.then_throw(ErrorCode::context_overflow, "too long").then(says("summary")).then(says("done"));
  EXPECT_EQ(prompt().reason, Reason::completed);
  EXPECT_THAT(trace.of<trace::Compaction>(), SizeIs(1));
}

TEST_F(SessionTest, EndsWhenItIsStillTooLongAfterASummary) {
  model.then(long_turn(1, 100)).then(long_turn(2, 200));
  model.then_throw(ErrorCode::context_overflow, "too long").then(says("summary")).then_throw(ErrorCode::context_overflow, "too long");
  const AgentResult result = prompt();
  EXPECT_EQ(result.reason, Reason::context_overflow);
  EXPECT_THAT(made_model->requests(), SizeIs(5));
}

TEST_F(SessionTest, TakesAStopForWantOfRoomLikeTheError) {
  ModelResponse full = says("half an ans");
  full.stop_reason = StopReason::context_overflow;
  model.then(long_turn(1, 100)).then(long_turn(2, 200)).then(full).then(says("summary")).then(says("done"));
  EXPECT_EQ(prompt().summary, "done");
}

TEST_F(SessionTest, ShortensResultsWhenThereIsNothingToSumUp) {
  model.then(long_turn(1, 100)).then_throw(ErrorCode::context_overflow, "too long").then(says("done"));
  EXPECT_EQ(prompt().reason, Reason::completed);
  EXPECT_LT(last_told().at(0).size(), 5000U);
  EXPECT_EQ(trace.of<trace::Compaction>().at(0).summary.text, "");
}

}  // namespace
}  // namespace forge::adapters::pi
