#include "orchestrator/egress/gateway.h"

#include <string>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/egress/door.h"
#include "orchestrator/egress/host_rules.h"
#include "orchestrator/egress/meter.h"
#include "orchestrator/models/conversation.h"

namespace forge::egress {
namespace {

/// Passes on what is heard, and meters what dropped attempts were billed.
class MeteringObserver final : public models::ModelObserver {
 public:
  /// What a call is metered by; all of it outlives the observer.
  struct Call {
    Meter& meter;
    TraceSink& trace;
    const Meter::Asked& asked;
    Reservations::Held& held;
    std::optional<int> turn;
    const Stop& stop;
  };
  MeteringObserver(models::ModelObserver& inner, const Call& call) : inner_(inner), call_(call) {}

  void text_delta(std::string_view delta) override { inner_.text_delta(delta); }
  void thinking_delta(std::string_view delta) override { inner_.thinking_delta(delta); }
  /// Dropped attempts were billed as well: the next one is a call like the first, and must be covered like it.
  void retrying(const Retry& retry) override {
    call_.held.release();
    call_.held = call_.meter.reserve(call_.asked, call_.stop);
    inner_.retrying(retry);
  }
  void wasted(const Usage& usage) override {
    const auto cost = call_.meter.record("", call_.asked.model, usage);
    call_.trace.append(
        trace::Model{.request_id = {}, .model = call_.asked.model, .usage = usage, .cost_nano_usd = cost, .stop_reason = "dropped"},
        call_.turn);
    inner_.wasted(usage);
  }

 private:
  models::ModelObserver& inner_;
  const Call call_;
};

/// The only way to a model: no room beside this one is handed an unmetered one.
class MeteredModel final : public models::Model {
 public:
  MeteredModel(std::unique_ptr<models::Model> inner, std::unique_ptr<Meter> meter, TraceSink& trace)
      : inner_(std::move(inner)), meter_(std::move(meter)), trace_(trace) {}

  const std::string& name() const override { return inner_->name(); }
  std::int64_t context_window() const override { return inner_->context_window(); }

  models::ModelResponse complete(const models::ModelRequest& request, models::ModelObserver& observer, const Stop& stop) override {
    const Meter::Asked asked{
        .model = inner_->name(), .request_bytes = models::request_bytes(request), .most_output_tokens = request.max_output_tokens};
    Reservations::Held held = meter_->reserve(asked, stop);  // may throw: nothing was sent yet
    const auto turn = request.turn > 0 ? std::optional(request.turn) : std::nullopt;
    MeteringObserver metering(observer, {*meter_, trace_, asked, held, turn, stop});
    auto response = inner_->complete(request, metering, stop);
    const auto cost = meter_->record(response.request_id, inner_->name(), response.usage);
    trace_.append(trace::Model{.request_id = response.request_id,
                               .model = inner_->name(),
                               .usage = response.usage,
                               .cost_nano_usd = cost,
                               .time_to_first_token_ms = response.time_to_first_token_ms,
                               .duration_ms = response.duration_ms,
                               .stop_reason = std::string(models::name_of(response.stop_reason)),
                               .usage_estimated = response.usage_estimated},
                  turn);
    return response;
  }

 private:
  std::unique_ptr<models::Model> inner_;
  std::unique_ptr<Meter> meter_;
  TraceSink& trace_;
};

/// A script that is not there is a mistake in the request, like a model that is not.
std::unique_ptr<models::Model> make_asked(const models::ModelFactory& models, const std::string& name) {
  try {
    return models.make(name);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::invalid_argument || e.client_text().empty()) throw;
    throw bad_input("model", e.client_text(), e.hint());
  }
}

}  // namespace

// Said when the job is made: a run that finds out has fetched, copied and acquired for nothing.
void Gateway::check(const JobSpec& spec) const {
  HostRules::parse_allowed(spec.network.allow_hosts, "network.allow_hosts");
  const auto model = make_asked(models_, spec.model);
  if (!priced_only(spec) || prices_.price(model->name())) return;
  throw bad_input("model", "the model '" + model->name() + "' has no price, so its budget could not be kept",
                  "give its price in models.prices_file, set models.fallback_price, or set budget.unpriced = \"allow\"");
}

std::unique_ptr<models::Model> Gateway::model_for(const Job& job, const Run& run, TraceSink& trace) const {
  auto model = models_.make(job.spec.model);
  return std::make_unique<MeteredModel>(std::move(model), make_meter(job, run, trace), trace);
}

std::unique_ptr<Meter> Gateway::make_meter(const Job& job, const Run& run, TraceSink& trace) const {
  const Meter::Caps caps{job.spec.budget_nano_usd, options_.job_nano_usd, options_.day_nano_usd};
  return std::make_unique<Meter>(store_, clock_, trace, job, run, caps, prices_, options_.fallback, *under_way_);
}

void Gateway::check_door(const JobSpec& spec, models::WireFormat wire) const {
  check(spec);
  if (models_.upstream(spec.model).speaks(wire)) return;
  throw bad_input("model", "the model '" + spec.model + "' is not to be had in the format that the agent speaks",
                  "name a model of a provider of kind " + std::string(models::name_of(wire)));
}

std::unique_ptr<ModelDoor> Gateway::open_door(const Job& job, const Run& run, TraceSink& trace, UniqueFd listener) const {
  check(job.spec);
  auto redactor = std::make_unique<Redactor>();
  for (const models::ProviderConfig& provider : models_.providers()) {
    redactor->add(provider.api_key);
    for (const net::HttpHeader& header : provider.headers) redactor->add(header.value);
  }
  const DoorModels::Rules rules{.aliases = options_.aliases, .allowed = options_.allowed, .priced_only = priced_only(job.spec)};
  return make_door({.models = std::make_unique<DoorModels>(models_, prices_, job.spec.model, rules),
                    .meter = make_meter(job, run, trace),
                    .redactor = std::move(redactor),
                    .trace = trace,
                    .log = log_,
                    .longest_answer = std::chrono::seconds(job.spec.limits.time_limit_s),
                    .listener = std::move(listener),
                    .name = "model door of run " + run.id.str()});
}

}  // namespace forge::egress
