#include "orchestrator/egress/meter.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "orchestrator/base/error.h"

namespace forge::egress {
namespace {

constexpr std::array<std::string_view, 3> kScopes{"run", "job", "day"};
constexpr std::size_t kRequestBytesPerToken = 4;
// The longest answer of any model in the built-in price file; a longer one passes a budget by itself at most.
constexpr std::int64_t kMostOutputTokens = 128'000;

}  // namespace

Meter::Meter(store::Store& store, const Clock& clock, TraceSink& trace, const Job& job, const Run& run, const Caps& caps,
             const models::PriceBook& prices, std::optional<Price> fallback, Reservations& under_way)
    : store_(store),
      clock_(clock),
      trace_(trace),
      job_(job.id),
      run_(run.id),
      prices_(prices),
      fallback_(std::move(fallback)),
      under_way_(under_way) {
  if (caps.run_nano_usd) caps_.push_back({Scope::run, *caps.run_nano_usd});
  if (caps.job_nano_usd) caps_.push_back({Scope::job, *caps.job_nano_usd});
  if (caps.day_nano_usd) caps_.push_back({Scope::day, *caps.day_nano_usd});
}

// The figures in memory are read before the store's sums: a row that is kept in between is then counted twice and never missed.
std::int64_t Meter::spent_under(const Cap& cap) {
  const Spent known = *spent_.lock();
  if (cap.scope == Scope::run) return known.run;
  // Other runs count too; days are UTC.
  const store::Spending spending =
      cap.scope == Scope::job ? store_.spending_of_job(job_) : store_.spending_since(clock_.now_ms() / kDayMs * kDayMs);
  return spending.priced_nano_usd + (fallback_ ? cost_nano_usd(spending.unpriced, *fallback_) : 0) + known.unkept;
}

bool Meter::is_first(std::vector<Scope> Spent::*told, Scope scope) {
  auto known = spent_.lock();
  std::vector<Scope>& scopes = (*known).*told;
  if (std::find(scopes.begin(), scopes.end(), scope) != scopes.end()) return false;
  scopes.push_back(scope);
  return true;
}

// A fifth is subtracted: 80 percent by multiplication could overflow.
void Meter::warn() {
  for (const Cap& cap : caps_) {
    const std::int64_t spent = spent_under(cap);
    if (spent < cap.limit - cap.limit / 5) continue;
    if (!is_first(&Spent::warned, cap.scope)) continue;
    trace_.append(trace::Budget{spent, cap.limit, "warned", std::string(kScopes.at(static_cast<std::size_t>(cap.scope)))});
  }
}

std::int64_t Meter::most_nano_usd(const Asked& asked) const {
  const auto known = prices_.price(asked.model);
  const std::optional<Price>& price = known ? known : fallback_;
  if (caps_.empty() || !price) return 0;
  const auto tokens = static_cast<std::int64_t>(asked.request_bytes / kRequestBytesPerToken) + 1;
  const std::int64_t output = asked.most_output_tokens.value_or(kMostOutputTokens);
  // Whether the prompt is new, or goes into the cache as well, only the answer tells.
  return std::max(forge::cost_nano_usd({.input = tokens, .output = output}, *price),
                  forge::cost_nano_usd({.output = output, .cache_write = tokens}, *price));
}

// Spent equals limit is too much already: the next response costs something.
std::int64_t Meter::spent_or_stop(const Cap& cap, const Stop& stop) {
  if (const std::int64_t spent = spent_under(cap); spent < cap.limit) return spent;
  {
    // Perhaps something was counted twice: asked again when all is in the store.
    auto spent = spent_.lock();
    if (!spent.wait_until(stop.token(), stop.deadline(), [](const Spent& now) { return now.unkept == 0 || !now.keeps; })) stop.check();
  }
  const std::int64_t spent = spent_under(cap);
  if (spent < cap.limit) return spent;
  const std::string scope(kScopes.at(static_cast<std::size_t>(cap.scope)));
  if (is_first(&Spent::stopped, cap.scope)) trace_.append(trace::Budget{spent, cap.limit, "stopped", scope});
  throw public_failure(ErrorCode::budget_exhausted,
                       "the budget of the " + scope + " is spent: " + format_usd(spent) + " of " + format_usd(cap.limit));
}

Reservations::Held Meter::reserve(const Asked& asked, const Stop& stop) {
  const std::int64_t most = most_nano_usd(asked);
  Reservations::Held held;
  if (most > 0) held = under_way_.line_up(job_, run_, most);
  while (true) {
    const std::uint64_t seen = under_way_.given_back();  // before the sums: see Held::take()
    warn();
    std::vector<Reservations::Room> rooms;
    for (const Cap& cap : caps_) rooms.push_back({cap.scope, cap.limit - spent_or_stop(cap, stop)});
    if (most == 0 || held.take(rooms, seen)) return held;
    held.wait(seen, stop);
  }
}

Meter::Counted Meter::count(const std::string& request_id, const std::string& model, const Usage& usage) {
  Counted counted{.request_id = request_id, .model = model, .usage = usage, .cost_nano_usd = {}, .price_hash = {}, .capped_nano_usd = 0};
  const auto row = prices_.find(model);
  if (row && row->price) {
    counted.cost_nano_usd = cost_nano_usd(usage, *row->price);
    counted.price_hash = row->hash;
  }
  counted.capped_nano_usd = counted.cost_nano_usd.value_or(fallback_ ? forge::cost_nano_usd(usage, *fallback_) : 0);
  auto spent = spent_.lock();
  spent->run += counted.capped_nano_usd;
  spent->unkept += counted.capped_nano_usd;
  return counted;
}

void Meter::keep(const Counted& counted) {
  store_.add_usage({run_, counted.request_id, counted.model, counted.usage, counted.cost_nano_usd, counted.price_hash});
  {
    auto spent = spent_.lock();
    spent->unkept -= counted.capped_nano_usd;
    spent.notify_all();
  }
  warn();
}

void Meter::keep_no_more() {
  auto spent = spent_.lock();
  spent->keeps = false;
  spent.notify_all();
}

std::optional<std::int64_t> Meter::record(const std::string& request_id, const std::string& model, const Usage& usage) {
  const Counted counted = count(request_id, model, usage);
  keep(counted);
  return counted.cost_nano_usd;
}

}  // namespace forge::egress
