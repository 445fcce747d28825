#include "orchestrator/cli/hunk_bodies.h"

#include <algorithm>

#include "orchestrator/base/text.h"

namespace forge::cli {
namespace {

/// What a diff says about one file.
struct FileSection {
  std::string_view name;  ///< the line "diff --git ..."
  DiffLines head;         ///< what changed beside lines
  std::vector<DiffLines> hunks;
};

/// Of a file's head: names that stand in the list already, blobs, and the bytes of what is no text.
bool is_told_elsewhere(std::string_view line) { return line.starts_with("index ") || line.starts_with("--- ") || line.starts_with("+++ "); }

/// Lines of a hunk begin with a blank, a sign or a backslash, so what begins otherwise begins something new.
std::vector<FileSection> sections_of(std::string_view diff) {
  enum class Inside { head, binary, hunk };
  std::vector<FileSection> sections;
  Inside inside = Inside::head;
  for (const std::string_view line : split_lines(diff)) {
    if (line.starts_with("diff --git ")) {
      // A file whose type changed stands there twice: it goes, and it comes.
      if (sections.empty() || sections.back().name != line) sections.push_back({.name = line, .head = {}, .hunks = {}});
      inside = Inside::head;
    } else if (sections.empty()) {
      continue;
    } else if (line.starts_with("@@ ")) {
      sections.back().hunks.push_back({line});
      inside = Inside::hunk;
    } else if (inside == Inside::hunk) {
      sections.back().hunks.back().push_back(line);
    } else if (inside == Inside::head && !is_told_elsewhere(line)) {
      sections.back().head.push_back(line);
      if (line == "GIT binary patch") inside = Inside::binary;
    }
  }
  return sections;
}

/// False when the section has other hunks than the file.
bool deal(const ReviewedFile& file, const FileSection& section, std::vector<DiffLines>& bodies) {
  const auto texts = std::count_if(file.hunks.begin(), file.hunks.end(), [](const auto& hunk) { return hunk.kind == HunkKind::text; });
  if (texts != 0 && static_cast<std::size_t>(texts) != section.hunks.size()) return false;
  auto next = section.hunks.begin();
  for (const ReviewedHunk& hunk : file.hunks) {
    if (hunk.kind == HunkKind::text) {
      bodies.push_back(*next++);
      continue;
    }
    DiffLines body = section.head;
    if (texts == 0)  // it came or went as a whole
      for (const DiffLines& lines : section.hunks) body.insert(body.end(), lines.begin(), lines.end());
    bodies.push_back(std::move(body));
  }
  return true;
}

}  // namespace

std::optional<std::vector<DiffLines>> hunk_bodies(const Review& review, std::string_view diff) {
  const std::vector<FileSection> sections = sections_of(diff);
  if (sections.size() != review.files.size()) return {};
  std::vector<DiffLines> bodies;
  for (std::size_t i = 0; i < sections.size(); ++i)
    if (!deal(review.files[i], sections[i], bodies)) return {};
  return bodies;
}

}  // namespace forge::cli
