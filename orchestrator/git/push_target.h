#pragma once

#include <optional>
#include <string>

#include "orchestrator/base/error.h"

namespace forge::git {

/// Where a commit is to go.
struct PushTarget {
  std::string branch;
  /// The commit that the branch must point at; "": it must not exist. Being at the new commit already is then fine: a push whose answer got
  /// lost. Nothing: the branch must be new, whatever it points at.
  std::optional<std::string> expected_old;
};

enum class PushStep { create, replace, done };
/// What is to be done when the branch points at `present` ("": it does not exist). `where` ends the sentence: "there", "in '/srv/x'".
/// Throws conflict when the branch is not as expected.
PushStep next_step(const PushTarget& target, const std::string& present, const std::string& commit, const std::string& where);

}  // namespace forge::git
