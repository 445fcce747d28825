#pragma once

#include <cstdint>
#include <vector>

#include "orchestrator/store/store.h"
#include "orchestrator/store/writer.h"

namespace forge::store {

/// Inserts the row and adds it to the sums of its run. Throws not_found for an unknown run.
void add_usage(WriteScope& scope, const UsageRow& row);
/// By model, in the order of first use.
std::vector<ModelCost> usage_by_model(Database& main, const RunId& run);
/// Priced cost, nano-dollars: unpriced requests count as nothing.
std::int64_t spent_on_job(Database& main, const JobId& job);
std::int64_t spent_since(Database& main, std::int64_t since_ms);

}  // namespace forge::store
