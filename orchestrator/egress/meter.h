#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/clock.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/domain/trace.h"
#include "orchestrator/egress/reservations.h"
#include "orchestrator/models/price_book.h"
#include "orchestrator/store/store.h"

namespace forge::egress {

/// Counts what one run uses, and says stop. Safe from several threads: a run may have several requests under way.
class Meter {
 public:
  struct Caps {
    std::optional<std::int64_t> run_nano_usd;
    std::optional<std::int64_t> job_nano_usd;
    std::optional<std::int64_t> day_nano_usd;
  };
  /// A model without a price in `prices` counts against the caps by `fallback` (if any). `under_way` is that of all meters whose runs share
  /// a job or a day. All references must outlive the meter and what it reserves.
  Meter(store::Store& store, const Clock& clock, TraceSink& trace, const Job& job, const Run& run, const Caps& caps,
        const models::PriceBook& prices, std::optional<Price> fallback, Reservations& under_way);

  /// What a request may cost is guessed from.
  struct Asked {
    const std::string& model;
    std::size_t request_bytes = 0;
    std::optional<std::int64_t> most_output_tokens;  ///< of all its answers; nothing when the request does not say
  };
  /// Before each call: room for the most that it may cost, under every cap. Waits while there is none beside other requests; one alone
  /// has room as long as no cap is reached. Give it back when the answer is kept, or when there is none.
  /// Throws budget_exhausted, naming the cap and what was really spent; cancelled and timed_out when it had to wait.
  [[nodiscard]] Reservations::Held reserve(const Asked& asked, const Stop& stop);

  /// What one response used, and what it costs.
  struct Counted {
    std::string request_id;
    std::string model;
    Usage usage;
    std::optional<std::int64_t> cost_nano_usd;  ///< nothing when unpriced
    std::string price_hash;
    std::int64_t capped_nano_usd = 0;  ///< what it counts under the caps: by the fallback price when unpriced
  };
  /// After each response, also a dropped one that was billed: from now on reserve() knows it. Touches no disk. keep() must follow.
  Counted count(const std::string& request_id, const std::string& model, const Usage& usage);
  /// Stores the row. Appends a `budget` event, once per cap, from 80 % on: the agent hears it with the results of its turn.
  void keep(const Counted& counted);
  /// Nothing is kept any more, because it failed: reserve() no longer waits for that.
  void keep_no_more();
  /// Both; returns the cost.
  std::optional<std::int64_t> record(const std::string& request_id, const std::string& model, const Usage& usage);

 private:
  struct Cap {
    Scope scope = Scope::run;
    std::int64_t limit = 0;
  };
  struct Spent {
    std::int64_t run = 0;     // this run, at its price or at the fallback price
    std::int64_t unkept = 0;  // counted, and perhaps not yet in the store's sums
    bool keeps = true;        // false: what is unkept stays so
    std::vector<Scope> warned = {};
    std::vector<Scope> stopped = {};
  };
  /// True once for each scope: many requests may find the same.
  bool is_first(std::vector<Scope> Spent::*told, Scope scope);
  void warn();
  /// Nano-dollars, not too few. 0 for what counts under no cap.
  std::int64_t most_nano_usd(const Asked& asked) const;
  /// What was spent under `cap`, which is below its limit. Throws what reserve() does.
  std::int64_t spent_or_stop(const Cap& cap, const Stop& stop);
  /// Nano-dollars spent under `cap` so far. While something is unkept, never too little and perhaps too much.
  std::int64_t spent_under(const Cap& cap);

  store::Store& store_;
  const Clock& clock_;
  TraceSink& trace_;
  const JobId job_;
  const RunId run_;
  const models::PriceBook& prices_;
  const std::optional<Price> fallback_;
  Reservations& under_way_;
  std::vector<Cap> caps_;
  Guarded<Spent> spent_;
};

}  // namespace forge::egress
