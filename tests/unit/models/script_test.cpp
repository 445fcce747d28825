#include "orchestrator/models/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/base/error.h"
#include "orchestrator/models/price_book.h"
#include "tests/support/errors.h"
#include "tests/support/temp_dir.h"

namespace forge::models {
namespace {

using test::error_of;
using ::testing::HasSubstr;

TEST(Script, ReadsEveryFieldOfAStep) {
  const auto steps = parse_script(R"([{
    "text": "t", "thinking": "h", "tools": [{"id": "i", "name": "bash", "input": {"b": 1, "a": 2}}, {"name": "x", "raw_input": "{bad"}, {"name": "y"}],
    "usage": {"input": 1, "output": 2, "cache_read": 3, "cache_write": 4}, "stop": "max_tokens", "delay_ms": 5,
    "error": {"status": 429, "retry_after_s": 0.25, "times": 2}, "cut": true}])",
                                  "f");
  ASSERT_EQ(steps.size(), 1U);
  const ScriptStep& step = steps[0];
  EXPECT_EQ(step.text, "t");
  EXPECT_EQ(step.thinking, "h");
  ASSERT_EQ(step.tools.size(), 3U);
  EXPECT_EQ(step.tools[0].id, "i");
  EXPECT_EQ(step.tools[0].arguments, R"({"a":2,"b":1})");
  EXPECT_EQ(step.tools[1].arguments, "{bad");
  EXPECT_EQ(step.tools[2].arguments, "{}");
  EXPECT_EQ(step.usage, (Usage{.input = 1, .output = 2, .cache_read = 3, .cache_write = 4}));
  EXPECT_EQ(step.stop, StopReason::max_tokens);
  EXPECT_EQ(step.delay_ms, 5);
  EXPECT_EQ(step.error->status, 429);
  EXPECT_EQ(step.error->retry_after_ms, 250);
  EXPECT_EQ(step.error->times, 2);
  EXPECT_TRUE(step.cut);
}

TEST(Script, HasDefaultsForAllOfThem) {
  const auto steps = parse_script(R"([{}, {"tools": [{"name": "x"}]}, {"error": {"status": 500}}])", "f");
  EXPECT_EQ(steps[0].stop, StopReason::end_turn);
  EXPECT_EQ(steps[0].usage.total(), 0);
  EXPECT_FALSE(steps[0].error);
  EXPECT_EQ(steps[1].stop, StopReason::tool_use);
  EXPECT_EQ(steps[2].error->times, 0);
  EXPECT_FALSE(steps[2].error->retry_after_ms);
}

TEST(Script, SaysWhichFileStepAndFieldAreWrong) {
  struct Row {
    const char* text;
    const char* field;
  };
  for (const Row& row : {Row{"", ""},
                         Row{"{}", ""},
                         Row{"[", ""},
                         Row{"[]", ""},
                         Row{"[1]", "[0]"},
                         Row{R"([{}, {"txt": "a"}])", "[1].txt"},
                         Row{R"([{"text": 1}])", "[0].text"},
                         Row{R"([{"tools": {}}])", "[0].tools"},
                         Row{R"([{"tools": [{}]}])", "[0].tools[0].name"},
                         Row{R"([{"tools": [{"name": ""}]}])", "[0].tools[0].name"},
                         Row{R"([{"tools": [{"name": "a"}, {"name": "b", "input": []}]}])", "[0].tools[1].input"},
                         Row{R"([{"tools": [{"name": "b", "input": {}, "raw_input": ""}]}])", "[0].tools[0].raw_input"},
                         Row{R"([{"usage": {"inputs": 1}}])", "[0].usage.inputs"},
                         Row{R"([{"usage": {"input": -1}}])", "[0].usage.input"},
                         Row{R"([{"stop": "done"}])", "[0].stop"},
                         Row{R"([{"delay_ms": 600001}])", "[0].delay_ms"},
                         Row{R"([{"error": {}}])", "[0].error.status"},
                         Row{R"([{"error": {"status": 200}}])", "[0].error.status"},
                         Row{R"([{"error": {"status": 500, "times": 0}}])", "[0].error.times"},
                         Row{R"([{"error": {"status": 500, "retry_after_s": -1}}])", "[0].error.retry_after_s"},
                         Row{R"([{"cut": "yes"}])", "[0].cut"}}) {
    const auto error = error_of([&] { parse_script(row.text, "/x/demo.json"); });
    ASSERT_TRUE(error) << row.text;
    EXPECT_EQ(error->code(), ErrorCode::invalid_argument) << row.text;
    EXPECT_EQ(error->field(), row.field) << row.text;
    EXPECT_THAT(error->client_text(), HasSubstr("scripted model /x/demo.json: ")) << row.text;
    EXPECT_THAT(error->what(), HasSubstr("/x/demo.json")) << row.text;
  }
}

TEST(Script, IsAFileOfAtMostItsCap) {
  test::TempDir dir;
  const auto load = [&](std::size_t bytes) {
    test::write_file(dir / "s.json", "[{}" + std::string(bytes - 4, ' ') + "]");
    return test::code_of([&] { load_script(dir / "s.json"); });
  };
  EXPECT_EQ(load(kMostScriptBytes), "none");
  EXPECT_EQ(load(kMostScriptBytes + 1), "limit_exceeded");
  EXPECT_EQ(test::code_of([] { load_script("/dev/zero"); }), "not_found") << "it has no end";
}

TEST(Script, GivesTheNearestNameForAnUnknownField) {
  EXPECT_EQ(error_of([] { parse_script(R"([{"toolz": []}])", "f"); })->hint(), "did you mean 'tools'?");
}

/// The JSON blocks of a page of the documentation.
std::vector<std::string> json_blocks(const std::string& page) {
  const std::string text = test::read_file(page);
  std::vector<std::string> blocks;
  for (auto at = text.find("```json\n"); at != std::string::npos; at = text.find("```json\n", at + 1))
    blocks.push_back(text.substr(at + 8, text.find("```\n", at + 8) - at - 8));
  return blocks;
}

TEST(Script, IsWhatItsDocumentationShows) {
  const auto blocks = json_blocks("docs/scripted-models.md");
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(parse_script(blocks[0], "docs/scripted-models.md").size(), 2U);
}

TEST(PriceFile, IsWhatItsDocumentationShows) {
  const auto blocks = json_blocks("docs/models.md");
  ASSERT_EQ(blocks.size(), 1U);
  PriceBook book;
  book.add(blocks[0], "docs/models.md");
  EXPECT_EQ(book.price("corp/large")->tiers.at(0).output, 15'000'000'000);
  EXPECT_TRUE(book.price("corp/local"));
}

TEST(Script, IsReadFromAFile) {
  const test::TempDir dir;
  test::write_file(dir / "s.json", R"([{"text": "a"}, {"text": "b"}])");
  EXPECT_EQ(load_script(dir / "s.json").size(), 2U);
  const auto error = error_of([&] { load_script(dir / "none.json"); });
  EXPECT_EQ(error->code(), ErrorCode::not_found);
  EXPECT_THAT(error->client_text(), HasSubstr("none.json"));
}

}  // namespace
}  // namespace forge::models
