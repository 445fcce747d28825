#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/clock.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/base/log.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/domain/principal.h"
#include "orchestrator/domain/review_control.h"
#include "orchestrator/jobs/review_source.h"

namespace forge::jobs {

/// Turns accepted hunks into a commit. What is going to be done is stored first, so that a process that dies in between leaves a plan that
/// the next one completes to the same commit. Thread-safe.
class Applies {
 public:
  Applies(store::Store& store, git::RepositoryCache& git, const Clock& clock, Log& log)
      : store_(store), git_(git), clock_(clock), log_(log) {}

  /// ReviewControl::apply. A key that was used before gives what it gave then; busy while that is still under way.
  AppliedReview apply(const Principal& who, const ReviewedRun& reviewed, const store::ReviewRow& review, const ApplyRequest& request,
                      const Stop& stop);

  /// Applies that stand in the store as pending while nobody is at work on them: a dead process left them.
  void inherit(std::vector<store::ApplyRow> pending);
  /// Takes one of them, of that run if one is named, for complete_left(): whoever takes it is the only one at work on it.
  std::optional<store::ApplyRow> take_left(const std::optional<RunId>& run);
  /// Completes it. One that fails is logged and given up: false. When `stop` ends it, it is left for the next one, and cancelled is thrown.
  bool complete_left(const store::ApplyRow& row, const Stop& stop);

 private:
  AppliedReview complete(const store::ApplyRow& row, const Stop& stop);
  void push(const std::string& repository, const store::ApplyRow& row, const AppliedReview& outcome, const Stop& stop);
  /// False when the branch is not at `expected`.
  void give_up(const store::ApplyRow& row, const std::exception& why);

  store::Store& store_;
  git::RepositoryCache& git_;
  const Clock& clock_;
  Log& log_;
  Guarded<std::vector<store::ApplyRow>> left_;
};

}  // namespace forge::jobs
