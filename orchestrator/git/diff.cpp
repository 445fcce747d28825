#include "orchestrator/git/diff.h"

#include "orchestrator/git/handles.h"

namespace forge::git {
namespace {

/// Gathers the text of a patch line by line.
class PatchText {
 public:
  explicit PatchText(std::int64_t max_bytes) : size_(max_bytes) {}

  void add(git_patch* section) {
    const int result = git_patch_print(section, on_line, this);
    carried_.rethrow();
    check("writing the diff", result);
  }

  Diff diff;

 private:
  static int on_line(const git_diff_delta* delta, const git_diff_hunk*, const git_diff_line* line, void* payload) {
    auto& self = *static_cast<PatchText*>(payload);
    if (!belongs_to_patch(*delta, *line)) return 0;
    return self.carried_.run([&] { self.add_line(*line); });
  }

  void add_line(const git_diff_line& line) {
    diff.stat.insertions += line.origin == GIT_DIFF_LINE_ADDITION ? 1 : 0;
    diff.stat.deletions += line.origin == GIT_DIFF_LINE_DELETION ? 1 : 0;
    const std::size_t before = diff.text.size();
    append_line(diff.text, line);
    size_.add(diff.text.size() - before);
  }

  DiffSize size_;
  Carried carried_;
};

/// Paths, not sections: a file that became a link is a removal and an addition.
std::int64_t changed_files(git_diff* diff) {
  std::int64_t count = 0;
  std::string_view previous;
  for (std::size_t i = 0; i < git_diff_num_deltas(diff); ++i) {
    const std::string_view path = git_diff_get_delta(diff, i)->new_file.path;
    count += path != previous ? 1 : 0;
    previous = path;
  }
  return count;
}

}  // namespace

Diff diff_text(const TreeComparison& comparison, std::int64_t max_bytes, const Stop& stop) {
  PatchText patch(max_bytes);
  patch.diff.stat.files = changed_files(comparison.diff.get());
  for_each_patch(comparison, stop, [&](git_patch* section, const git_diff_delta&) { patch.add(section); });
  return std::move(patch.diff);
}

Diff diff_trees(const std::string& git_dir, const std::string& base_tree, const std::string& commit, std::int64_t max_bytes,
                const Stop& stop) {
  const Repository mirror = open_mirror(git_dir);
  const Commit head = find_commit(mirror.get(), oid_of(commit));
  return diff_text(compare_trees(git_dir, base_tree, hex_of(*git_commit_tree_id(head.get())), stop), max_bytes, stop);
}

}  // namespace forge::git
