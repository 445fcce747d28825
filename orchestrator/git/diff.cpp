#include "orchestrator/git/diff.h"

#include "orchestrator/base/text.h"
#include "orchestrator/git/handles.h"

namespace forge::git {
namespace {

constexpr std::uint16_t kRenamePercent = 50;
// Pairs to compare grow with the square; beyond it only identical files are seen as renamed. git's own limit.
constexpr std::size_t kRenameLimit = 1000;

/// Gathers the text of a patch line by line.
class PatchText {
 public:
  PatchText(std::int64_t max_bytes, const Stop& stop) : max_bytes_(static_cast<std::size_t>(max_bytes)), stop_(stop) {}

  static int on_line(const git_diff_delta* delta, const git_diff_hunk*, const git_diff_line* line, void* payload) {
    auto& self = *static_cast<PatchText*>(payload);
    // "Binary files differ" stands under a binary file that was only renamed, and makes git apply refuse the patch.
    if (line->origin == GIT_DIFF_LINE_BINARY && git_oid_equal(&delta->old_file.id, &delta->new_file.id)) return 0;
    return self.carried_.run([&] { self.add(*line); });
  }

  void finish(int result) {
    carried_.rethrow();
    check("writing the diff", result);
  }

  Diff diff;

 private:
  void add(const git_diff_line& line) {
    std::string_view content(line.content, line.content_len);
    if (line.origin == GIT_DIFF_LINE_FILE_HDR) {
      stop_.check();
    } else if (line.origin == GIT_DIFF_LINE_ADDITION || line.origin == GIT_DIFF_LINE_DELETION || line.origin == GIT_DIFF_LINE_CONTEXT) {
      diff.text += line.origin;
      diff.stat.insertions += line.origin == GIT_DIFF_LINE_ADDITION ? 1 : 0;
      diff.stat.deletions += line.origin == GIT_DIFF_LINE_DELETION ? 1 : 0;
    } else if (line.origin == GIT_DIFF_LINE_HUNK_HDR) {
      return add_hunk_header(content);
    }
    append(content);
  }

  /// libgit2 leaves blanks at the end of the function's name; git does not.
  void add_hunk_header(std::string_view content) {
    while (!content.empty() && (content.back() == '\n' || content.back() == ' ' || content.back() == '\t' || content.back() == '\r'))
      content.remove_suffix(1);
    append(content);
    append("\n");
  }

  void append(std::string_view text) {
    diff.text += text;
    if (diff.text.size() > max_bytes_)
      throw public_failure(ErrorCode::limit_exceeded, "the diff is larger than " + human_bytes(max_bytes_));
  }

  std::size_t max_bytes_;
  const Stop& stop_;
  Carried carried_;
};

git_diff_options tree_options() {
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.flags = GIT_DIFF_SHOW_BINARY;
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

Diff diff_trees(const std::string& git_dir, const std::string& base_tree, const std::string& commit, std::int64_t max_bytes,
                const Stop& stop) {
  const Repository mirror = open_mirror(git_dir);
  const Tree old_tree = find_tree(mirror.get(), oid_of(base_tree));
  const Commit head = find_commit(mirror.get(), oid_of(commit));
  const Tree new_tree = find_tree(mirror.get(), *git_commit_tree_id(head.get()));
  const git_diff_options options = tree_options();
  const auto diff = receive<TreeDiff>("comparing trees", [&](git_diff** out) {
    return git_diff_tree_to_tree(out, mirror.get(), old_tree.get(), new_tree.get(), &options);
  });
  stop.check();
  find_renames(diff.get());
  stop.check();
  PatchText patch(max_bytes, stop);
  patch.diff.stat.files = changed_files(diff.get());
  patch.finish(git_diff_print(diff.get(), GIT_DIFF_FORMAT_PATCH, PatchText::on_line, &patch));
  return std::move(patch.diff);
}

}  // namespace forge::git
