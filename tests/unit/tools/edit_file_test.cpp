#include "tools/edit_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tools/tool_call.h"
#include "tools/workspace_file.h"

namespace forge::tools {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json one_edit(const std::string& path, const std::string& old_text, const std::string& new_text) {
  return {{"path", path}, {"edits", json::array({{{"old_text", old_text}, {"new_text", new_text}}})}};
}

TEST(EditFile, ChangesTheFileAndSaysWhere) {
  Bench bench;
  bench.put("a.txt", "one\ntwo\n");
  const ToolOutcome outcome = bench.call("edit_file", one_edit("a.txt", "two", "2"));
  EXPECT_TRUE(outcome.ok);
  EXPECT_EQ(outcome.text, "Made 1 edit in a.txt; the first changed line is 2.");
  EXPECT_EQ(bench.get("a.txt"), "one\n2\n");
}

TEST(EditFile, KeepsTheModeOfTheFile) {
  Bench bench;
  bench.call("bash", {{"command", "echo one > tool; chmod 750 tool"}});
  bench.call("edit_file", one_edit("tool", "one", "two"));
  EXPECT_EQ(bench.call("bash", {{"command", "stat -c %a tool"}}).text, "750\n");
}

TEST(EditFile, ChangesNothingWhenOneEditFails) {
  Bench bench;
  bench.put("a.txt", "one\ntwo\n");
  json call = one_edit("a.txt", "one", "1");
  call["edits"].push_back({{"old_text", "three"}, {"new_text", "3"}});
  const ToolOutcome outcome = bench.call("edit_file", call);
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.text, HasSubstr("Nothing was changed. edits[1]: old_text is not in the file."));
  EXPECT_EQ(bench.get("a.txt"), "one\ntwo\n");
}

TEST(EditFile, SaysThatTheFileIsNotThere) {
  Bench bench;
  EXPECT_THAT(bench.call("edit_file", one_edit("none", "a", "b")).text, HasSubstr("There is no file 'none'"));
}

TEST(EditFile, TakesAHundredEditsAndNoMore) {
  Bench bench;
  std::string text;
  json call = {{"path", "a"}, {"edits", json::array()}};
  for (std::size_t i = 0; i < kMaxEdits; ++i) {
    text += "<" + std::to_string(i) + ">\n";
    call["edits"].push_back({{"old_text", "<" + std::to_string(i) + ">"}, {"new_text", "x"}});
  }
  bench.put("a", text);
  EXPECT_TRUE(bench.call("edit_file", call).ok);
  bench.put("a", text + "more");
  call["edits"].push_back({{"old_text", "more"}, {"new_text", "x"}});
  const ToolOutcome outcome = bench.call("edit_file", call);
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.text, HasSubstr("no more than 100"));
}

TEST(EditFile, RefusesToGrowAFilePastTheLimit) {
  Bench bench;
  bench.put("a", std::string(kMaxFileBytes - 1, 'x') + "y");
  EXPECT_TRUE(bench.call("edit_file", one_edit("a", "y", "z")).ok);
  EXPECT_THAT(bench.call("edit_file", one_edit("a", "z", "zz")).text, HasSubstr("would be larger than"));
}

TEST(EditFile, RepeatsTheSchemaErrorsForTheModel) {
  Bench bench;
  EXPECT_THAT(bench.call("edit_file", {{"path", "a"}, {"edits", json::array({{{"oldText", "x"}, {"new_text", "y"}}})}}).text,
              HasSubstr("edits[0].oldText: unknown field"));
}

}  // namespace
}  // namespace forge::tools
