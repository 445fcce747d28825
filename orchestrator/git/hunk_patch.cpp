#include "orchestrator/git/hunk_patch.h"

#include <map>

#include "orchestrator/git/canonical_diff.h"
#include "orchestrator/git/file_at.h"
#include "orchestrator/git/merged_text.h"
#include "orchestrator/git/standing.h"

namespace forge::git {
namespace {

std::string range_text(int start, int lines) { return std::to_string(start) + (lines == 1 ? "" : "," + std::to_string(lines)); }

/// What stands behind the second "@@": the function around the hunk.
std::string function_text(git_patch* patch, std::size_t index) {
  const git_diff_hunk* raw = nullptr;
  check("reading a hunk", git_patch_get_hunk(&raw, nullptr, patch, index));
  std::string header;
  git_diff_line line{};
  line.origin = GIT_DIFF_LINE_HUNK_HDR;
  line.content = raw->header;
  line.content_len = raw->header_len;
  append_line(header, line);
  return header.substr(header.find("@@", 2) + 2);
}

/// The taken hunks, as if the others had never been.
std::string taken_hunks(git_patch* patch, const FileChoice& choice) {
  std::string text;
  int moved = 0;  // lines that the taken hunks before added, less those that they removed
  for (std::size_t i = 0; i < choice.text.size(); ++i) {
    if (!choice.taken[i]) continue;
    const HunkLines& lines = choice.text[i]->lines;
    const int first = lines.old_start + (lines.old_lines == 0 ? 1 : 0) + moved;
    text += "@@ -" + range_text(lines.old_start, lines.old_lines) + " +" +
            range_text(lines.new_lines == 0 ? first - 1 : first, lines.new_lines) + " @@" + function_text(patch, i);
    text += choice.text[i]->body;
    moved += lines.new_lines - lines.old_lines;
  }
  return text;
}

/// The lines above the hunks of a text file of which only a part is taken.
std::string part_header(const FileChoice& choice, const git_diff_delta& delta, const std::string& blob) {
  const FileDiff& file = *choice.file;
  const std::string old_name = quoted_path("a/" + file.old_path);
  const std::string new_name = quoted_path("b/" + choice.path());
  std::string text = "diff --git " + old_name + " " + new_name + "\n";
  const bool other_mode = choice.mode() != file.old_mode;
  if (other_mode) text += "old mode " + file.old_mode + "\nnew mode " + choice.mode() + "\n";
  if (choice.path() != file.old_path) {
    const int percent = choice.taken_text == 0 ? 100 : delta.similarity;
    text += "similarity index " + std::to_string(percent) + "%\nrename from " + quoted_path(file.old_path) + "\nrename to " +
            quoted_path(choice.path()) + "\n";
  }
  if (choice.taken_text == 0) return text;
  text += "index " + file.old_blob + ".." + blob + (other_mode ? "" : " " + file.old_mode) + "\n";
  return text + "--- " + old_name + "\n+++ " + new_name + "\n";
}

class HunkPatch {
 public:
  HunkPatch(git_repository* mirror, const std::vector<FileChoice>& choices, std::int64_t max_bytes) : mirror_(mirror), size_(max_bytes) {
    for (const FileChoice& choice : choices) choices_[{choice.file->old_path, choice.file->new_path}] = &choice;
  }

  void add(git_patch* patch, const git_diff_delta& delta) {
    const FileChoice& choice = *choices_.at({delta.old_file.path, delta.new_file.path});
    if (choice.nothing()) return;
    const std::size_t before = text_.size();
    if (choice.everything()) {
      add_whole(patch);
    } else {
      text_ += part_header(choice, delta, merged_blob(choice)) + taken_hunks(patch, choice);
    }
    size_.add(text_.size() - before);
  }

  std::string finish() { return std::move(text_); }

 private:
  void add_whole(git_patch* patch) {
    const auto on_line = [](const git_diff_delta* of, const git_diff_hunk*, const git_diff_line* line, void* self) {
      auto& all = *static_cast<HunkPatch*>(self);
      if (!belongs_to_patch(*of, *line)) return 0;
      return all.carried_.run([&] { append_line(all.text_, *line); });
    };
    const int result = git_patch_print(patch, on_line, this);
    carried_.rethrow();
    check("writing a section of the diff", result);
  }

  std::string merged_blob(const FileChoice& choice) {
    const std::string base = blob_content(mirror_, oid_of(choice.file->old_blob));
    const std::string text = joined(merge_hunks(base, choice));
    git_oid id{};
    check("naming a file", git_odb_hash(&id, text.data(), text.size(), GIT_OBJECT_BLOB));
    return hex_of(id);
  }

  git_repository* mirror_;
  DiffSize size_;
  std::map<std::pair<std::string, std::string>, const FileChoice*> choices_;  // by old and new path
  std::string text_;
  Carried carried_;
};

}  // namespace

std::string patch_of_hunks(const TreeComparison& comparison, const CanonicalDiff& diff, const std::vector<std::string>& hunks,
                           std::int64_t max_bytes, const Stop& stop) {
  const std::vector<FileChoice> choices = choose_hunks(diff, hunks);
  check_standing(comparison.mirror.get(), comparison.base.get(), comparison.head.get(), choices);
  HunkPatch patch(comparison.mirror.get(), choices, max_bytes);
  for_each_patch(comparison, stop, [&](git_patch* section, const git_diff_delta& delta) { patch.add(section, delta); });
  return patch.finish();
}

std::string quoted_path(const std::string& path) {
  constexpr std::string_view kNamed = "abtnvfr";  // of the bytes 7 to 13
  std::string text;
  bool plain = true;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += {'\\', c};
    } else if (byte >= 7 && byte <= 13) {
      text += {'\\', kNamed[byte - 7u]};
    } else if (byte < 0x20 || byte >= 0x7f) {
      text += {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + ((byte >> 3) & 7)), static_cast<char>('0' + (byte & 7))};
    } else {
      text += c;
      continue;
    }
    plain = false;
  }
  return plain ? text : "\"" + text + "\"";
}

}  // namespace forge::git
