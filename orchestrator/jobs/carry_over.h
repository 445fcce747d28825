#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/domain/review.h"
#include "orchestrator/store/review_store.h"

namespace forge::jobs {

/// A review as it stands, and the diff it is about.
struct EarlierReview {
  int run = 0;
  const CanonicalDiff& diff;
  const store::ReviewRow& row;
  std::vector<store::ReviewBeginning::Viewed> viewed;
};

/// Reads a file of the later run; nothing when that side has no such text file.
using ReadSide = std::function<std::optional<std::string>(DiffSide side, const std::string& path)>;

/// What the review of a later run of the same job begins with. A verdict goes to the hunk with the same id; where its hunk is gone and
/// another one changes the same lines of the base, that one gets it as stale. A comment goes where its quote now stands, nearest to where
/// it was; without such a place it is stale. Viewed marks go to files that are the same.
store::ReviewBeginning carried_over(const EarlierReview& earlier, const CanonicalDiff& diff, const ReadSide& read);

/// The line at which `quote` stands in `content`, nearest to `line`; both count from 1. Nothing when it stands nowhere, or is empty.
std::optional<int> find_quote(const std::string& content, const std::string& quote, int line);
/// Lines `start` to `end` of `content`, without the last line's end; nothing when there are not so many.
std::optional<std::string> lines_of(const std::string& content, int start, int end);

}  // namespace forge::jobs
