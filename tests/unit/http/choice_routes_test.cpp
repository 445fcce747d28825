#include <gmock/gmock.h>

#include "tests/unit/http/api_server.h"

namespace forge::http {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(ChoiceRoutes, TemplatesShowWhatASandboxContains) {
  ApiServer server;
  const json list = body_of(server.get("/api/v1/templates"));
  EXPECT_EQ(list.at("items").at(0).at("name"), "base");
  EXPECT_EQ(list.at("items").at(0).at("limits").at("memory_bytes"), 2LL << 30);
}

TEST(ChoiceRoutes, AgentsSayWhetherTheyCanBeUsed) {
  ApiServer server;
  const json items = body_of(server.get("/api/v1/adapters")).at("items");
  EXPECT_EQ(items.at(0), json({{"name", "pi"}, {"default", true}, {"ready", true}, {"problem", nullptr}}));
  EXPECT_EQ(items.at(1).at("ready"), false);
  EXPECT_EQ(items.at(1).at("problem"), "is not installed");
}

TEST(ChoiceRoutes, ModelsComeWithWhatIsKnownOfThem) {
  ApiOptions options = test_options();
  options.models = {{.name = "scripted:default.json", .price = {}, .context_window = 0},
                    {.name = "a/x", .price = Price{.input = 1, .output = 2, .cache_read = 3, .cache_write = 4}, .context_window = 200000}};
  ApiServer server(options);
  const json items = body_of(server.get("/api/v1/models")).at("items");
  EXPECT_EQ(items.at(0), json({{"name", "scripted:default.json"}, {"default", true}, {"price", nullptr}, {"context_window", nullptr}}));
  EXPECT_EQ(items.at(1).at("price").at("cache_read"), 3);
  EXPECT_EQ(items.at(1).at("context_window"), 200000);
}

TEST(ChoiceRoutes, BranchesOfARepositoryAreForThoseWhoMayCreateAJobFromIt) {
  ApiOptions options = test_options();
  options.allow_local = {"/srv/git"};
  ApiServer server(options);
  const std::string path = "/api/v1/branches?repository=";
  EXPECT_EQ(body_of(server.get(path + "/home/x")), json({{"default", "main"}, {"items", {"main", "next"}}, {"more", false}}));
  EXPECT_EQ(server.tcp_get(path + "/srv/git/x", server.as(Role::operator_)).status, 200);
  EXPECT_EQ(server.tcp_get(path + "/home/x", server.as(Role::operator_)).status, 403);
  EXPECT_EQ(server.tcp_get(path + "/srv/git/x", server.as(Role::reviewer)).status, 403);
}

TEST(ChoiceRoutes, BranchesSayWhatIsWrongWithTheRepository) {
  ApiServer server;
  for (const std::string& query : {std::string(), std::string("?repository="), "?repository=" + std::string(4097, 'x')}) {
    const auto refused = server.get("/api/v1/branches" + query);
    EXPECT_EQ(refused.status, 400) << query;
    EXPECT_EQ(body_of(refused).at("error").at("field"), "repository");
  }
  EXPECT_EQ(server.get("/api/v1/branches?repository=https://host/gone").status, 404);
}

TEST(CostRoutes, AreOfTheLastThirtyDaysUnlessTheyAreNamed) {
  ApiServer server;
  const Day today = server.clock.now_ms() / kDayMs;
  server.jobs.spent = {.day = today - 29, .repository = "/srv/app", .model = "a/x", .requests = 1, .priced_nano_usd = 7};
  json report = body_of(server.get("/api/v1/costs"));
  EXPECT_EQ(report.at("to"), day_text(today));
  EXPECT_EQ(report.at("from"), day_text(today - 29));
  EXPECT_EQ(report.at("items").at(0).at("priced_nano_usd"), 7);
  EXPECT_EQ(report.at("today_nano_usd"), 7);
  EXPECT_EQ(report.at("day_budget_nano_usd"), 50);
  report = body_of(server.get("/api/v1/costs?from=2026-11-01&to=2026-11-02"));
  EXPECT_EQ(report.at("from"), "2026-11-01");
  EXPECT_EQ(report.at("items").size(), 0U);
}

TEST(CostRoutes, RefuseDaysThatAreNone) {
  ApiServer server;
  const auto field = [&](const std::string& query) {
    const auto refused = server.get("/api/v1/costs?" + query);
    EXPECT_EQ(refused.status, 400) << query;
    return body_of(refused).at("error").at("field");
  };
  EXPECT_EQ(field("from=yesterday"), "from");
  EXPECT_EQ(field("to=2026-02-30"), "to");
  EXPECT_EQ(field("from=2026-02-02&to=2026-02-01"), "to");
  EXPECT_EQ(field("from=2020-02-02&to=2026-02-01"), "from");
}

TEST(CostRoutes, AreATableToDownload) {
  ApiServer server;
  server.jobs.spent = {.day = parse_day("2026-11-02", ""), .repository = "/srv/app", .model = "a/x", .requests = 1, .priced_nano_usd = 7};
  const auto table = server.get("/api/v1/costs.csv?from=2026-11-01&to=2026-11-02");
  EXPECT_EQ(table.header("content-type"), "text/csv; charset=utf-8");
  EXPECT_EQ(table.header("content-disposition"), "attachment; filename=\"forge-costs-2026-11-01-2026-11-02.csv\"");
  EXPECT_THAT(table.body, HasSubstr("2026-11-02,/srv/app,a/x,1,0,0,0,0,0,0.000000007\r\n"));
}

}  // namespace
}  // namespace forge::http
