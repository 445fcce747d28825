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

Error branch_taken(const std::string& branch, const std::string& path) {
  return public_failure(ErrorCode::conflict, "the branch '" + branch + "' exists already in '" + path + "'");
}

void create_branch(git_repository* target, const std::string& name, const git_oid& commit, const std::string& branch,
                   const std::string& path) {
  git_reference* raw = nullptr;
  const int result = git_reference_create(&raw, target, name.c_str(), &commit, 0, "forge: pushed a run");
  const Reference reference(raw);
  if (result == 0) return;
  if (result == GIT_EEXISTS) throw branch_taken(branch, path);
  Error error = libgit2_error("creating " + name + " in " + path, result);
  throw Error(ErrorCode::conflict, error.what())
      .for_client("the branch '" + branch + "' cannot be made in '" + path + "'; a branch of a shorter name may stand in its way");
}

}  // namespace

void push_to_local(const std::string& git_dir, const std::string& path, const std::string& commit, const std::string& branch,
                   const Stop& stop) {
  const LocalSource target = LocalSource::open(path, stop);
  const std::string name = "refs/heads/" + branch;
  git_oid present{};
  if (git_reference_name_to_id(&present, target.repository(), name.c_str()) == 0) throw branch_taken(branch, path);
  const Repository mirror = open_mirror(git_dir);
  without_deltas(mirror.get(), git_dir);
  const git_oid tip = oid_of(commit);
  MissingObjects missing(mirror.get(), target.repository(), stop);
  missing.add_commits_up_to(tip);
  missing.write_to(target.objects_dir());
  create_branch(target.repository(), name, tip, branch, path);
}

}  // namespace forge::git
