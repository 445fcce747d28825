#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/stop.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/domain/review.h"

namespace forge::git {

struct Diff {
  std::string text;  ///< unified, git apply takes it; bytes as they are
  DiffStat stat;
};

/// Lines of the head side that are to be others.
struct Suggestion {
  std::string comment;  ///< CommentId as text: for errors
  std::string path;     ///< at head
  int start_line = 1;   ///< of the head side, from 1
  int end_line = 1;     ///< the last one; not before start_line
  std::string text;     ///< lines in their place, '\n' between them; empty: they go
};

/// What is to become a commit. The same acceptance makes the same commit.
struct Acceptance {
  std::string repository;  ///< as the job named it
  std::string base_commit;
  std::string head_commit;
  std::vector<std::string> hunks;  ///< ids from compare(base_commit, head_commit); each at most once
  std::vector<Suggestion> suggestions;
  std::string message;
  std::string branch;  ///< refs/forge/runs/<branch> of the mirror points at the commit from then on
  std::int64_t time_ms = 0;
};
struct AcceptedCommit {
  std::string commit;
  std::string tree;  ///< equal to the base's when nothing was accepted
};

/// One file of a commit.
struct FileAt {
  std::string blob;  ///< 40 hex digits
  std::string mode;  ///< "100644", "100755" or "120000"
  std::string content;
};

/// A patch, and a canonical diff's hunks together: a run's diff is far below it.
inline constexpr std::int64_t kReviewDiffBytes = 256LL << 20;

/// What reviews need of a repository: hunks, commits of some of them, files, and a push that knows what it replaces. All but the push work
/// on the mirror alone and read nothing from the network. Safe to call from any thread.
/// Errors: not_found when the mirror no longer holds a commit; limit_exceeded past kReviewDiffBytes; and those named.
class ReviewTrees {
 public:
  virtual ~ReviewTrees() = default;

  /// Tree against tree: 3 context lines, Myers, renames at 50 %, every byte kept. A path that changed its type is one file.
  virtual CanonicalDiff compare(const std::string& repository, const std::string& from_commit, const std::string& to_commit,
                                const Stop& stop) = 0;

  /// One commit on base_commit with the accepted hunks, and the suggestions put into them. Throws bad_input for an unknown hunk and for a
  /// suggestion's lines that head does not have; conflict, naming the paths, when accepted hunks cannot stand without one that is not
  /// accepted, when a suggestion's lines are not in the result, and when suggestions overlap.
  virtual AcceptedCommit accept(const Acceptance& acceptance, const Stop& stop) = 0;

  /// Unified diff of the named hunks (nothing: all) on base_commit, which git apply takes. Throws bad_input for an unknown hunk; conflict
  /// as accept() does.
  virtual std::string patch(const std::string& repository, const std::string& base_commit, const std::string& head_commit,
                            const std::optional<std::vector<std::string>>& hunks, const Stop& stop) = 0;

  /// Throws not_found (no such file, or a directory), limit_exceeded past max_bytes, unsupported for a submodule.
  virtual FileAt file(const std::string& repository, const std::string& commit, const std::string& path, std::int64_t max_bytes,
                      const Stop& stop) = 0;

  /// From the tree of the one commit to that of the other; neither need be an ancestor. Throws limit_exceeded past max_bytes.
  virtual Diff text_diff(const std::string& repository, const std::string& from_commit, const std::string& to_commit,
                         std::int64_t max_bytes, const Stop& stop) = 0;

  /// Makes refs/heads/<branch> of the repository itself point at a commit of the mirror. `expected_old` is the commit it must point at
  /// now; empty: it must not exist. Already at `commit`: done. Throws conflict otherwise, and the errors of RepositoryCache::push().
  virtual void push_expecting(const std::string& repository, const std::string& commit, const std::string& branch,
                              const std::string& expected_old, const Stop& stop) = 0;
};

}  // namespace forge::git
