#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "orchestrator/base/guarded.h"
#include "orchestrator/models/price_book.h"
#include "orchestrator/models/providers.h"

namespace forge::egress {

/// One model that may be asked for at a door, with the connections to it that are free at the moment.
class DoorModel {
 public:
  explicit DoorModel(models::Upstream to) : upstream(std::move(to)) {}

  const models::Upstream upstream;

  /// A connection for one exchange. It goes back when the exchange ended well, so that the next one needs no handshake.
  std::unique_ptr<models::Transport> take();
  void give_back(std::unique_ptr<models::Transport> transport);

 private:
  Guarded<std::vector<std::unique_ptr<models::Transport>>> free_;
};

/// Which models may be asked for at a door, and under which names.
class DoorModels {
 public:
  struct Rules {
    std::map<std::string, std::string> aliases;  ///< what agents may call a model > its name
    std::vector<std::string> allowed;            ///< models beside the job's own
    bool priced_only = false;                    ///< a budget could not be kept with others
  };
  /// `job_model` is that of the job. Models of the rules that are not to be had are left out: what a configuration names for some jobs
  /// must not fail the others. Throws what ModelFactory::upstream() does for the job's own.
  DoorModels(const models::ModelFactory& factory, const models::PriceBook& prices, const std::string& job_model, const Rules& rules);

  /// The model that a request names: the job's, one of the allowed ones, or an alias of any of these. Throws not_found, naming the names
  /// that there are.
  DoorModel& find(const std::string& name) const;
  /// Whether the job cannot go on without it.
  bool is_job_model(const DoorModel& model) const { return &model == models_.front().get(); }
  const DoorModel& job_model() const { return *models_.front(); }
  /// Every name, that of the job's model first.
  const std::vector<std::string>& names() const { return names_; }

 private:
  void add(const std::string& name, DoorModel& model);

  std::vector<std::unique_ptr<DoorModel>> models_;
  std::map<std::string, DoorModel*> by_name_;
  std::vector<std::string> names_;
};

}  // namespace forge::egress
