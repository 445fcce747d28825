#include "orchestrator/domain/trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "orchestrator/base/json_reader.h"
#include "tests/support/golden.h"

namespace forge {

static void PrintTo(TraceType type, std::ostream* out) { *out << name_of(type); }

namespace {

/// One event of each type, with every field set.
std::vector<TraceData> examples() {
  return {
      trace::State{.from = JobState::finalizing, .to = JobState::failed, .reason = Reason::verify_failed, .note = "round 2 of 2"},
      trace::Sandbox{.action = "acquired",
                     .id = "01j8sandbox",
                     .driver = "local",
                     .template_name = "base",
                     .enforced = {"memory", "pids"},
                     .unenforced = {"cpu"},
                     .duration_ms = 12},
      trace::Git{.action = "checkout", .detail = "refs/heads/main at 0123456", .duration_ms = 34},
      trace::Setup{.command = "npm ci", .exit_code = 0, .output = {"added 5 packages\n"}, .duration_ms = 5600},
      trace::Turn{.number = 3},
      trace::Model{.request_id = "req_1",
                   .model = "anthropic/claude-sonnet-5",
                   .usage = {.input = 10, .output = 20, .cache_read = 30, .cache_write = 40},
                   .cost_nano_usd = 123'456,
                   .time_to_first_token_ms = 410,
                   .duration_ms = 2300,
                   .stop_reason = "tool_use",
                   .request = {R"({"model":"claude-sonnet-5"})"},
                   .response = {"event: message_start\n"}},
      trace::Text{{"I will fix the parser.\n"}},
      trace::Thinking{{"The test expects an empty list."}},
      trace::ToolCall{.id = "call_1", .name = "bash", .arguments = {R"({"command":"make test"})"}},
      trace::ToolResult{.id = "call_1",
                        .name = "bash",
                        .ok = false,
                        .exit_code = 2,
                        .truncated = true,
                        .bytes = 70'000,
                        .duration_ms = 900,
                        .output = {"FAILED\n"}},
      trace::Retry{.what = "model", .attempt = 2, .delay_ms = 4000, .status = 529, .message = "overloaded"},
      trace::Network{.host = "example.com", .port = 443, .decision = "denied", .hint = "--allow-host example.com", .bytes = 0},
      trace::Verify{.command = "make test", .round = 1, .exit_code = 1, .output = {"1 failed\n"}, .duration_ms = 800},
      trace::Finding{.kind = "fifo", .path = "a/\xEF\xBF\xBD", .message = "left out of the commit"},
      trace::Limit{.what = "max_tokens", .value = 20'000'001, .limit = 20'000'000},
      trace::Budget{.spent_nano_usd = 1'000'000'001, .limit_nano_usd = 1'000'000'000, .action = "stopped", .scope = "job"},
      trace::Steer{{"Use the other library."}},
      trace::Permission{.tool = "bash", .decision = "allowed", .message = "by policy"},
      trace::Compaction{.tokens_before = 150'000, .tokens_after = 20'000, .summary = {"Parser fixed, tests left."}},
      trace::LogLine{.level = "warn", .message = "the agent printed a line that is no JSON"},
      trace::Terminal{.reason = Reason::completed, .message = "Fixed the parser."},
  };
}

class EveryTraceType : public testing::TestWithParam<TraceType> {};

TEST_P(EveryTraceType, HasItsShape) {
  const TraceData data = examples().at(static_cast<std::size_t>(GetParam()));
  test::expect_golden("tests/unit/domain/golden/trace_" + std::string(name_of(GetParam())) + ".json", to_json(data).dump(2) + "\n");
}

TEST_P(EveryTraceType, IsReadBackFromItsName) { EXPECT_EQ(parse_trace_type(name_of(GetParam())), GetParam()); }

TEST_P(EveryTraceType, IsKnownByItsData) { EXPECT_EQ(type_of(examples().at(static_cast<std::size_t>(GetParam()))), GetParam()); }

std::vector<TraceType> all_types() {
  std::vector<TraceType> types;
  for (int i = 0; i <= static_cast<int>(TraceType::terminal); ++i) types.push_back(static_cast<TraceType>(i));
  return types;
}

INSTANTIATE_TEST_SUITE_P(Trace, EveryTraceType, testing::ValuesIn(all_types()),
                         [](const auto& type) { return std::string(name_of(type.param)); });

TEST(TraceTypes, AreNoneOfOtherNames) {
  EXPECT_EQ(parse_trace_type("delta"), std::nullopt);
  EXPECT_EQ(parse_trace_type(""), std::nullopt);
}

TEST(TraceData, SaysNullWhereThereIsNothing) {
  EXPECT_TRUE(to_json(trace::State{.from = JobState::queued, .to = JobState::leased}).at("reason").is_null());
  EXPECT_TRUE(to_json(trace::Setup{.command = "x"}).at("exit_code").is_null());
  EXPECT_TRUE(to_json(trace::Model{}).at("cost_nano_usd").is_null()) << "unpriced is not free";
  EXPECT_TRUE(to_json(trace::ToolResult{}).at("exit_code").is_null());
  EXPECT_TRUE(to_json(trace::Retry{}).at("status").is_null());
}

TEST(TraceEnvelopes, AreOneLineAroundTheStoredData) {
  const TraceEvent event{
      .seq = 7, .ts_ms = 1'767'225'600'000, .run = 2, .turn = 3, .type = TraceType::text, .data_json = R"({"text":"a\nb"})"};
  EXPECT_EQ(envelope_json(event), R"({"seq":7,"ts_ms":1767225600000,"run":2,"turn":3,"type":"text","data":{"text":"a\nb"}})");
}

TEST(TraceEnvelopes, LeaveOutTheTurnOfTheEngine) {
  const TraceEvent event{.seq = 1, .ts_ms = 5, .run = 1, .turn = {}, .type = TraceType::state, .data_json = ""};
  EXPECT_EQ(envelope_json(event), R"({"seq":1,"ts_ms":5,"run":1,"type":"state","data":{}})");
  EXPECT_EQ(parse_json(envelope_json(event), "event").at("seq"), 1);
}

}  // namespace
}  // namespace forge
