#pragma once

#include <memory>
#include <string>

#include "orchestrator/git/repository_cache.h"
#include "orchestrator/git/run_commit.h"

namespace forge::git {

/// A builder on `base`. What is too large, cannot be named, is ignored by the base or lies in a submodule is left out with a finding; the
/// rest is committed. Throws limit_exceeded past a million entries or 8 GiB.
std::unique_ptr<CommitBuilder> make_commit_builder(const Base& base, CommitSettings settings);

/// Subject, blank line, body, blank line, trailers; always valid for git, whatever an agent wrote.
std::string commit_text(const CommitBuilder::Message& message);

}  // namespace forge::git
