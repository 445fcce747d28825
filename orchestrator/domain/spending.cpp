#include "orchestrator/domain/spending.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/domain/job_json.h"
#include "orchestrator/domain/json_values.h"

namespace forge {
namespace {

using nlohmann::json;

constexpr std::string_view kDayForm = "0000-00-00";

bool has_day_form(const std::string& text) {
  return text.size() == kDayForm.size() && std::equal(text.begin(), text.end(), kDayForm.begin(), [](char given, char form) {
           return form == '0' ? std::isdigit(static_cast<unsigned char>(given)) != 0 : given == form;
         });
}

json row_json(const SpendingRow& row) {
  return {{"day", day_text(row.day)},
          {"repository", row.repository},
          {"model", row.model},
          {"requests", row.requests},
          {"unpriced_requests", row.unpriced_requests},
          {"usage", to_json(row.usage)},
          {"priced_nano_usd", row.priced_nano_usd}};
}

std::string csv_text(const std::string& given) {
  // Spreadsheets run what looks like a formula, and repositories are named by whoever creates a job.
  const bool formula = !given.empty() && std::string_view("=+-@\t\r").find(given.front()) != std::string_view::npos;
  std::string text = (formula ? "'" : "") + given;
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_row(const SpendingRow& row) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{}\r\n", day_text(row.day), csv_text(row.repository), csv_text(row.model), row.requests,
                     row.unpriced_requests, row.usage.input, row.usage.output, row.usage.cache_read, row.usage.cache_write,
                     format_usd(row.priced_nano_usd).substr(1));
}

}  // namespace

Day parse_day(const std::string& text, const std::string& field) {
  const auto number = [&](std::size_t at, std::size_t digits) { return std::stoi(text.substr(at, digits)); };
  if (has_day_form(text)) {
    const std::chrono::year_month_day date{std::chrono::year(number(0, 4)), std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                           std::chrono::day(static_cast<unsigned>(number(8, 2)))};
    if (date.ok() && date.year() >= std::chrono::year(1970)) return std::chrono::sys_days(date).time_since_epoch().count();
  }
  throw bad_input(field, "is not a day", "as in 2026-11-30");
}

std::string day_text(Day day) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

void check_span(const DaySpan& span) {
  if (span.last < span.first) throw bad_input("to", "comes before from");
  if (span.last - span.first >= kMostSpendingDays)
    throw bad_input("from", fmt::format("more than {} days before to", kMostSpendingDays - 1));
}

json to_json(const SpendingReport& report) {
  json items = json::array();
  for (const SpendingRow& row : report.rows) items.push_back(row_json(row));
  return {{"from", day_text(report.span.first)},
          {"to", day_text(report.span.last)},
          {"items", std::move(items)},
          {"today_nano_usd", report.today_nano_usd},
          {"day_budget_nano_usd", number_or_null(report.day_budget_nano_usd)}};
}

std::string spending_csv(const SpendingReport& report) {
  std::string table =
      "day,repository,model,requests,unpriced_requests,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,cost_usd\r\n";
  for (const SpendingRow& row : report.rows) table += csv_row(row);
  return table;
}

}  // namespace forge
