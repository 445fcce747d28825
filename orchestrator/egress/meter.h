#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/clock.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/domain/trace.h"
#include "orchestrator/models/price_book.h"
#include "orchestrator/store/store.h"

namespace forge::egress {

/// Counts what one run uses, and says stop. Used by one thread.
class Meter {
 public:
  struct Caps {
    std::optional<std::int64_t> run_nano_usd;
    std::optional<std::int64_t> job_nano_usd;
    std::optional<std::int64_t> day_nano_usd;
  };
  /// `row` is the price of the run's model; without one, `fallback` (if any) counts against the caps.
  Meter(store::Store& store, const Clock& clock, TraceSink& trace, const Job& job, const Run& run, const Caps& caps,
        std::optional<models::PriceRow> row, std::optional<Price> fallback);

  /// Before each call. Throws budget_exhausted, naming the cap and what was spent.
  void check();
  /// After each response, also a dropped one that was billed: stores the row; returns its cost, nothing when unpriced. Appends a `budget`
  /// event, once per cap, from 80 % on: the agent hears it with the results of its turn.
  std::optional<std::int64_t> record(const std::string& request_id, const std::string& model, const Usage& usage);

 private:
  struct Cap {
    std::string what;  // "run", "job", "day"
    std::int64_t limit = 0;
    bool warned = false;
  };
  void warn();
  /// Nano-dollars spent under `cap` so far.
  std::int64_t spent_under(const Cap& cap) const;

  store::Store& store_;
  const Clock& clock_;
  TraceSink& trace_;
  const JobId job_;
  const RunId run_;
  const std::optional<models::PriceRow> row_;
  const std::optional<Price> fallback_;
  std::int64_t run_spent_ = 0;  // this run, at its price or at the fallback price
  std::vector<Cap> caps_;
};

}  // namespace forge::egress
