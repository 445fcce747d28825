#pragma once

#include <string>

#include "orchestrator/domain/principal.h"
#include "orchestrator/domain/review_control.h"
#include "orchestrator/jobs/review_source.h"

namespace forge::jobs {

/// The review as `who` sees it: hunks in the order of the diff with their marks, everybody's comments and own drafts.
Review shown_review(const Principal& who, const ReviewedRun& reviewed, const store::ReviewRow& row, const std::vector<ViewedMark>& viewed);

/// An edit in the words of the store. Throws bad_input for what the diff does not have, what is too long, and for an edit that says
/// nothing.
store::ReviewChange change_of(const ReviewEdit& edit, const ReviewedRun& reviewed, const Principal& who);

/// What is stored of a new comment. `content` is the file it speaks of, as people read it. Throws bad_input for lines that are not there,
/// a quote that does not stand there, and texts that are empty or too long.
ReviewComment comment_of(const NewComment& comment, const std::string& content, const Principal& who);
/// The comment with what `edit` changes. Throws bad_input like comment_of, and for one that was sent and is to be a draft again.
ReviewComment edited(ReviewComment comment, const CommentEdit& edit);

}  // namespace forge::jobs
