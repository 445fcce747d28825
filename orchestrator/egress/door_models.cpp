#include "orchestrator/egress/door_models.h"

#include <algorithm>
#include <utility>

#include "orchestrator/base/error.h"

namespace forge::egress {
namespace {

// As many as one agent keeps busy; more would only hold sockets of the provider.
constexpr std::size_t kMostKept = 16;

/// A model of the configuration, or nothing when this installation does not have it.
std::unique_ptr<DoorModel> make_if_there(const models::ModelFactory& factory, const std::string& name) {
  try {
    return std::make_unique<DoorModel>(factory.upstream(name));
  } catch (const Error& e) {
    if (e.code() != ErrorCode::invalid_argument && e.code() != ErrorCode::not_found) throw;
    return nullptr;
  }
}

}  // namespace

std::unique_ptr<models::Transport> DoorModel::take() {
  {
    auto free = free_.lock();
    if (!free->empty()) {
      auto transport = std::move(free->back());
      free->pop_back();
      return transport;
    }
  }
  return upstream.make_transport();
}

void DoorModel::give_back(std::unique_ptr<models::Transport> transport) {
  auto free = free_.lock();
  if (free->size() < kMostKept) free->push_back(std::move(transport));
}

DoorModels::DoorModels(const models::ModelFactory& factory, const models::PriceBook& prices, const std::string& job_model,
                       const Rules& rules) {
  models_.push_back(std::make_unique<DoorModel>(factory.upstream(job_model)));
  for (const std::string& name : rules.allowed) {
    auto model = make_if_there(factory, name);
    const bool known = model && std::any_of(models_.begin(), models_.end(),
                                            [&](const auto& other) { return other->upstream.name == model->upstream.name; });
    if (!model || known || (rules.priced_only && !prices.price(model->upstream.name))) continue;
    models_.push_back(std::move(model));
  }
  for (const auto& model : models_) {
    add(model->upstream.model, *model);
    if (model->upstream.provider != "scripted") add(model->upstream.name, *model);  // a script's path is nobody's business inside
  }
  for (const auto& [alias, target] : rules.aliases) {
    const auto meant = make_if_there(factory, target);
    for (const auto& model : models_)
      if (meant && meant->upstream.name == model->upstream.name) add(alias, *model);
  }
}

// The first to have a name keeps it: two providers may have a model of one name, and the job's own goes first.
void DoorModels::add(const std::string& name, DoorModel& model) {
  if (by_name_.emplace(name, &model).second) names_.push_back(name);
}

DoorModel& DoorModels::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return *found->second;
  std::string list;
  for (const std::string& known : names_) list += (list.empty() ? "" : ", ") + known;
  throw public_failure(ErrorCode::not_found, "the model '" + name.substr(0, 100) + "' may not be asked for in this run; there is: " + list);
}

}  // namespace forge::egress
