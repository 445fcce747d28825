#include "orchestrator/git/local_push.h"

#include <set>
#include <vector>

#include "orchestrator/git/handles.h"
#include "orchestrator/git/local_source.h"
#include "orchestrator/git/object_stage.h"

namespace forge::git {
namespace {

// A run makes one commit; a chain of follow-ups that were never pushed, some more.
constexpr std::size_t kMaxCommits = 10'000;

/// Chooses the objects that the other repository lacks. No walk over history: that fails in a shallow repository, and what matters is only
/// what came after the commits that the other side has.
class MissingObjects {
 public:
  MissingObjects(git_repository* mirror, git_repository* target, const Stop& stop)
      : mirror_(mirror),
        target_odb_(odb_of(target)),
        stop_(stop),
        pack_(receive<PackBuilder>("preparing a pack", [&](git_packbuilder** out) { return git_packbuilder_new(out, mirror); })) {}

  void add_commits_up_to(const git_oid& tip) {
    std::vector<git_oid> waiting{tip};
    std::set<std::string> seen;
    while (!waiting.empty()) {
      const git_oid id = waiting.back();
      waiting.pop_back();
      if (!seen.insert(hex_of(id)).second || git_odb_exists(target_odb_.get(), &id) == 1) continue;
      if (seen.size() > kMaxCommits) throw Error(ErrorCode::limit_exceeded, "more than 10,000 commits would have to be pushed");
      const Commit commit = find_commit(mirror_, id);
      add_commit(commit.get());
      for (unsigned i = 0; i < git_commit_parentcount(commit.get()); ++i) waiting.push_back(*git_commit_parent_id(commit.get(), i));
    }
  }

  void write_to(const std::string& objects_dir) {
    if (git_packbuilder_object_count(pack_.get()) == 0) return;
    check("preparing a pack", git_packbuilder_set_callbacks(pack_.get(), on_progress, this));
    const int result = git_packbuilder_write(pack_.get(), (objects_dir + "/pack").c_str(), 0, nullptr, nullptr);
    carried_.rethrow();
    check("writing objects to " + objects_dir, result);
  }

 private:
  static int on_progress(int, std::uint32_t, std::uint32_t, void* payload) {
    auto& self = *static_cast<MissingObjects*>(payload);
    return self.carried_.run([&] { self.stop_.check(); });
  }

  void insert(const git_oid& id) { check("adding an object to a pack", git_packbuilder_insert(pack_.get(), &id, nullptr)); }

  void add_commit(git_commit* commit) {
    insert(*git_commit_id(commit));
    const Tree tree = find_tree(mirror_, *git_commit_tree_id(commit));
    Tree parent_tree;
    if (git_commit_parentcount(commit) > 0) {
      const Commit parent = find_commit(mirror_, *git_commit_parent_id(commit, 0));
      parent_tree = find_tree(mirror_, *git_commit_tree_id(parent.get()));
    }
    if (parent_tree && git_oid_equal(git_tree_id(tree.get()), git_tree_id(parent_tree.get()))) return;
    add_tree(tree.get(), parent_tree.get());
  }

  /// The tree and what is in it and not in `known`, which the other side has or gets.
  void add_tree(const git_tree* tree, const git_tree* known) {
    stop_.check();
    insert(*git_tree_id(tree));
    for (std::size_t i = 0; i < git_tree_entrycount(tree); ++i) {
      const git_tree_entry* entry = git_tree_entry_byindex(tree, i);
      const git_tree_entry* before = known == nullptr ? nullptr : git_tree_entry_byname(known, git_tree_entry_name(entry));
      const git_oid& id = *git_tree_entry_id(entry);
      if (before != nullptr && git_oid_equal(git_tree_entry_id(before), &id)) continue;
      if (git_tree_entry_type(entry) == GIT_OBJECT_BLOB) insert(id);
      if (git_tree_entry_type(entry) != GIT_OBJECT_TREE) continue;
      const Tree below = find_tree(mirror_, id);
      Tree known_below;
      if (before != nullptr && git_tree_entry_type(before) == GIT_OBJECT_TREE) known_below = find_tree(mirror_, *git_tree_entry_id(before));
      add_tree(below.get(), known_below.get());
    }
  }

  git_repository* mirror_;
  Odb target_odb_;
  const Stop& stop_;
  PackBuilder pack_;
  Carried carried_;
};

/// The branch of another repository, made or moved by compare-and-swap.
class TargetBranch {
 public:
  TargetBranch(git_repository* repository, const PushTarget& target, const std::string& path)
      : repository_(repository), target_(target), path_(path), name_("refs/heads/" + target.branch) {}

  /// "" when there is none.
  std::string present() const {
    git_oid id{};
    return git_reference_name_to_id(&id, repository_, name_.c_str()) == 0 ? hex_of(id) : "";
  }
  PushStep next(const std::string& commit) const { return next_step(target_, present(), commit, "in '" + path_ + "'"); }

  void create(const git_oid& commit) const {
    git_reference* raw = nullptr;
    const int result = git_reference_create(&raw, repository_, name_.c_str(), &commit, 0, "forge: pushed a run");
    finish(Reference(raw), result, hex_of(commit));
  }

  void replace(const git_oid& commit) const {
    refuse_checked_out();
    git_reference* raw = nullptr;
    const git_oid old = oid_of(*target_.expected_old);
    const int result = git_reference_create_matching(&raw, repository_, name_.c_str(), &commit, 1, &old, "forge: pushed a review");
    finish(Reference(raw), result, hex_of(commit));
  }

 private:
  /// A work tree would show the difference as somebody's changes. git refuses such a push, too.
  void refuse_checked_out() const {
    const auto branch =
        receive<Reference>("reading " + name_, [&](git_reference** out) { return git_reference_lookup(out, repository_, name_.c_str()); });
    if (check("looking at the work trees", git_branch_is_checked_out(branch.get())) == 1 && git_repository_is_bare(repository_) == 0)
      throw public_failure(ErrorCode::conflict, "the branch '" + target_.branch + "' is checked out in '" + path_ + "'")
          .with_hint("check out another branch there, and try again");
  }

  void finish(Reference, int result, const std::string& commit) const {
    if (result == 0) return;
    if (result == GIT_EEXISTS || result == GIT_EMODIFIED || result == GIT_ENOTFOUND) next(commit);  // says what is there now
    Error error = libgit2_error("writing " + name_ + " in " + path_, result);
    throw Error(ErrorCode::conflict, error.what())
        .for_client("the branch '" + target_.branch + "' cannot be made in '" + path_ +
                    "'; a branch of a shorter name may stand in its way");
  }

  git_repository* repository_;
  const PushTarget& target_;
  const std::string& path_;
  std::string name_;
};

}  // namespace

void push_to_local(const std::string& git_dir, const std::string& path, const std::string& commit, const PushTarget& target,
                   const Stop& stop) {
  const LocalSource there = LocalSource::open(path, stop);
  const TargetBranch branch(there.repository(), target, path);
  const PushStep step = branch.next(commit);
  if (step == PushStep::done) return;
  const Repository mirror = open_mirror(git_dir);
  without_deltas(mirror.get(), git_dir);
  const git_oid tip = oid_of(commit);
  MissingObjects missing(mirror.get(), there.repository(), stop);
  missing.add_commits_up_to(tip);
  missing.write_to(there.objects_dir());
  step == PushStep::create ? branch.create(tip) : branch.replace(tip);
}

}  // namespace forge::git
