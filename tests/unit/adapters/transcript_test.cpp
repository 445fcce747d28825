#include "adapters/pi/transcript.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_model.h"

namespace forge::adapters::pi {
namespace {

using models::Speaker;
using models::StopReason;
using models::TextBlock;
using models::ThinkingBlock;
using models::ToolResultBlock;
using models::ToolUseBlock;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// A task and `turns` turns, each with a call whose result has `result_bytes`.
Transcript work(int turns, std::size_t result_bytes) {
  Transcript transcript;
  transcript.tell("the task");
  for (int i = 0; i < turns; ++i) {
    const std::string id = "c" + std::to_string(i);
    transcript.add_response(test::calls("bash", "{}", id));
    transcript.add_results({{id, std::string(result_bytes, 'r'), false}});
  }
  return transcript;
}

/// Every call is answered by the next message, and nothing else is answered.
void expect_answered(const Transcript& transcript) {
  const auto& messages = transcript.messages();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    std::vector<std::string> called;
    std::vector<std::string> answered;
    for (const auto& block : messages[i].blocks)
      if (const auto* call = std::get_if<ToolUseBlock>(&block)) called.push_back(call->id);
    if (i + 1 < messages.size())
      for (const auto& block : messages[i + 1].blocks)
        if (const auto* result = std::get_if<ToolResultBlock>(&block)) answered.push_back(result->id);
    EXPECT_EQ(called, answered) << "message " << i;
  }
  EXPECT_EQ(messages.front().speaker, Speaker::user);
  for (const auto& block : messages.front().blocks) EXPECT_FALSE(std::holds_alternative<ToolResultBlock>(block));
}

TEST(Transcript, JoinsOurTextsInOneMessage) {
  Transcript transcript;
  transcript.tell("a");
  transcript.tell("b");
  ASSERT_THAT(transcript.messages(), SizeIs(1));
  EXPECT_THAT(transcript.messages()[0].blocks, SizeIs(2));
}

TEST(Transcript, LeavesOutEmptyTextsAndThoughtsThatWereCut) {
  Transcript transcript;
  transcript.tell("a");
  models::ModelResponse response = test::says(" \n");
  response.blocks.emplace_back(ThinkingBlock{"half a tho", "", false});
  response.stop_reason = StopReason::max_tokens;
  transcript.add_response(response);
  ASSERT_THAT(transcript.messages()[1].blocks, SizeIs(1));
  EXPECT_EQ(std::get<TextBlock>(transcript.messages()[1].blocks[0]).text, "(empty response)");
}

TEST(Transcript, KeepsThoughtsOfAWholeResponse) {
  Transcript transcript;
  transcript.tell("a");
  models::ModelResponse response = test::calls("bash", "{}");
  response.blocks.insert(response.blocks.begin(), ThinkingBlock{"thought", "signature", false});
  transcript.add_response(response);
  EXPECT_THAT(transcript.messages()[1].blocks, SizeIs(2));
}

TEST(Transcript, CountsWhatTheServerCountedAndEstimatesTheRest) {
  Transcript transcript;
  transcript.tell(std::string(400, 'x'));
  EXPECT_EQ(transcript.context_tokens(), 100);
  transcript.add_response(test::calls("bash", "{}", "c", {1000, 50, 200, 30}));
  EXPECT_EQ(transcript.context_tokens(), 1280);
  transcript.add_results({{"c", std::string(4000, 'r'), false}});
  EXPECT_NEAR(static_cast<double>(transcript.context_tokens()), 2280, 5);
}

TEST(Transcript, EstimatesAllWhenTheServerCountsNothing) {
  Transcript transcript;
  transcript.tell(std::string(4000, 'x'));
  transcript.add_response(test::says("done", {}));
  EXPECT_GE(transcript.context_tokens(), 1000);
}

TEST(Transcript, CutsAtTheBeginOfATurnThatFits) {
  const Transcript transcript = work(10, 4000);  // about 1,000 tokens a turn
  const auto cut = transcript.cut_point(3500);
  ASSERT_TRUE(cut);
  EXPECT_EQ(*cut, 15U);  // the last three turns: messages 15 to 20
  EXPECT_EQ(transcript.messages()[*cut].speaker, Speaker::assistant);
}

TEST(Transcript, AlwaysKeepsTheLastTurn) {
  const Transcript transcript = work(3, 40'000);
  EXPECT_EQ(transcript.cut_point(100), 5U);
}

TEST(Transcript, HasNothingToLeaveOutInTheFirstTurn) {
  EXPECT_FALSE(Transcript().cut_point(0));
  EXPECT_FALSE(work(0, 0).cut_point(0));
  EXPECT_FALSE(work(1, 100'000).cut_point(0));
  EXPECT_FALSE(work(10, 100).cut_point(1'000'000));
}

TEST(Transcript, MayCutAtALaterPrompt) {
  Transcript transcript = work(2, 4000);
  transcript.add_response(test::says("done"));
  transcript.tell("the check fails");
  EXPECT_EQ(transcript.cut_point(5), 6U);
  transcript.replace_before(6, "summary", 0);
  ASSERT_THAT(transcript.messages(), SizeIs(1));
  EXPECT_EQ(std::get<TextBlock>(transcript.messages()[0].blocks[0]).text, "summary");
  EXPECT_EQ(std::get<TextBlock>(transcript.messages()[0].blocks[1]).text, "the check fails");
}

TEST(Transcript, KeepsCallsAndResultsTogetherWhereverItIsCut) {
  for (std::int64_t keep = 0; keep < 12'000; keep += 500) {
    Transcript transcript = work(10, 4000);
    const auto cut = transcript.cut_point(keep);
    if (!cut) continue;
    transcript.replace_before(*cut, "summary", 0);
    expect_answered(transcript);
    EXPECT_LE(transcript.context_tokens(), keep + 1100);
  }
}

TEST(Transcript, ReadsLikeARecord) {
  Transcript transcript;
  transcript.tell("the task");
  transcript.add_response(test::calls("bash", R"({"command": "ls"})", "c"));
  transcript.add_results({{"c", std::string(10'000, 'r'), true}});
  transcript.add_response(test::says("not in the record"));
  const std::string text = transcript.readable(3);
  EXPECT_THAT(text, HasSubstr("USER: the task\n\nCALL bash: {\"command\": \"ls\"}\n\nFAILED: rrr"));
  EXPECT_THAT(text, HasSubstr("bytes left out"));
  EXPECT_LT(text.size(), 2500U);
  EXPECT_THAT(text, Not(HasSubstr("not in the record")));
}

TEST(Transcript, ShortensResults) {
  Transcript transcript = work(1, 10'000);
  transcript.shorten_results(1000, 0);
  EXPECT_LT(std::get<ToolResultBlock>(transcript.messages()[2].blocks[0]).content.size(), 1100U);
  EXPECT_LT(transcript.context_tokens(), 300);
}

}  // namespace
}  // namespace forge::adapters::pi
