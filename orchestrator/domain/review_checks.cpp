#include "orchestrator/domain/review_checks.h"

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/domain/words.h"

namespace forge {

void check_comment(const NewComment& comment) {
  check_words("quote", comment.quote, kCommentBytes);
  check_words("body", comment.body, kCommentBytes);
  if (trim(comment.body).empty() && !comment.suggestion) throw bad_input("body", "is empty", "say something, or suggest other lines");
  if (!comment.suggestion) return;
  check_words("suggestion", *comment.suggestion, kCommentBytes);
  if (comment.side == DiffSide::base) throw bad_input("suggestion", "lines of the base cannot be replaced", "comment on the head side");
}

bool is_shared(const ReviewEdit& edit) { return edit.summary || !edit.marks.empty() || !edit.suggestions.empty() || edit.send_drafts; }

}  // namespace forge
