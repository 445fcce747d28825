#pragma once

#include <string>

#include "orchestrator/store/review_store.h"

namespace forge::store {

/// A plan as it is stored. Paths and lines are base64 of their bytes, because JSON holds UTF-8 only; the message must be UTF-8.
std::string plan_to_json(const ApplyPlan& plan);
/// Throws corrupt.
ApplyPlan plan_from_json(const std::string& text);

}  // namespace forge::store
