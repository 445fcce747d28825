#include "orchestrator/domain/budget.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "orchestrator/base/error.h"
#include "orchestrator/domain/usage.h"

namespace forge {
namespace {

constexpr std::int64_t kMostNanoUsd = 1'000'000LL * 1'000'000'000;

/// Dollars as text ("0.50"), or as a JSON number for those who type by hand.
std::int64_t read_usd(const nlohmann::json& value, const std::string& path) {
  if (value.is_string()) return parse_usd(value.get<std::string>(), path);
  if (!value.is_number()) throw bad_input(path, "expected dollars as text or number", "for example \"1.50\"");
  const double usd = value.get<double>();
  if (!std::isfinite(usd) || usd < 0 || usd > 1e6) throw bad_input(path, "must be from 0 to 1000000 dollars");
  return parse_usd(fmt::format("{:.9f}", usd), path);
}

}  // namespace

std::optional<std::int64_t> read_budget(JsonReader& reader) {
  const nlohmann::json* given = reader.find("budget");
  if (given == nullptr) return {};
  const std::string path = reader.path_of("budget");
  JsonReader budget(*given, path);
  const nlohmann::json* usd = budget.find("run_usd");
  const auto nano_usd = budget.optional_integer("run_nano_usd", 0, kMostNanoUsd);
  budget.finish();
  if (usd != nullptr && nano_usd) throw bad_input(path, "run_usd and run_nano_usd say the same thing", "give one of them");
  return usd != nullptr ? read_usd(*usd, budget.path_of("run_usd")) : nano_usd;
}

void check_budget(const std::optional<std::int64_t>& nano_usd) {
  if (!nano_usd) return;
  if (*nano_usd <= 0) throw bad_input("budget", "the budget must be more than 0", "leave it out for no budget");
  if (*nano_usd > kMostNanoUsd) throw bad_input("budget", "above 1000000 dollars");
}

}  // namespace forge
