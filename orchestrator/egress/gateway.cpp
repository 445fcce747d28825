#include "orchestrator/egress/gateway.h"

#include <string>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/egress/meter.h"

namespace forge::egress {
namespace {

/// Passes on what is heard, and meters what dropped attempts were billed.
class MeteringObserver final : public models::ModelObserver {
 public:
  MeteringObserver(models::ModelObserver& inner, Meter& meter, TraceSink& trace, const std::string& model, std::optional<int> turn)
      : inner_(inner), meter_(meter), trace_(trace), model_(model), turn_(turn) {}

  void text_delta(std::string_view delta) override { inner_.text_delta(delta); }
  void thinking_delta(std::string_view delta) override { inner_.thinking_delta(delta); }
  /// Dropped attempts were billed as well: the next one is a call like the first, and must be covered like it.
  void retrying(const Retry& retry) override {
    meter_.check();
    inner_.retrying(retry);
  }
  void wasted(const Usage& usage) override {
    const auto cost = meter_.record("", model_, usage);
    trace_.append(trace::Model{.request_id = {}, .model = model_, .usage = usage, .cost_nano_usd = cost, .stop_reason = "dropped"}, turn_);
    inner_.wasted(usage);
  }

 private:
  models::ModelObserver& inner_;
  Meter& meter_;
  TraceSink& trace_;
  const std::string& model_;
  const std::optional<int> turn_;
};

/// The only way to a model: no room beside this one is handed an unmetered one.
class MeteredModel final : public models::Model {
 public:
  MeteredModel(std::unique_ptr<models::Model> inner, Meter meter, TraceSink& trace)
      : inner_(std::move(inner)), meter_(std::move(meter)), trace_(trace) {}

  const std::string& name() const override { return inner_->name(); }
  std::int64_t context_window() const override { return inner_->context_window(); }

  models::ModelResponse complete(const models::ModelRequest& request, models::ModelObserver& observer, const Stop& stop) override {
    meter_.check();  // may throw: nothing was sent yet
    const auto turn = request.turn > 0 ? std::optional(request.turn) : std::nullopt;
    MeteringObserver metering(observer, meter_, trace_, inner_->name(), turn);
    auto response = inner_->complete(request, metering, stop);
    const auto cost = meter_.record(response.request_id, inner_->name(), response.usage);
    trace_.append(trace::Model{response.request_id, inner_->name(), response.usage, cost, response.time_to_first_token_ms,
                               response.duration_ms, std::string(models::name_of(response.stop_reason))},
                  turn);
    return response;
  }

 private:
  std::unique_ptr<models::Model> inner_;
  Meter meter_;
  TraceSink& trace_;
};

}  // namespace

namespace {

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
  const auto model = make_asked(models_, spec.model);
  if (!has_budget(spec) || options_.unpriced == Unpriced::allow || options_.fallback || prices_.price(model->name())) return;
  throw bad_input("model", "the model '" + model->name() + "' has no price, so its budget could not be kept",
                  "give its price in models.prices_file, set models.fallback_price, or set budget.unpriced = \"allow\"");
}

std::unique_ptr<models::Model> Gateway::model_for(const Job& job, const Run& run, TraceSink& trace) const {
  auto model = models_.make(job.spec.model);
  Meter meter(store_, clock_, trace, job, run, {job.spec.budget_nano_usd, options_.job_nano_usd, options_.day_nano_usd},
              prices_.find(model->name()), options_.fallback);
  return std::make_unique<MeteredModel>(std::move(model), std::move(meter), trace);
}

void Gateway::check_door(const JobSpec& spec, models::WireFormat wire) const {
  check(spec);
  if (models_.upstream(spec.model).speaks(wire)) return;
  throw bad_input("model", "the model '" + spec.model + "' is not to be had in the format that the agent speaks",
                  "name a model of a provider of kind " + std::string(models::name_of(wire)));
}

std::unique_ptr<ModelDoor> Gateway::open_door(const Job&, const Run&, TraceSink&, UniqueFd) const {
  throw Error(ErrorCode::unsupported, "the gateway has no door yet");
}

}  // namespace forge::egress
