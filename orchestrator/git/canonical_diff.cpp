#include "orchestrator/git/canonical_diff.h"

#include <map>

#include "orchestrator/git/file_at.h"

namespace forge::git {
namespace {

constexpr std::string_view kLinkMode = "120000";
constexpr std::string_view kSubmoduleMode = "160000";

FileChange change_of(git_delta_t status) {
  switch (status) {
    case GIT_DELTA_ADDED: return FileChange::added;
    case GIT_DELTA_DELETED: return FileChange::deleted;
    case GIT_DELTA_RENAMED: return FileChange::renamed;
    default: return FileChange::modified;
  }
}

/// Names, modes and contents of one section; no hunks yet.
FileDiff names_of(const git_diff_delta& delta) {
  FileDiff file;
  file.change = change_of(delta.status);
  file.old_path = delta.old_file.path;
  file.new_path = delta.new_file.path;
  file.binary = (delta.flags & GIT_DIFF_FLAG_BINARY) != 0;
  if (file.change != FileChange::added) {
    file.old_mode = mode_text(delta.old_file.mode);
    file.old_blob = hex_of(delta.old_file.id);
  }
  if (file.change != FileChange::deleted) {
    file.new_mode = mode_text(delta.new_file.mode);
    file.new_blob = hex_of(delta.new_file.id);
  }
  return file;
}

std::string body_of(git_patch* patch, std::size_t hunk, std::size_t lines) {
  std::string body;
  for (std::size_t i = 0; i < lines; ++i) {
    const git_diff_line* line = nullptr;
    check("reading a line of the diff", git_patch_get_line_in_hunk(&line, patch, hunk, i));
    append_line(body, *line);
  }
  return body;
}

/// Of a whole file its contents are part of the hunk; of text they are hunks of their own, and an edit leaves this one the same.
Hunk file_hunk(const FileDiff& file) {
  Hunk hunk;
  hunk.kind = HunkKind::file;
  hunk.body = "modes " + file.old_mode + " " + file.new_mode + "\n";
  if (is_whole(file)) hunk.body += "blobs " + file.old_blob + " " + file.new_blob + "\n";
  return hunk;
}

/// Gathers the sections. A path that changed its type has two, and is one file.
class Files {
 public:
  explicit Files(std::int64_t max_bytes) : size_(max_bytes) {}

  void add(git_patch* patch, const git_diff_delta& delta) {
    FileDiff& file = place(names_of(delta));
    std::size_t insertions = 0;
    std::size_t deletions = 0;
    check("counting lines", git_patch_line_stats(nullptr, &insertions, &deletions, patch));
    file.insertions += static_cast<std::int64_t>(insertions);
    file.deletions += static_cast<std::int64_t>(deletions);
    if (!is_whole(file)) add_text(file, patch);
  }

  CanonicalDiff finish() {
    for (FileDiff& file : diff_.files) {
      if (is_whole(file) || file.change == FileChange::renamed || file.old_mode != file.new_mode)
        file.hunks.insert(file.hunks.begin(), file_hunk(file));
      name_hunks(file);
    }
    return std::move(diff_);
  }

 private:
  FileDiff& place(FileDiff file) {
    const bool half = file.change == FileChange::added || file.change == FileChange::deleted;
    if (!half) return diff_.files.emplace_back(std::move(file));
    const auto [known, is_new] = halves_.emplace(file.new_path, diff_.files.size());
    if (is_new) return diff_.files.emplace_back(std::move(file));
    FileDiff& other = diff_.files[known->second];
    (file.change == FileChange::deleted ? other.old_mode : other.new_mode) =
        file.change == FileChange::deleted ? file.old_mode : file.new_mode;
    (file.change == FileChange::deleted ? other.old_blob : other.new_blob) =
        file.change == FileChange::deleted ? file.old_blob : file.new_blob;
    other.binary = other.binary || file.binary;
    other.change = FileChange::retyped;
    return other;
  }

  void add_text(FileDiff& file, git_patch* patch) {
    for (std::size_t i = 0; i < git_patch_num_hunks(patch); ++i) {
      const git_diff_hunk* raw = nullptr;
      std::size_t lines = 0;
      check("reading a hunk", git_patch_get_hunk(&raw, &lines, patch, i));
      Hunk hunk;
      hunk.lines = {.old_start = raw->old_start, .old_lines = raw->old_lines, .new_start = raw->new_start, .new_lines = raw->new_lines};
      hunk.body = body_of(patch, i, lines);
      size_.add(hunk.body.size());
      file.hunks.push_back(std::move(hunk));
    }
  }

  static void name_hunks(FileDiff& file) {
    std::map<std::string_view, std::size_t> equal;  // how many of this body there were
    for (Hunk& hunk : file.hunks) hunk.id = hunk_id(file.old_path, file.new_path, hunk.body, equal[hunk.body]++);
  }

  DiffSize size_;
  CanonicalDiff diff_;
  std::map<std::string, std::size_t> halves_;  // path of what came or went > place in diff_
};

}  // namespace

CanonicalDiff canonical_diff(const TreeComparison& comparison, std::int64_t max_bytes, const Stop& stop) {
  Files files(max_bytes);
  for_each_patch(comparison, stop, [&](git_patch* patch, const git_diff_delta& delta) { files.add(patch, delta); });
  return files.finish();
}

bool is_whole(const FileDiff& file) {
  const auto is_text = [](const std::string& mode) { return mode != kLinkMode && mode != kSubmoduleMode; };
  const bool stays = file.change == FileChange::modified || file.change == FileChange::renamed;
  return !stays || file.binary || !is_text(file.old_mode) || !is_text(file.new_mode);
}

}  // namespace forge::git
