#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/store/database.h"
#include "orchestrator/store/review_store.h"

/// Reading reviews of forge.db: one query for each kind of row, however many there are.
namespace forge::store {

/// What a change of a review is checked against.
struct ReviewHead {
  JobId job;
  std::int64_t revision = 1;
  ReviewStatus status = ReviewStatus::waiting;
};
/// Throws not_found for a run without a review.
ReviewHead read_review_head(Database& main, const RunId& run);

/// Nothing for a run without a review; the lists are empty then.
std::optional<ReviewRow> find_review(Database& main, const RunId& run);
/// By path.
std::vector<ViewedMark> list_viewed(Database& main, const RunId& run, const std::string& principal);
/// By principal and path.
std::vector<ReviewBeginning::Viewed> list_all_viewed(Database& main, const RunId& run);
/// Drafts included.
std::int64_t count_comments(Database& main, const RunId& run);
std::optional<ReviewComment> find_comment(Database& main, const RunId& run, const CommentId& comment);

/// The apply that a request with this key began, unless it failed. Nothing for an empty key.
std::optional<ApplyRow> find_apply(Database& main, const RunId& run, const std::string& key);
/// Throws not_found.
ApplyRow read_apply(Database& main, std::int64_t id);
bool has_pending_apply(Database& main, const RunId& run);
/// Oldest first.
std::vector<ApplyRow> list_pending_applies(Database& main);

/// The run that a request with this key made. Nothing for an empty key.
std::optional<RunId> find_requested_run(Database& main, const JobId& job, const std::string& key);

}  // namespace forge::store
