#include <numeric>
#include <set>

#include "orchestrator/git/accepted_commit.h"
#include "orchestrator/git/canonical_diff.h"
#include "orchestrator/git/diff.h"
#include "orchestrator/git/file_at.h"
#include "orchestrator/git/hunk_patch.h"
#include "tests/unit/git/random_trees.h"
#include "tests/unit/git/review_fixture.h"

namespace forge::git {
namespace {

constexpr unsigned kSeeds = 500;
// Of these the patches are also applied to a checkout, which takes longer.
constexpr unsigned kSeedsOnDisk = 50;
constexpr std::int64_t kMaxBytes = 1 << 20;

/// Hunk ids, and for each whether it is taken.
struct Verdicts {
  std::vector<std::string> taken;
  std::vector<std::string> left;
};

/// True when one path is the other, lies below it, or both would differ in case only somewhere on the way.
bool in_each_others_way(const std::string& a, const std::string& b) {
  const auto left = split(a, '/');
  const auto right = split(b, '/');
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i)
    if (left[i] != right[i]) return lower_ascii(left[i]) == lower_ascii(right[i]);
  return true;
}

/// Files by number, in groups of which all names and types change or none does: those that leave a place that another one needs.
class Dependencies {
 public:
  explicit Dependencies(const std::vector<FileDiff>& files) : group_(files.size()) {
    std::iota(group_.begin(), group_.end(), 0u);
    for (std::size_t i = 0; i < files.size(); ++i)
      for (std::size_t j = 0; j < files.size(); ++j)
        if (i != j && leaves(files[i]) && arrives(files[j]) && in_each_others_way(files[i].old_path, files[j].new_path))
          join(group_[i], group_[j]);
  }
  std::size_t group(std::size_t file) const { return group_[file]; }

 private:
  static bool leaves(const FileDiff& file) { return file.change == FileChange::deleted || file.change == FileChange::renamed; }
  static bool arrives(const FileDiff& file) { return file.change == FileChange::added || file.change == FileChange::renamed; }
  void join(std::size_t a, std::size_t b) {
    for (std::size_t& group : group_)
      if (group == b) group = a;
  }
  std::vector<std::size_t> group_;
};

Verdicts random_verdicts(const CanonicalDiff& diff, unsigned seed) {
  std::mt19937 random(seed * 7919 + 1);
  const Dependencies dependencies(diff.files);
  std::map<std::size_t, bool> taken_groups;
  Verdicts verdicts;
  for (std::size_t i = 0; i < diff.files.size(); ++i) {
    for (const Hunk& hunk : diff.files[i].hunks) {
      bool taken = random() % 2 == 0;
      if (hunk.kind == HunkKind::file) taken = taken_groups.emplace(dependencies.group(i), taken).first->second;
      (taken ? verdicts.taken : verdicts.left).push_back(hunk.id);
    }
  }
  return verdicts;
}

std::size_t places_in(const std::string& patch) {
  std::size_t count = 0;
  for (const auto line : split_lines(patch)) count += line.starts_with("@@ -") ? 1 : 0;
  return count;
}

/// Each seed has a directory of its own, so that all patches together are one patch on all trees together: a git process for each would
/// take the most of the test.
class RandomReviews : public ReviewTest {
 protected:
  void SetUp() override {
    std::string stream;
    std::string all;
    std::string some;
    begin_commit(all, "refs/heads/main");
    begin_commit(some, "refs/heads/some");
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      const RandomTrees trees(seed);
      begin_commit(stream, "refs/seeds/before-" + std::to_string(seed));
      add_files(stream, top(seed), trees.before());
      begin_commit(stream, "refs/seeds/after-" + std::to_string(seed));
      add_files(stream, top(seed), trees.after());
      add_files(all, top(seed), trees.before());
      if (seed < kSeedsOnDisk) add_files(some, top(seed), trees.before());
    }
    test::run_git(repo_.path(), {"fast-import", "--quiet"}, stream + all + some);
    const std::string refs = repo_.git({"for-each-ref", "--format=%(refname:lstrip=2) %(objectname) %(tree)", "refs/seeds"});
    for (const auto line : split_lines(refs)) {
      const auto words = split(line, ' ');
      commits_[words[0]] = words[1];
      trees_[words[0]] = words[2];
    }
    // The mirror gets all objects of the repository, and of its references the branches alone.
    mirror_ = cache().fetch(repo_.str(), "", soon());
    stage_.emplace(mirror_.mirror);
  }

  static std::string top(unsigned seed) { return "seed-" + std::to_string(seed); }

  TreeComparison compared(unsigned seed) {
    return compare_commits(mirror_.mirror, commits_.at("before-" + std::to_string(seed)), commits_.at("after-" + std::to_string(seed)),
                           BinaryContent::whole, soon());
  }

  /// The index that git makes of the bases of `branch` and these patches: by path, mode and blob.
  std::map<std::string, std::string> applied(const std::string& branch, const std::string& where, const std::string& patches) {
    const test::TempDir directory;
    test::write_file(directory / "patch", patches);
    repo_.git(where == "--index" ? std::vector<std::string>{"reset", "--quiet", "--hard", branch}
                                 : std::vector<std::string>{"read-tree", branch});
    repo_.git({"apply", where, "--whitespace=nowarn", (directory / "patch").string()});
    std::map<std::string, std::string> files;
    for (const std::string& entry : split(repo_.git({"ls-files", "--stage", "-z"}), '\0')) {
      const auto tab = entry.find('\t');
      if (tab != std::string::npos) files[entry.substr(tab + 1)] = entry.substr(0, tab);
    }
    return files;
  }

  void add_entries(const std::string& tree, const std::string& prefix, std::map<std::string, std::string>& files) {
    const Tree found = find_tree(stage_->repository(), oid_of(tree));
    for (std::size_t i = 0; i < git_tree_entrycount(found.get()); ++i) {
      const git_tree_entry* entry = git_tree_entry_byindex(found.get(), i);
      const std::string path = prefix + git_tree_entry_name(entry);
      const std::string id = hex_of(*git_tree_entry_id(entry));
      if (git_tree_entry_type(entry) == GIT_OBJECT_TREE) {
        add_entries(id, path + "/", files);
      } else {
        files[path] = mode_text(static_cast<unsigned>(git_tree_entry_filemode(entry))) + " " + id + " 0";
      }
    }
  }

  /// The tree with these hunks, without waiting for the disk as a commit does.
  std::string staged(const TreeComparison& comparison, const CanonicalDiff& diff, const std::vector<std::string>& hunks) {
    return hex_of(stage_accepted(*stage_, comparison, diff, acceptance(hunks), soon()));
  }
  std::optional<ObjectStage> stage_;
  std::map<std::string, std::string> commits_;
  std::map<std::string, std::string> trees_;
};

/// What git has to make of the patches of many seeds.
struct Expectation {
  std::string patches;
  std::map<std::string, std::string> files;
};

TEST_F(RandomReviews, MakeTheTreesThatGitMakesOfTheirPatches) {
  std::map<std::pair<FileChange, std::size_t>, int> seen;  // a change, and 2 for more than one hunk
  Expectation of_taken;
  Expectation of_left;
  Expectation of_taken_on_disk;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(top(seed));
    const TreeComparison trees = compared(seed);
    const CanonicalDiff diff = canonical_diff(trees, kMaxBytes, soon());
    for (const FileDiff& file : diff.files) ++seen[{file.change, std::min<std::size_t>(file.hunks.size(), 2)}];
    const std::vector<std::string> all = all_ids(diff);
    ASSERT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
    EXPECT_EQ(staged(trees, diff, all), trees_.at("after-" + std::to_string(seed)));
    EXPECT_EQ(staged(trees, diff, {}), trees_.at("before-" + std::to_string(seed)));

    const auto patch_of = [&](const std::vector<std::string>& hunks) { return patch_of_hunks(trees, diff, hunks, kMaxBytes, soon()); };
    const std::string whole = patch_of(all);
    EXPECT_EQ(diff_text(trees, kMaxBytes, soon()).text, whole);
    const Verdicts verdicts = random_verdicts(diff, seed);
    const std::string taken = patch_of(verdicts.taken);
    const std::string left = patch_of(verdicts.left);
    EXPECT_EQ(places_in(taken) + places_in(left), places_in(whole));
    const std::string taken_tree = staged(trees, diff, verdicts.taken);
    of_taken.patches += taken;
    add_entries(taken_tree, "", of_taken.files);
    of_left.patches += left;
    add_entries(staged(trees, diff, verdicts.left), "", of_left.files);
    if (seed >= kSeedsOnDisk) continue;
    of_taken_on_disk.patches += taken;
    add_entries(taken_tree, "", of_taken_on_disk.files);
  }
  EXPECT_EQ(applied("main", "--cached", of_taken.patches), of_taken.files);
  EXPECT_EQ(applied("main", "--cached", of_left.patches), of_left.files);
  EXPECT_EQ(applied("some", "--index", of_taken_on_disk.patches), of_taken_on_disk.files);
  for (const FileChange change : {FileChange::added, FileChange::deleted, FileChange::modified, FileChange::renamed, FileChange::retyped})
    EXPECT_GT((seen[{change, 1}]), 50) << name_of(change);
  EXPECT_GT((seen[{FileChange::renamed, 2}]), 50);
  EXPECT_GT((seen[{FileChange::modified, 2}]), 50);
}

}  // namespace
}  // namespace forge::git
