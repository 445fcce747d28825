#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/domain/review_control.h"
#include "orchestrator/jobs/applies.h"
#include "orchestrator/jobs/listeners.h"
#include "orchestrator/jobs/review_source.h"

namespace forge::jobs {

/// What reviews work with. References outlive them.
struct ReviewParts {
  store::Store& store;
  git::RepositoryCache& git;
  const Clock& clock;
  Log& log;
  std::function<void()> check_open;  ///< throws unavailable when no new run may be made
  std::function<void()> run_added;   ///< a run was queued
};

/// Reviews as the doors see them.
class Reviews final : public ReviewControl {
 public:
  explicit Reviews(ReviewParts parts);

  Review review(const Principal& who, const std::string& job, int run, const Stop& stop) override;
  Review edit(const Principal& who, const std::string& job, int run, std::optional<std::int64_t> revision, const ReviewEdit& edit,
              const Stop& stop) override;
  ReviewComment add_comment(const Principal& who, const std::string& job, int run, const NewComment& comment, const Stop& stop) override;
  ReviewComment edit_comment(const Principal& who, const std::string& job, int run, const CommentId& comment,
                             const CommentEdit& edit) override;
  void delete_comment(const Principal& who, const std::string& job, int run, const CommentId& comment) override;
  AppliedReview apply(const Principal& who, const std::string& job, int run, const ApplyRequest& request, const Stop& stop) override;
  Run send_back(const Principal& who, const std::string& job, int run, const SendBackRequest& request, const Stop& stop) override;
  Review dismiss(const Principal& who, const std::string& job, int run, std::int64_t revision, const Stop& stop) override;
  FileView file(const std::string& job, int run, DiffSide side, const std::string& path, const Stop& stop) override;
  Interdiff interdiff(const std::string& job, int run, int since_run, const Stop& stop) override;
  std::string patch(const std::string& job, int run, PatchPart part, const Stop& stop) override;
  std::shared_ptr<void> subscribe(Listener listener) override;

  /// Applies that a dead process left pending: complete_left() completes them, and so does whoever wants to end one of their reviews.
  void inherit(std::vector<store::ApplyRow> pending);
  void complete_left(const Stop& stop);

 private:
  void settle(const ReviewedRun& reviewed, const Stop& stop);
  Review shown(const Principal& who, const ReviewedRun& reviewed, const Stop& stop);
  void tell(const JobId& job, int run);

  const ReviewParts parts_;
  ReviewSource source_;
  Applies applies_;
  Listeners<const JobId&, int, std::int64_t, ReviewStatus> listeners_;
};

}  // namespace forge::jobs
