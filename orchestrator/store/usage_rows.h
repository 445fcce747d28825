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
Spending spending_of_job(Database& main, const JobId& job);
Spending spending_since(Database& main, std::int64_t since_ms);
/// As Store::spending_of_days.
std::vector<SpendingRow> spending_of_days(Database& main, const DaySpan& span, std::size_t most_rows);

}  // namespace forge::store
