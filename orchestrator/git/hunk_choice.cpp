#include "orchestrator/git/hunk_choice.h"

#include <unordered_set>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::git {
namespace {

void check_known(const CanonicalDiff& diff, const std::vector<std::string>& ids) {
  std::unordered_set<std::string_view> known;
  for (const FileDiff& file : diff.files)
    for (const Hunk& hunk : file.hunks) known.insert(hunk.id);
  for (const std::string& id : ids)
    if (!known.contains(id))
      throw bad_input("hunks", "the run's diff has no hunk '" + to_utf8(id).text + "'", "an id of the review's hunks");
}

}  // namespace

bool FileChoice::everything() const {
  const bool has_file_hunk = text.size() < file->hunks.size();
  return file_hunk == has_file_hunk && all_text();
}

std::string FileChoice::path() const {
  if (mode().empty()) return "";
  return file_hunk ? file->new_path : file->old_path;
}

std::string FileChoice::mode() const { return file_hunk ? file->new_mode : file->old_mode; }

std::string FileChoice::vacated() const {
  if (file->old_mode.empty() || path() == file->old_path) return "";
  return file->old_path;
}

std::vector<FileChoice> choose_hunks(const CanonicalDiff& diff, const std::vector<std::string>& ids) {
  check_known(diff, ids);
  const std::unordered_set<std::string_view> chosen(ids.begin(), ids.end());
  std::vector<FileChoice> choices;
  choices.reserve(diff.files.size());
  for (const FileDiff& file : diff.files) {
    FileChoice& choice = choices.emplace_back();
    choice.file = &file;
    for (const Hunk& hunk : file.hunks) {
      const bool taken = chosen.contains(hunk.id);
      if (hunk.kind == HunkKind::file) {
        choice.file_hunk = taken;
        continue;
      }
      choice.text.push_back(&hunk);
      choice.taken.push_back(taken);
      choice.taken_text += taken ? 1 : 0;
    }
  }
  return choices;
}

}  // namespace forge::git
