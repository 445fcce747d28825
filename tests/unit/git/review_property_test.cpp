#include <numeric>
#include <set>

#include "orchestrator/base/process.h"
#include "tests/unit/git/random_trees.h"
#include "tests/unit/git/review_fixture.h"

namespace forge::git {
namespace {

constexpr unsigned kSeeds = 500;
// Of these the patch is also applied to a checkout.
constexpr unsigned kEvery = 25;

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

/// One line for each seed: the trees that git makes of its patches.
constexpr const char* kApply = R"sh(
for patch in "$0"/*.patch; do
  export GIT_INDEX_FILE="$patch.index"
  git read-tree "$(cat "$patch.base")"
  [ -s "$patch" ] && git apply --cached --whitespace=nowarn "$patch" 2>"$patch.err"
  git write-tree --missing-ok >"$patch.tree"
done
)sh";
constexpr const char* kApplyToCheckouts = R"sh(
for wanted in "$0"/*.checkout; do
  patch="${wanted%.checkout}"
  git checkout --quiet --force --detach "$(cat "$patch.base")" && git clean -ffdxq
  [ -s "$patch" ] && git apply --index --whitespace=nowarn "$patch" 2>"$patch.checkout.err"
  git write-tree --missing-ok >"$wanted"
done
)sh";

class RandomReviews : public ReviewTest {
 protected:
  void SetUp() override {
    std::string stream;
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      const RandomTrees trees(seed);
      if (seed == 0) append_commit(stream, "main", trees.before());
      append_commit(stream, "before-" + std::to_string(seed), trees.before());
      append_commit(stream, "after-" + std::to_string(seed), trees.after());
    }
    test::run_git(repo_.path(), {"fast-import", "--quiet"}, stream);
    const std::string refs = repo_.git({"for-each-ref", "--format=%(refname:short) %(objectname) %(tree)", "refs/heads"});
    for (const auto line : split_lines(refs)) {
      const auto words = split(line, ' ');
      commits_[words[0]] = words[1];
      trees_[words[0]] = words[2];
    }
    mirror_ = cache().fetch(repo_.str(), "", soon());
  }

  /// Runs a script of many git commands in the repository: a process of its own for each would take the most of the test.
  void run_script(const char* script) {
    SpawnOptions options;
    options.argv = {"/bin/sh", "-c", script, patches_.str()};
    options.cwd = repo_.str();
    options.env = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"};
    run_command(std::move(options), "", 1 << 20, Stop::after(std::chrono::minutes(2)));
  }

  void begin(unsigned seed) {
    base_ = commits_.at("before-" + std::to_string(seed));
    head_ = commits_.at("after-" + std::to_string(seed));
  }

  /// What git has to make of the patch of these hunks, later.
  void expect(unsigned seed, const std::string& what, const std::vector<std::string>& hunks, const std::string& patch) {
    const std::string name = std::to_string(seed) + "-" + what;
    if (seed % kEvery == 0) test::write_file(patches_ / (name + ".patch.checkout"), "");
    test::write_file(patches_ / (name + ".patch"), patch);
    test::write_file(patches_ / (name + ".patch.base"), base_);
    expected_[name] = accept(hunks).tree;
  }

  void check(const std::string& suffix) {
    for (const auto& [name, tree] : expected_) {
      const auto file = patches_ / (name + ".patch" + suffix);
      if (!std::filesystem::exists(file)) continue;
      ++checked_;
      const auto error = patches_ / (name + ".patch" + (suffix == ".tree" ? ".err" : ".checkout.err"));
      EXPECT_EQ(test::read_file(file), tree + "\n") << name << ": " << (std::filesystem::exists(error) ? test::read_file(error) : "");
    }
  }

  test::TempDir patches_;
  std::map<std::string, std::string> commits_;
  std::map<std::string, std::string> trees_;
  std::map<std::string, std::string> expected_;  // tree, by name of the patch
  std::size_t checked_ = 0;
};

TEST_F(RandomReviews, MakeTheTreesThatGitMakesOfTheirPatches) {
  std::map<std::pair<FileChange, std::size_t>, int> seen;  // a change, and whether the file has more than one hunk
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    begin(seed);
    const CanonicalDiff diff = compare();
    for (const FileDiff& file : diff.files) ++seen[{file.change, std::min<std::size_t>(file.hunks.size(), 2)}];
    const std::vector<std::string> all = all_ids(diff);
    ASSERT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
    EXPECT_EQ(accept(all).tree, trees_.at("after-" + std::to_string(seed)));
    EXPECT_EQ(accept({}).tree, trees_.at("before-" + std::to_string(seed)));

    const std::string whole = cache().patch(repo_.str(), base_, head_, {}, soon());
    EXPECT_EQ(patch(all), whole);
    const Verdicts verdicts = random_verdicts(diff, seed);
    EXPECT_EQ(verdicts.taken.size() + verdicts.left.size(), all.size());
    const std::string taken = patch(verdicts.taken);
    const std::string left = patch(verdicts.left);
    EXPECT_EQ(places_in(taken) + places_in(left), places_in(whole));
    expect(seed, "taken", verdicts.taken, taken);
    expect(seed, "left", verdicts.left, left);
    expect(seed, "whole", all, whole);
  }
  run_script(kApply);
  check(".tree");
  EXPECT_EQ(checked_, 3 * kSeeds);
  run_script(kApplyToCheckouts);
  checked_ = 0;
  check(".checkout");
  EXPECT_EQ(checked_, 3 * kSeeds / kEvery);
  for (const FileChange change : {FileChange::added, FileChange::deleted, FileChange::modified, FileChange::renamed, FileChange::retyped})
    EXPECT_GT((seen[{change, 1}]), 50) << name_of(change);
  EXPECT_GT((seen[{FileChange::renamed, 2}]), 50);
  EXPECT_GT((seen[{FileChange::modified, 2}]), 50);
}

}  // namespace
}  // namespace forge::git
