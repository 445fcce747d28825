#pragma once

#include <string>
#include <vector>

#include "orchestrator/domain/review_control.h"

namespace forge::cli {

/// Hunks as a person names them: by the number in the list, by the first 6 digits or more of the id, by file, or "all".
struct HunkChoice {
  std::vector<std::string> accept;
  std::vector<std::string> reject;
  std::vector<std::string> undecide;
  std::string reason;  ///< of those that are rejected
  bool empty() const { return accept.empty() && reject.empty() && undecide.empty(); }
};

/// The marks that make the review what was chosen; those that are there already are left alone, with the name of who made them. What is
/// said of a hunk goes before what is said of its file, and that before "all": `--accept all --reject 3`.
/// Throws bad_input for what is not in the review, and for a hunk of which two things are said.
std::vector<ReviewEdit::Mark> chosen_marks(const Review& review, const HunkChoice& choice);

}  // namespace forge::cli
