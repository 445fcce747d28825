#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/log.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/domain/job_control.h"
#include "orchestrator/git/review_trees.h"

namespace forge::git {

/// Credentials of one HTTP(S) host: sent by the network child as basic authentication, never in argv, URL or environment.
struct Credential {
  std::string host;      ///< "git.example.com" or "127.0.0.1:8080"
  std::string username;  ///< "x-access-token" where the host does not care
  std::string secret;
};

struct CacheOptions {
  std::string directory;       ///< holds mirrors/ and checkouts/
  std::string helper_program;  ///< this executable: `helper_program git-network` is the killable child
  std::int64_t mirrors_max_bytes = 20LL << 30;
  std::int64_t checkouts_max_bytes = 10LL << 30;
  std::string author_name = "Forge";
  std::string author_email = "forge@localhost";
  std::vector<Credential> credentials;
  std::string ca_file;                                              ///< PEM file of the authorities trusted for https; empty: the machine's
  std::chrono::milliseconds idle_limit = std::chrono::seconds(60);  ///< a server that moves no byte for so long is given up
  Log& log;
};

/// A commit to work on, resolved and present in the mirror.
struct Base {
  std::string repository;  ///< as the job named it
  std::string mirror;      ///< git directory
  std::string ref;         ///< "refs/heads/main"; empty when the base was a commit id
  std::string commit;      ///< 40 hex digits
  std::string tree;
  std::int64_t uncommitted_files = 0;  ///< of a local, dirty work tree: they are not included
};

/// Holds one immutable checkout; it is not evicted while this lives.
class Checkout {
 public:
  virtual ~Checkout() = default;
  /// Files of the commit as blobs are (no filters), directories 0755, files 0644 or 0755; without .git. Never write to it.
  virtual const std::string& directory() const = 0;
  /// Submodules and LFS pointers: shown, not followed.
  virtual const std::vector<std::string>& notes() const = 0;
};

/// One changed path on its way into a commit; the names are judged here (docs/security.md), refusals are findings.
class CommitBuilder {
 public:
  virtual ~CommitBuilder() = default;
  using Read = std::function<std::size_t(char* buffer, std::size_t size)>;
  virtual void add_file(const std::string& path, bool executable, std::int64_t size, const Read& read) = 0;
  virtual void add_symlink(const std::string& path, const std::string& target) = 0;
  virtual void remove(const std::string& path) = 0;

  struct Finding {
    std::string kind;
    std::string path;
    std::string message;
  };
  struct Message {
    std::string subject;
    std::string body;
    std::vector<std::pair<std::string, std::string>> trailers;
  };
  struct Result {
    std::string commit;  ///< empty when the tree equals the base's
    std::string tree;
    std::vector<Finding> findings;
  };
  /// Commits on the base and points refs/forge/runs/<branch> of the mirror at it. Once.
  virtual Result commit(const Message& message, const std::string& branch, const Stop& stop) = 0;
};

/// Git as the orchestrator uses it: bare mirror per repository > immutable checkout per tree > commit from base and changes > push.
/// Nothing that a sandbox could write is ever opened as a repository. Network transfers run in a child that is killed at the deadline.
/// Thread-safe; outlives the checkouts and builders it gave out.
/// Errors, all with a client text: not_found (no such repository or ref), unauthenticated, unavailable (unreachable, silent server),
/// timed_out, unsupported (SHA-256 repository, ssh URL), invalid_argument (not a repository, empty repository), conflict (branch exists),
/// limit_exceeded.
class RepositoryCache : public ReviewTrees {
 public:
  /// The branches that are there now, sorted, the default one first; brings nothing here.
  virtual Branches branches(const std::string& repository, const Stop& stop) = 0;
  /// Brings the mirror up to date and resolves `base` ("" = HEAD; branch, tag, full or short commit id).
  virtual Base fetch(const std::string& repository, const std::string& base, const Stop& stop) = 0;
  /// The same base with the tree of a commit that a run made: what a later run begins with. A commit built on it has `base` as its parent
  /// and is compared with that tree. Throws not_found when the mirror no longer holds the commit.
  virtual Base with_tree_of(const Base& base, const std::string& commit) = 0;
  virtual std::unique_ptr<Checkout> checkout(const Base& base, const Stop& stop) = 0;
  /// AGENTS.md and CLAUDE.md of the base commit's root, at most 64 KiB each, with a heading naming the file; "" when there are none.
  virtual std::string instructions(const Base& base) = 0;
  virtual std::unique_ptr<CommitBuilder> build_commit(const Base& base) = 0;
  /// Renames at 50 %, 3 context lines, binary patches included. Throws limit_exceeded past max_bytes.
  virtual Diff diff(const Base& base, const std::string& commit, std::int64_t max_bytes, const Stop& stop) = 0;
  /// Pushes the run's commit as refs/heads/<branch>, which must not exist there.
  virtual void push(const Base& base, const std::string& commit, const std::string& branch, const Stop& stop) = 0;
};

std::unique_ptr<RepositoryCache> open_repository_cache(CacheOptions options);

/// Body of the hidden verb `git-network`: reads one request from descriptor 3, does the transfer, answers there. Returns the exit status.
int run_network_child();

/// "https://user:pw@host/x" > "https://host/x": what may be shown.
std::string without_credentials(const std::string& url);
/// http(s), file:// or a path. Throws invalid_argument or unsupported with what would be right, before anything is made.
void check_repository_name(const std::string& repository);
/// The path that a repository's name stands for on this machine, decoded; nothing for one over the network. Throws the same.
std::optional<std::string> local_path(const std::string& repository);

}  // namespace forge::git
