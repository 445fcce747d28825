#include "adapters/pi/allowance.h"

#include <fmt/format.h>

namespace forge::adapters::pi {

std::optional<Allowance::Ended> Allowance::ended() {
  if (turns_ >= limits_.max_turns) {
    trace_.append(trace::Limit{turn_kind_.what, turns_, limits_.max_turns});
    return Ended{Reason::max_turns, fmt::format("the agent used its {} turns without ending", limits_.max_turns)};
  }
  if (tokens_ >= limits_.max_tokens) {
    trace_.append(trace::Limit{token_kind_.what, tokens_, limits_.max_tokens});
    return Ended{Reason::budget_exhausted, fmt::format("the agent used {} tokens of {}", tokens_, limits_.max_tokens)};
  }
  return {};
}

int Allowance::begin_turn() {
  const int turn = static_cast<int>(++turns_);
  trace_.begin_turn(turn);
  return turn;
}

// Subtracting a fifth, not multiplying by 80: limits may be as large as the type.
bool Allowance::reached(Kind& kind, std::int64_t value, std::int64_t limit) {
  if (kind.warned || value < limit - limit / 5) return false;
  kind.warned = true;
  trace_.append(trace::Limit{kind.what, value, limit});
  return true;
}

std::vector<std::string> Allowance::warnings(const Stop& stop) {
  std::vector<std::string> texts;
  if (reached(turn_kind_, turns_, limits_.max_turns))
    texts.push_back(fmt::format("{} of your {} turns are used", turns_, limits_.max_turns));
  if (reached(token_kind_, tokens_, limits_.max_tokens))
    texts.push_back(fmt::format("{} of your {} tokens are used", tokens_, limits_.max_tokens));
  if (stop.deadline() != SteadyClock::time_point::max()) {
    const auto left_s = std::chrono::duration_cast<std::chrono::seconds>(stop.remaining()).count();
    if (reached(time_kind_, limits_.time_limit_s - left_s, limits_.time_limit_s))
      texts.push_back(fmt::format("{} s of your time are left", left_s));
  }
  if (auto budget = trace_.take_budget_warning()) texts.push_back(std::move(*budget));
  return texts;
}

}  // namespace forge::adapters::pi
