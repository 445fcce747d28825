#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/domain/usage.h"

/// What was spent, by day, repository and model: the sums behind the costs page, the API and its CSV.
namespace forge {

/// A day of the UTC calendar, as days since 1970-01-01: budgets of a day count these.
using Day = std::int64_t;
inline constexpr std::int64_t kDayMs = 24LL * 60 * 60 * 1000;

/// "2026-11-30". Throws bad_input(field) for anything that is not a day from 1970 to 9999.
Day parse_day(const std::string& text, const std::string& field);
std::string day_text(Day day);

/// Both ends belong to it.
struct DaySpan {
  Day first = 0;
  Day last = 0;
};
/// A year and a day, and so many rows at once. Over one: bad_input.
inline constexpr Day kMostSpendingDays = 366;
inline constexpr std::size_t kMostSpendingRows = 20'000;
/// Throws bad_input for a span that is empty or too long.
void check_span(const DaySpan& span);

/// What all requests of one day, repository and model came to.
struct SpendingRow {
  Day day = 0;
  std::string repository;
  std::string model;
  std::int64_t requests = 0;
  std::int64_t unpriced_requests = 0;  ///< whose model had no price: in no sum of money
  Usage usage;                         ///< of all requests
  std::int64_t priced_nano_usd = 0;
  bool operator==(const SpendingRow&) const = default;
};

/// The latest day first.
struct SpendingReport {
  DaySpan span;
  std::vector<SpendingRow> rows;
  std::int64_t today_nano_usd = 0;                    ///< of this UTC day, as far as requests had a price
  std::optional<std::int64_t> day_budget_nano_usd{};  ///< that all runs of a day share; nothing: no such budget
};
nlohmann::json to_json(const SpendingReport& report);
/// A table with a head, as RFC 4180 has it. A text that a spreadsheet would take for a formula gets an apostrophe in front.
std::string spending_csv(const SpendingReport& report);

}  // namespace forge
