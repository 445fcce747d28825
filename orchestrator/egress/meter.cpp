#include "orchestrator/egress/meter.h"

#include <utility>

#include "orchestrator/base/error.h"

namespace forge::egress {
namespace {

constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;

}  // namespace

Meter::Meter(store::Store& store, const Clock& clock, TraceSink& trace, const Job& job, const Run& run, const Caps& caps,
             std::optional<models::PriceRow> row, std::optional<Price> fallback)
    : store_(store), clock_(clock), trace_(trace), job_(job.id), run_(run.id), row_(std::move(row)), fallback_(std::move(fallback)) {
  if (caps.run_nano_usd) caps_.push_back({"run", *caps.run_nano_usd});
  if (caps.job_nano_usd) caps_.push_back({"job", *caps.job_nano_usd});
  if (caps.day_nano_usd) caps_.push_back({"day", *caps.day_nano_usd});
}

std::int64_t Meter::spent_under(const Cap& cap) const {
  if (cap.what == "run") return run_spent_;
  // Other runs count too; days are UTC.
  const store::Spending spending =
      cap.what == "job" ? store_.spending_of_job(job_) : store_.spending_since(clock_.now_ms() / kDayMs * kDayMs);
  return spending.priced_nano_usd + (fallback_ ? cost_nano_usd(spending.unpriced, *fallback_) : 0);
}

// A fifth is subtracted: 80 percent by multiplication could overflow.
void Meter::warn() {
  for (Cap& cap : caps_) {
    const std::int64_t spent = spent_under(cap);
    if (cap.warned || spent < cap.limit - cap.limit / 5) continue;
    cap.warned = true;
    trace_.append(trace::Budget{spent, cap.limit, "warned", cap.what});
  }
}

// Spent equals limit is too much already: the next response costs something.
void Meter::check() {
  warn();
  for (const Cap& cap : caps_) {
    const std::int64_t spent = spent_under(cap);
    if (spent < cap.limit) continue;
    trace_.append(trace::Budget{spent, cap.limit, "stopped", cap.what});
    throw public_failure(ErrorCode::budget_exhausted,
                         "the budget of the " + cap.what + " is spent: " + format_usd(spent) + " of " + format_usd(cap.limit));
  }
}

std::optional<std::int64_t> Meter::record(const std::string& request_id, const std::string& model, const Usage& usage) {
  std::optional<std::int64_t> cost;
  if (row_ && row_->price) cost = cost_nano_usd(usage, *row_->price);
  if (cost) {
    run_spent_ += *cost;
  } else if (fallback_) {
    run_spent_ += cost_nano_usd(usage, *fallback_);
  }
  store_.add_usage({run_, request_id, model, usage, cost, cost ? row_->hash : ""});
  warn();
  return cost;
}

}  // namespace forge::egress
