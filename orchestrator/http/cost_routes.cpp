#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/domain/spending.h"
#include "orchestrator/http/body.h"
#include "orchestrator/http/routes.h"

namespace forge::http {
namespace {

/// What is shown to those who name no days: the last ones, with this one.
constexpr Day kUsualDays = 30;

/// What was left out follows from the other end: `to` is today, and `from` makes it the usual number of days.
SpendingReport report_for(Services& services, const Request& request) {
  const auto first = request.query_value("from");
  const auto last = request.query_value("to");
  DaySpan span;
  span.last = last ? parse_day(*last, "to") : services.parts.clock.now_ms() / kDayMs;
  span.first = first ? parse_day(*first, "from") : std::max<Day>(0, span.last - kUsualDays + 1);
  return services.parts.jobs.spending(span);
}

Response show_table(Services& services, const Request& request) {
  const SpendingReport report = report_for(services, request);
  const std::string name = "forge-costs-" + day_text(report.span.first) + "-" + day_text(report.span.last) + ".csv";
  return httpd::text_response(200, "text/csv; charset=utf-8", spending_csv(report))
      .with("Content-Disposition", "attachment; filename=\"" + name + '"');
}

}  // namespace

void add_cost_routes(httpd::Router& router, Services& services) {
  const auto add = [&](const char* pattern, Response (*answer)(Services&, const Request&)) {
    router.add({.method = Method::get,
                .pattern = pattern,
                .access = Access::at_least(Role::viewer),
                .handler = [&services, answer](const Request& request, const Stop&) { return answer(services, request); },
                .query = {"from", "to"}});
  };
  add("/api/v1/costs", [](Services& given, const Request& request) { return json_answer(to_json(report_for(given, request))); });
  add("/api/v1/costs.csv", show_table);
}

}  // namespace forge::http
