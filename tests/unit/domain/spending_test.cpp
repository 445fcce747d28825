#include "orchestrator/domain/spending.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/errors.h"

namespace forge {
namespace {

using testing::HasSubstr;

TEST(Days, AreReadAndWritten) {
  EXPECT_EQ(parse_day("1970-01-01", "from"), 0);
  EXPECT_EQ(parse_day("2026-11-30", "from"), 20787);
  EXPECT_EQ(day_text(20787), "2026-11-30");
  EXPECT_EQ(day_text(parse_day("2028-02-29", "from")), "2028-02-29");
  for (const char* bad : {"", "2026-2-3", "2026-02-30", "1969-12-31", "2026-11-30T00", "2026/11/30", "tomorrow!!", "-026-11-30"}) {
    const auto error = test::error_of([&] { parse_day(bad, "from"); });
    ASSERT_TRUE(error) << bad;
    EXPECT_EQ(error->field(), "from");
  }
}

TEST(DaySpans, HoldAYearAndADayAndNotOneMore) {
  EXPECT_NO_THROW(check_span({.first = 10, .last = 10}));
  EXPECT_NO_THROW(check_span({.first = 10, .last = 10 + kMostSpendingDays - 1}));
  EXPECT_EQ(test::error_of([] { check_span({.first = 10, .last = 10 + kMostSpendingDays}); })->field(), "from");
  EXPECT_EQ(test::error_of([] { check_span({.first = 10, .last = 9}); })->field(), "to");
}

SpendingReport sample_report(const std::string& repository) {
  return {.span = {.first = 20786, .last = 20787},
          .rows = {{.day = 20787,
                    .repository = repository,
                    .model = "anthropic/x",
                    .requests = 3,
                    .unpriced_requests = 1,
                    .usage = {.input = 1, .output = 2, .cache_read = 3, .cache_write = 4},
                    .priced_nano_usd = 1'234'567'890}},
          .today_nano_usd = 5};
}

TEST(SpendingCsv, HasAHeadAndALinePerRow) {
  EXPECT_EQ(spending_csv(sample_report("/srv/app")),
            "day,repository,model,requests,unpriced_requests,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,cost_usd\r\n"
            "2026-11-30,/srv/app,anthropic/x,3,1,1,2,3,4,1.23456789\r\n");
}

TEST(SpendingCsv, QuotesAndDefusesWhatARepositoryIsCalled) {
  EXPECT_THAT(spending_csv(sample_report("/srv/a,\"b\"")), HasSubstr(R"(2026-11-30,"/srv/a,""b""",anthropic/x)"));
  for (const char* formula : {"=1+1", "+1", "-1", "@SUM(A1)"})
    EXPECT_THAT(spending_csv(sample_report(formula)), HasSubstr(std::string("2026-11-30,'") + formula + ",anthropic/x"));
}

TEST(SpendingJson, NamesDaysAndMoney) {
  const nlohmann::json report = to_json(sample_report("/srv/app"));
  EXPECT_EQ(report.at("from"), "2026-11-29");
  EXPECT_EQ(report.at("to"), "2026-11-30");
  EXPECT_EQ(report.at("items").at(0).at("priced_nano_usd"), 1'234'567'890);
  EXPECT_TRUE(report.at("day_budget_nano_usd").is_null());
}

}  // namespace
}  // namespace forge
