#include "orchestrator/cli/trace_text.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/golden.h"
#include "tests/unit/cli/fake_forge.h"

namespace forge::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// One of each type at least.
std::vector<TraceEvent> one_of_each() {
  std::string long_output;
  for (int i = 1; i <= 20; ++i) long_output += "line " + std::to_string(i) + "\n";
  const std::vector<TraceData> all{
      trace::State{JobState::queued, JobState::preparing, {}, "second try"},
      trace::Git{"fetch", "refs/heads/main at 1111111111111111111111111111111111111111", 1234},
      trace::Finding{"uncommitted", "", "uncommitted changes are not included (3 files)"},
      trace::Sandbox{"acquired", "s1", "local", "base", {"memory 2 GiB"}, {"pids: no cgroup"}, 8},
      trace::State{JobState::preparing, JobState::running, {}, ""},
      trace::Setup{"npm ci", 0, {"added 12 packages\n"}, 2100},
      trace::Setup{"make deps", 2, {"make: *** no rule\n"}, 30},
      trace::Turn{1},
      trace::Thinking{{"Let me look.\nFirst the tests."}},
      trace::Text{{"I will run the tests first.\n\nThen repair."}},
      trace::ToolCall{"c1", "bash", {R"({"command":"for i in 1 2 3; do\n  make test\ndone"})"}},
      trace::ToolResult{"c1", "bash", false, 2, true, 51'200, 2'345, {long_output}},
      trace::ToolCall{"c2", "edit_file", {R"({"path":"src/parser.c","edits":[{"old_text":"a","new_text":"b"}]})"}},
      trace::ToolResult{"c2", "edit_file", true, {}, false, 2, 3, {"ok"}},
      trace::ToolCall{"c3", "mystery", {R"({"x":1})"}},
      trace::ToolCall{"c4", "broken", {R"({"x":)"}},
      trace::Model{"r1", "anthropic/claude-x", {100, 50, 12'000, 300}, 45'678'900, 400, 3'200, "tool_use"},
      trace::Model{"r2", "local/unknown", {2'500'000, 50, 0, 0}, {}, 400, 3'200, "end_turn"},
      trace::Retry{"model", 2, 1500, 429, "rate limited"},
      trace::Network{"pkg.test", 443, "allowed", "", 1000},
      trace::Network{"evil.example.com", 443, "denied", "add --allow-host evil.example.com", 0},
      trace::Verify{"make test", 0, 1, {"1 failed\n"}, 900},
      trace::Verify{"make test", 1, 0, {"all passed\n"}, 850},
      trace::Limit{"turns", 50, 50},
      trace::Budget{400'000'000, 500'000'000, "warned", "run"},
      trace::Steer{{"use the other library"}},
      trace::Permission{"bash", "denied", "not in this repository"},
      trace::Compaction{180'000, 21'500, {"summary"}},
      trace::LogLine{"debug", "not for everybody"},
      trace::LogLine{"warn", "odd"},
      trace::State{JobState::finalizing, JobState::succeeded, Reason::completed, ""},
      trace::Sandbox{"released", "s1", "local", "base", {}, {}, 4},
      trace::Terminal{Reason::completed, ""}};
  std::vector<TraceEvent> events;
  for (const auto& data : all) events.push_back(event(static_cast<std::int64_t>(events.size()) + 1, data));
  return events;
}

std::string rendered(const TraceTextOptions& options) {
  std::string text;
  for (const auto& one : one_of_each())
    for (const auto& line : trace_lines(one, options)) {
      EXPECT_EQ(line.find('\n'), line.npos) << line;
      text += line + "\n";
    }
  return text;
}

TEST(TraceText, IsShortWhileARunIsWatched) { test::expect_golden("tests/unit/cli/golden/trace_brief.txt", rendered({})); }

TEST(TraceText, IsWholeWhenATraceIsRead) {
  test::expect_golden("tests/unit/cli/golden/trace_full.txt", rendered({.output_lines = 0, .thinking = true}));
}

TEST(TraceText, IsColouredOnATerminal) {
  test::expect_golden("tests/unit/cli/golden/trace_colour.txt", rendered({.paint = {.on = true}, .width = 60, .output_lines = 2}));
}

TEST(TraceText, CoversEveryType) {
  std::set<TraceType> seen;
  for (const auto& one : one_of_each()) seen.insert(one.type);
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(TraceType::terminal) + 1);
}

TEST(TraceText, ShowsHeadAndTailOfALongPayload) {
  TraceEvent cut = event(1, trace::Text{{""}});
  cut.data_json = R"({"head":"begin","tail":"end","bytes":1048584,"blob":"ab"})";
  EXPECT_THAT(trace_lines(cut, {}), ElementsAre("  begin", "  [... 1.0 MiB left out ...]", "  end"));
}

TEST(TraceText, CannotDriveTheTerminal) {
  const std::string attack =
      "\x1b]0;title\x07\x1b[2J\r\nok\xc2\x9b"
      "31m\xff";
  const std::vector<TraceData> all{trace::Text{{attack}},
                                   trace::ToolResult{"c", "bash", true, 0, false, 1, 1, {attack}},
                                   trace::Finding{"name", attack, attack},
                                   trace::ToolCall{"c", attack, {attack}},
                                   trace::LogLine{attack, attack},
                                   trace::State{JobState::queued, JobState::running, {}, attack},
                                   trace::Retry{attack, 1, 1, {}, attack},
                                   trace::Network{attack, 1, "denied", attack, 0},
                                   trace::Setup{attack, 1, {attack}, 1}};
  for (const auto& data : all) {
    TraceEvent hostile = event(1, trace::Terminal{});
    hostile.type = type_of(data);
    hostile.data_json = nlohmann::json(to_json(data)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    for (const auto& line : trace_lines(hostile, {}))
      for (const char c : line) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << line;
  }
}

TEST(TraceText, SaysNothingAboutBrokenData) {
  TraceEvent broken = event(1, trace::Turn{1});
  for (const char* data : {"", "[]", "{", "null"}) {
    broken.data_json = data;
    EXPECT_THAT(trace_lines(broken, {}), IsEmpty());
  }
}

TEST(RunTally, SumsUpWhatHappened) {
  RunTally tally;
  EXPECT_EQ(tally.text(), "waiting");
  for (const auto& one : good_run()) {
    const bool all_but_the_end = one.seq == 7;
    EXPECT_EQ(tally.text() == "running, turn 1, 1.2k tokens, $0.0123", all_but_the_end);
    EXPECT_FALSE(tally.ended);
    tally.add(one);
  }
  EXPECT_TRUE(tally.ended);
  EXPECT_EQ(tally.text(), "succeeded, turn 1, 1.2k tokens, $0.0123");
}

TEST(RunTally, SaysThatAModelHasNoPrice) {
  RunTally tally;
  tally.add(event(1, trace::Model{"r", "m", {10, 5, 0, 0}, {}, 1, 1, "end_turn"}));
  EXPECT_EQ(tally.text(), "waiting, 15 tokens, unpriced");
}

TEST(ShortCount, RoundsForPeople) {
  EXPECT_EQ(short_count(0), "0");
  EXPECT_EQ(short_count(999), "999");
  EXPECT_EQ(short_count(1000), "1.0k");
  EXPECT_EQ(short_count(3'400'000), "3.4M");
}

}  // namespace
}  // namespace forge::cli
