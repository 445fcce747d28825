#include <filesystem>

#include "orchestrator/base/text.h"
#include "orchestrator/git/accepted_commit.h"
#include "orchestrator/git/canonical_diff.h"
#include "orchestrator/git/checkout_store.h"
#include "orchestrator/git/commit_builder.h"
#include "orchestrator/git/diff.h"
#include "orchestrator/git/file_at.h"
#include "orchestrator/git/handles.h"
#include "orchestrator/git/hunk_patch.h"
#include "orchestrator/git/instructions.h"
#include "orchestrator/git/local_push.h"
#include "orchestrator/git/local_source.h"
#include "orchestrator/git/location.h"
#include "orchestrator/git/mirrors.h"
#include "orchestrator/git/network.h"
#include "orchestrator/git/object_link.h"
#include "orchestrator/git/repository_cache.h"
#include "orchestrator/git/resolve.h"
#include "orchestrator/git/transfer.h"

namespace forge::git {
namespace {

// More is "many"; the count is a warning.
constexpr std::int64_t kMaxUncommitted = 1000;

/// A transfer inside this process: it only has to end when asked.
class StopListener final : public TransferListener {
 public:
  explicit StopListener(const Stop& stop) : stop_(stop) {}
  void moved() override { stop_.check(); }
  void reached(std::string_view) override { stop_.check(); }

 private:
  const Stop& stop_;
};

Error no_commits(const std::string& name) {
  return public_failure(ErrorCode::invalid_argument, "'" + name + "' is empty: it has no branch with a commit")
      .in_field("repository")
      .with_hint("make a first commit in it");
}

/// Brings what a mirror lacks of a local source; returns the references that are whole now: the source may have moved on since `refs`.
RemoteRefs bring_new(const LocalSource& source, const RemoteRefs& refs, const std::string& git_dir, const std::string& named,
                     const Stop& stop) {
  // A shallow source has commits whose parents are missing, over which no transfer can walk.
  if (source.is_shallow()) {
    link_objects(source.objects_dir(), git_dir + "/objects", stop);
    return refs;
  }
  const Repository mirror = open_mirror(git_dir);
  StopListener listener(stop);
  return fetch_objects(mirror.get(), {.url = source.path(), .authority = "", .credential = {}}, named, listener);
}

/// A reference of the mirror for as long as a push needs it: libgit2 pushes references, not ids.
class PushedRef {
 public:
  PushedRef(const std::string& git_dir, const std::string& branch, const std::string& commit)
      : mirror_(open_mirror(git_dir)), name_("refs/forge/push/" + branch) {
    const git_oid id = oid_of(commit);
    receive<Reference>("naming the commit to push",
                       [&](git_reference** out) { return git_reference_create(out, mirror_.get(), name_.c_str(), &id, 1, nullptr); });
  }
  ~PushedRef() { git_reference_remove(mirror_.get(), name_.c_str()); }
  PushedRef(const PushedRef&) = delete;
  PushedRef& operator=(const PushedRef&) = delete;

  const std::string& name() const { return name_; }

 private:
  Repository mirror_;
  std::string name_;
};

class DiskRepositoryCache final : public RepositoryCache {
 public:
  explicit DiskRepositoryCache(CacheOptions options)
      : options_(std::move(options)),
        mirrors_(options_.directory + "/mirrors", options_.mirrors_max_bytes, options_.log),
        checkouts_(options_.directory + "/checkouts", options_.checkouts_max_bytes, options_.log),
        network_({.helper_program = options_.helper_program, .idle_limit = options_.idle_limit, .ca_file = options_.ca_file},
                 options_.log) {}

  Branches branches(const std::string& repository, const Stop& stop) override {
    return doing("listing the branches of '" + without_credentials(repository) + "'", [&] {
      const Location location = parse_location(repository);
      return branches_of(location.kind == Location::Kind::local ? LocalSource::open(location.path, stop).refs("")
                                                                : list_http(location, stop));
    });
  }

  Base fetch(const std::string& repository, const std::string& base, const Stop& stop) override {
    return doing("fetching '" + without_credentials(repository) + "'", [&] {
      const Location location = parse_location(repository);
      return location.kind == Location::Kind::local ? fetch_local(location, repository, base, stop)
                                                    : fetch_http(location, repository, base, stop);
    });
  }

  Base with_tree_of(const Base& base, const std::string& commit) override {
    const Repository mirror = open_mirror(base.mirror);
    git_commit* found = nullptr;
    const git_oid id = oid_of(commit);
    if (git_commit_lookup(&found, mirror.get(), &id) != 0)
      throw public_failure(ErrorCode::not_found, "the earlier run's result is no longer kept here")
          .with_hint("retry starts from the job's base");
    const Commit owned(found);
    Base other = base;
    other.tree = hex_of(*git_commit_tree_id(owned.get()));
    return other;
  }

  std::unique_ptr<Checkout> checkout(const Base& base, const Stop& stop) override {
    return doing("checking out " + base.commit, [&] { return checkouts_.get(base.mirror, base.tree, stop); });
  }

  std::string instructions(const Base& base) override { return read_instructions(base.mirror, base.tree); }

  std::unique_ptr<CommitBuilder> build_commit(const Base& base) override { return make_commit_builder(base, commit_settings()); }

  Diff diff(const Base& base, const std::string& commit, std::int64_t max_bytes, const Stop& stop) override {
    return doing("making the diff of " + commit, [&] { return diff_trees(base.mirror, base.tree, commit, max_bytes, stop); });
  }

  void push(const Base& base, const std::string& commit, const std::string& branch, const Stop& stop) override {
    push_to(base.repository, base.mirror, commit, {.branch = branch, .expected_old = {}}, stop);
  }

  CanonicalDiff compare(const std::string& repository, const std::string& from_commit, const std::string& to_commit,
                        const Stop& stop) override {
    return canonical_diff(compare_commits(mirror_of(repository), from_commit, to_commit, BinaryContent::none, stop), kReviewDiffBytes,
                          stop);
  }

  AcceptedCommit accept(const Acceptance& acceptance, const Stop& stop) override {
    return doing("accepting into '" + acceptance.branch + "'",
                 [&] { return commit_accepted(mirror_of(acceptance.repository), acceptance, commit_settings(), stop); });
  }

  std::string patch(const std::string& repository, const std::string& base_commit, const std::string& head_commit,
                    const std::optional<std::vector<std::string>>& hunks, const Stop& stop) override {
    const TreeComparison comparison = compare_commits(mirror_of(repository), base_commit, head_commit, BinaryContent::whole, stop);
    if (!hunks) return diff_text(comparison, kReviewDiffBytes, stop).text;
    return patch_of_hunks(comparison, canonical_diff(comparison, kReviewDiffBytes, stop), *hunks, kReviewDiffBytes, stop);
  }

  FileAt file(const std::string& repository, const std::string& commit, const std::string& path, std::int64_t max_bytes,
              const Stop& stop) override {
    stop.check();
    return file_at(mirror_of(repository), commit, path, max_bytes);
  }

  Diff text_diff(const std::string& repository, const std::string& from_commit, const std::string& to_commit, std::int64_t max_bytes,
                 const Stop& stop) override {
    return diff_text(compare_commits(mirror_of(repository), from_commit, to_commit, BinaryContent::whole, stop), max_bytes, stop);
  }

  void push_expecting(const std::string& repository, const std::string& commit, const std::string& branch, const std::string& expected_old,
                      const Stop& stop) override {
    const std::string mirror = mirror_of(repository);
    kept_commit(open_kept_mirror(mirror).get(), commit);
    push_to(repository, mirror, commit, {.branch = branch, .expected_old = expected_old}, stop);
  }

 private:
  CommitSettings commit_settings() const { return {.author_name = options_.author_name, .author_email = options_.author_email}; }

  /// Of a repository that may be gone: what is asked of the mirror alone must not need it.
  std::string mirror_of(const std::string& repository) const {
    const Location location = parse_location(repository);
    if (location.kind == Location::Kind::http) return mirrors_.path_of(location.url);
    std::error_code gone;
    const auto real = std::filesystem::canonical(location.path, gone);
    return mirrors_.path_of(gone ? location.path : real.string());
  }

  void push_to(const std::string& repository, const std::string& mirror, const std::string& commit, const PushTarget& target,
               const Stop& stop) {
    doing("pushing '" + target.branch + "'", [&] {
      const Location location = parse_location(repository);
      if (location.kind == Location::Kind::local) return push_to_local(mirror, location.path, commit, target, stop);
      NetworkRequest request = request_for(location, mirror);
      request.operation = NetworkRequest::Operation::push;
      const PushedRef pushed(mirror, target.branch, commit);
      request.source_ref = pushed.name();
      request.target = target;
      network_.push(request, stop);
    });
  }

  NetworkRequest request_for(const Location& location, const std::string& git_dir) const {
    NetworkRequest request;
    request.git_dir = git_dir;
    request.remote = location;
    request.credential = credential_for(location, options_.credentials);
    return request;
  }

  RemoteRefs list_http(const Location& location, const Stop& stop) {
    NetworkRequest request = request_for(location, "");
    request.operation = NetworkRequest::Operation::list;
    return network_.list(request, stop);
  }

  Base fetch_local(const Location& location, const std::string& repository, const std::string& base, const Stop& stop) {
    const LocalSource source = LocalSource::open(location.path, stop);
    const std::string named = named_ref(base);
    const std::string git_dir = mirrors_.path_of(source.path());
    RemoteRefs refs;
    mirrors_.refresh(git_dir, named, stop, [&] {
      refs = source.refs(named);
      if (refs.empty()) throw no_commits(location.path);
      bring_local(source, refs, git_dir, named, stop);
    });
    Base found = resolve(git_dir, repository, base);
    // Whoever named another base than what is checked out does not expect the work tree's changes in it.
    git_oid head{};
    const bool has_head = git_reference_name_to_id(&head, source.repository(), "HEAD") == 0;
    if (has_head && hex_of(head) == found.commit) found.uncommitted_files = count_uncommitted(source, kMaxUncommitted, stop);
    return found;
  }

  void bring_local(const LocalSource& source, const RemoteRefs& refs, const std::string& git_dir, const std::string& named,
                   const Stop& stop) {
    if (!std::filesystem::exists(git_dir)) {
      return mirrors_.create(git_dir, [&](const std::string& temporary) {
        // Objects borrowed from a third repository would be missing from links alone.
        const bool borrows = source.has_alternates();
        if (!borrows) link_objects(source.objects_dir(), temporary + "/objects", stop);
        update_refs(open_mirror(temporary).get(), borrows ? bring_new(source, refs, temporary, named, stop) : refs, named);
      });
    }
    const Repository mirror = open_mirror(git_dir);
    update_refs(mirror.get(), has_tips(mirror.get(), refs) ? refs : bring_new(source, refs, git_dir, named, stop), named);
  }

  Base fetch_http(const Location& location, const std::string& repository, const std::string& base, const Stop& stop) {
    const std::string named = named_ref(base);
    const std::string git_dir = mirrors_.path_of(location.url);
    mirrors_.refresh(git_dir, named, stop, [&] {
      const auto bring = [&](const std::string& directory) {
        NetworkRequest request = request_for(location, directory);
        request.named = named;
        const RemoteRefs refs = network_.fetch(request, stop);
        if (refs.empty()) throw no_commits(location.url);
        update_refs(open_mirror(directory).get(), refs, named);
      };
      if (!std::filesystem::exists(git_dir)) return mirrors_.create(git_dir, bring);
      mirrors_.sweep(git_dir);
      bring(git_dir);
    });
    return resolve(git_dir, repository, base);
  }

  Base resolve(const std::string& git_dir, const std::string& repository, const std::string& base) {
    const Repository mirror = open_mirror(git_dir);
    const Resolved found = resolve_base(mirror.get(), base, repository);
    return {.repository = repository, .mirror = git_dir, .ref = found.ref, .commit = found.commit, .tree = found.tree};
  }

  CacheOptions options_;
  Mirrors mirrors_;
  CheckoutStore checkouts_;
  Network network_;
};

}  // namespace

std::unique_ptr<RepositoryCache> open_repository_cache(CacheOptions options) {
  use_libgit2();
  return std::make_unique<DiskRepositoryCache>(std::move(options));
}

}  // namespace forge::git
