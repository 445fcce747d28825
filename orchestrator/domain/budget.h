#pragma once

#include <cstdint>
#include <optional>

#include "orchestrator/base/json_reader.h"

namespace forge {

/// The field `budget` of a request, {"run_usd": "1.50"} or {"run_nano_usd": 1500000000}, in nano-dollars; nothing when it is not there.
/// Throws bad_input with the path of what is wrong.
std::optional<std::int64_t> read_budget(JsonReader& reader);
/// Throws bad_input for a budget that is not above 0, or above 1,000,000 dollars.
void check_budget(const std::optional<std::int64_t>& nano_usd);

}  // namespace forge
