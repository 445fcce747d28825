#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/clock.h"
#include "orchestrator/base/fd.h"
#include "orchestrator/base/log.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/domain/trace.h"
#include "orchestrator/egress/meter.h"
#include "orchestrator/egress/model_door.h"
#include "orchestrator/egress/reservations.h"
#include "orchestrator/models/model.h"
#include "orchestrator/models/price_book.h"
#include "orchestrator/models/providers.h"
#include "orchestrator/store/store.h"

namespace forge::egress {

/// What happens to a budget when the model has no price.
enum class Unpriced { refuse, allow };

/// Caps beside the run's own budget; nothing = no cap.
struct GatewayOptions {
  std::optional<std::int64_t> job_nano_usd;
  std::optional<std::int64_t> day_nano_usd;  ///< all jobs, by UTC day
  Unpriced unpriced = Unpriced::refuse;
  std::optional<Price> fallback = {};               ///< counts against budgets for models without a price; their stored cost stays null
  std::map<std::string, std::string> aliases = {};  ///< at doors: what an agent may call a model > the model's name
  std::vector<std::string> allowed = {};            ///< models that may be asked for at doors beside the job's own
};

/// Hands out models that are metered: the one place where usage is counted, priced, stored and stopped by a budget. Thread-safe.
class Gateway {
 public:
  /// All references must outlive the gateway, and that its models and doors.
  Gateway(const models::ModelFactory& models, const models::PriceBook& prices, store::Store& store, const Clock& clock, Log& log,
          GatewayOptions options)
      : models_(models), prices_(prices), store_(store), clock_(clock), log_(log), options_(std::move(options)) {}

  /// Throws invalid_argument: no such model, a bad script, a host that is none, or a budget that could not be kept because the model has no
  /// price.
  void check(const JobSpec& spec) const;

  /// The job's model for one run. complete() has room under every budget before it calls, or waits for it (budget_exhausted), stores a
  /// usage row and a `model` event for each response, and both for what dropped attempts were billed. Warns once at 80 % of a budget.
  /// `trace` must outlive the model.
  std::unique_ptr<models::Model> model_for(const Job& job, const Run& run, TraceSink& trace) const;

  /// Like check(), for an agent that reaches its model through a door and speaks `wire` there. Throws invalid_argument also when the
  /// model is not to be had in that format.
  void check_door(const JobSpec& spec, models::WireFormat wire) const;

  /// The job's model for an agent inside a sandbox. `listener`: the sandbox's 127.0.0.1:8080, by Sandbox::take_listener(kModelPort).
  /// `trace` must outlive the door. Throws what check() does.
  std::unique_ptr<ModelDoor> open_door(const Job& job, const Run& run, TraceSink& trace, UniqueFd listener) const;

  /// Requests that wait because others under way might spend the budget.
  std::size_t waiting_requests() const { return under_way_->waiting(); }

 private:
  /// One for each run's way to its model.
  std::unique_ptr<Meter> make_meter(const Job& job, const Run& run, TraceSink& trace) const;
  /// Nothing may run under a budget that could not be kept.
  bool priced_only(const JobSpec& spec) const { return has_budget(spec) && options_.unpriced == Unpriced::refuse && !options_.fallback; }
  bool has_budget(const JobSpec& spec) const { return spec.budget_nano_usd || options_.job_nano_usd || options_.day_nano_usd; }

  const models::ModelFactory& models_;
  const models::PriceBook& prices_;
  store::Store& store_;
  const Clock& clock_;
  Log& log_;
  const GatewayOptions options_;
  const std::unique_ptr<Reservations> under_way_ = std::make_unique<Reservations>();
};

}  // namespace forge::egress
