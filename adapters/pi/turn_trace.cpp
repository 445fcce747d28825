#include "adapters/pi/turn_trace.h"

#include "orchestrator/domain/usage.h"

namespace forge::adapters::pi {

void TurnTrace::append(TraceData data, std::optional<int> turn) {
  if (const auto* budget = std::get_if<trace::Budget>(&data); budget != nullptr && budget->action == "warned")
    budget_warning_ =
        format_usd(budget->spent_nano_usd) + " of the " + budget->scope + "'s " + format_usd(budget->limit_nano_usd) + " are spent";
  if (!turn && turn_ > 0) turn = turn_;
  inner_.append(std::move(data), turn);
}

}  // namespace forge::adapters::pi
