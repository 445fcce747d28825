#include "orchestrator/git/push_target.h"

namespace forge::git {

PushStep next_step(const PushTarget& target, const std::string& present, const std::string& commit, const std::string& where) {
  const std::string subject = "the branch '" + target.branch + "' ";
  if (target.expected_old && present == commit) return PushStep::done;
  if (present == target.expected_old.value_or("")) return present.empty() ? PushStep::create : PushStep::replace;
  if (present.empty())
    throw public_failure(ErrorCode::conflict, subject + "is no longer " + where)
        .with_hint("somebody removed it; look there, and try again");
  if (target.expected_old.value_or("").empty()) throw public_failure(ErrorCode::conflict, subject + "exists already " + where);
  throw public_failure(ErrorCode::conflict, subject + "was moved by somebody else " + where)
      .with_hint("look at what it holds now; rename or delete it there, and try again");
}

}  // namespace forge::git
