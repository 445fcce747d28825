#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "orchestrator/base/guarded.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/domain/review.h"
#include "orchestrator/git/repository_cache.h"
#include "orchestrator/store/store.h"

namespace forge::jobs {

/// A run that has ended and left changes, with its diff.
struct ReviewedRun {
  Job job;
  Run run;
  std::shared_ptr<const CanonicalDiff> diff;
};

/// What reviews are about: runs, their diffs and files. Thread-safe.
class ReviewSource {
 public:
  /// Diffs kept, so that a person who decides hunk after hunk waits for each diff once.
  static constexpr std::size_t kKeptDiffs = 8;

  ReviewSource(store::Store& store, git::RepositoryCache& git) : store_(store), git_(git) {}

  /// `number` 0 = the latest. Throws not_found; conflict while the run lives, and when it left no changes.
  std::pair<Job, Run> ended_run(const std::string& job, int number);
  /// The same with the diff.
  ReviewedRun find(const std::string& job, int number, const Stop& stop);
  /// Its review; made now, with what is carried over from the one before, when nobody has looked at it yet.
  store::ReviewRow open(const ReviewedRun& reviewed, const Stop& stop);
  /// A file as people read it: UTF-8, lines ended by '\n' alone. Throws not_found, limit_exceeded; invalid_argument for what is no text.
  std::string text(const ReviewedRun& reviewed, DiffSide side, const std::string& path, const Stop& stop);

 private:
  using KeptDiff = std::pair<RunId, std::shared_ptr<const CanonicalDiff>>;

  std::shared_ptr<const CanonicalDiff> diff(const Job& job, const Run& run, const Stop& stop);
  /// Empty when the mirror has lost the run's result: hunks that are the same are still known by their ids.
  std::shared_ptr<const CanonicalDiff> kept_diff(const Job& job, const Run& run, const Stop& stop);
  /// Nothing when it is not there, too large, or no text.
  std::optional<std::string> text_if_any(const ReviewedRun& reviewed, DiffSide side, const std::string& path, const Stop& stop);
  store::ReviewBeginning beginning(const ReviewedRun& reviewed, const Stop& stop);

  store::Store& store_;
  git::RepositoryCache& git_;
  Guarded<std::deque<KeptDiff>> kept_;  // the latest used first
};

/// The commit that holds one side of a run's diff.
const std::string& commit_of(const Run& run, DiffSide side);

}  // namespace forge::jobs
