#include "orchestrator/git/tree_comparison.h"

#include <filesystem>
#include <map>
#include <vector>

#include "orchestrator/base/text.h"

namespace forge::git {
namespace {

constexpr std::uint16_t kRenamePercent = 50;
// Pairs to compare grow with the square; beyond it only identical files are seen as renamed. git's own limit.
constexpr std::size_t kRenameLimit = 1000;

git_diff_options tree_options(BinaryContent binaries) {
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  if (binaries == BinaryContent::whole) options.flags = GIT_DIFF_SHOW_BINARY;
  options.context_lines = 3;
  options.id_abbrev = GIT_OID_HEXSZ;  // git apply wants whole ids for binary patches
  options.ignore_submodules = GIT_SUBMODULE_IGNORE_NONE;
  return options;
}

void find_renames(git_diff* diff) {
  git_diff_find_options options = GIT_DIFF_FIND_OPTIONS_INIT;
  options.flags = GIT_DIFF_FIND_RENAMES;
  options.rename_threshold = kRenamePercent;
  options.rename_limit = kRenameLimit;
  const std::size_t changed = git_diff_num_deltas(diff);
  if (changed > 2 * kRenameLimit) options.flags |= GIT_DIFF_FIND_EXACT_MATCH_ONLY;
  check("finding renames", git_diff_find_similar(diff, &options));
}

Error no_longer_kept(const std::string& what) {
  return Error(ErrorCode::not_found, what + " is not in the mirror").for_client("the run's result is no longer kept here");
}

/// Sections by path, except that what is removed goes before what is renamed to its place: git apply would take the one for the other.
/// Renames may stand in any order, also when two files change places.
class SectionOrder {
 public:
  explicit SectionOrder(git_diff* diff) : placed_(git_diff_num_deltas(diff)) {
    for (std::size_t i = 0; i < placed_.size(); ++i)
      if (const git_diff_delta& delta = *git_diff_get_delta(diff, i); delta.status == GIT_DELTA_DELETED) removed_[delta.old_file.path] = i;
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      const auto before = removed_.find(git_diff_get_delta(diff, i)->new_file.path);
      if (before != removed_.end()) place(before->second);
      place(i);
    }
  }
  const std::vector<std::size_t>& sections() const { return order_; }

 private:
  void place(std::size_t i) {
    if (!placed_[i]) order_.push_back(i);
    placed_[i] = true;
  }

  std::vector<bool> placed_;
  std::map<std::string_view, std::size_t> removed_;  // path > section
  std::vector<std::size_t> order_;
};

TreeComparison compare_found(Repository mirror, Tree base, Tree head, BinaryContent binaries, const Stop& stop) {
  const git_diff_options options = tree_options(binaries);
  auto diff = receive<TreeDiff>("comparing trees",
                                [&](git_diff** out) { return git_diff_tree_to_tree(out, mirror.get(), base.get(), head.get(), &options); });
  stop.check();
  find_renames(diff.get());
  stop.check();
  return {.mirror = std::move(mirror), .base = std::move(base), .head = std::move(head), .diff = std::move(diff)};
}

}  // namespace

TreeComparison compare_trees(const std::string& git_dir, const std::string& base_tree, const std::string& head_tree, const Stop& stop) {
  Repository mirror = open_mirror(git_dir);
  Tree base = find_tree(mirror.get(), oid_of(base_tree));
  Tree head = find_tree(mirror.get(), oid_of(head_tree));
  return compare_found(std::move(mirror), std::move(base), std::move(head), BinaryContent::whole, stop);
}

TreeComparison compare_commits(const std::string& git_dir, const std::string& from, const std::string& to, BinaryContent binaries,
                               const Stop& stop) {
  Repository mirror = open_kept_mirror(git_dir);
  const auto tree_of = [&](const std::string& commit) {
    return find_tree(mirror.get(), *git_commit_tree_id(kept_commit(mirror.get(), commit).get()));
  };
  Tree base = tree_of(from);
  Tree head = tree_of(to);
  return compare_found(std::move(mirror), std::move(base), std::move(head), binaries, stop);
}

Commit kept_commit(git_repository* mirror, const std::string& id) {
  git_commit* raw = nullptr;
  const git_oid oid = oid_of(id);
  const int result = git_commit_lookup(&raw, mirror, &oid);
  Commit commit(raw);
  if (result == GIT_ENOTFOUND) throw no_longer_kept("commit " + id);
  check("reading commit " + id, result);
  return commit;
}

Repository open_kept_mirror(const std::string& git_dir) {
  if (!std::filesystem::exists(git_dir)) throw no_longer_kept("the repository");
  return open_mirror(git_dir);
}

void for_each_patch(const TreeComparison& comparison, const Stop& stop,
                    const std::function<void(git_patch*, const git_diff_delta&)>& take) {
  const SectionOrder order(comparison.diff.get());
  for (const std::size_t i : order.sections()) {
    stop.check();
    const auto patch =
        receive<Patch>("comparing a file", [&](git_patch** out) { return git_patch_from_diff(out, comparison.diff.get(), i); });
    if (patch) take(patch.get(), *git_patch_get_delta(patch.get()));
  }
}

bool belongs_to_patch(const git_diff_delta& delta, const git_diff_line& line) {
  return line.origin != GIT_DIFF_LINE_BINARY || !git_oid_equal(&delta.old_file.id, &delta.new_file.id);
}

void append_line(std::string& text, const git_diff_line& line) {
  std::string_view content(line.content, line.content_len);
  if (line.origin == GIT_DIFF_LINE_HUNK_HDR) {
    while (!content.empty() && (content.back() == '\n' || content.back() == ' ' || content.back() == '\t' || content.back() == '\r'))
      content.remove_suffix(1);
    text += content;
    text += '\n';
    return;
  }
  if (line.origin == GIT_DIFF_LINE_ADDITION || line.origin == GIT_DIFF_LINE_DELETION || line.origin == GIT_DIFF_LINE_CONTEXT)
    text += line.origin;
  text += content;
}

void DiffSize::add(std::size_t bytes) {
  bytes_ += static_cast<std::int64_t>(bytes);
  if (bytes_ > max_bytes_)
    throw public_failure(ErrorCode::limit_exceeded, "the diff is larger than " + human_bytes(static_cast<std::size_t>(max_bytes_)));
}

}  // namespace forge::git
