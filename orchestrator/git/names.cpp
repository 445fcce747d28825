#include "orchestrator/git/names.h"

#include <algorithm>
#include <array>

#include "orchestrator/base/text.h"

namespace forge::git {
namespace {

// git's own limit for a path is the system's; longer ones cannot be checked out anywhere.
constexpr std::size_t kMaxPathBytes = 4095;
// Trees are walked by recursion.
constexpr std::size_t kMaxDepth = 512;

/// Code points that HFS+ leaves out when it compares names, as UTF-8: U+200C-200F, U+202A-202E, U+206A-206F, U+FEFF.
bool is_ignored_by_hfs(std::string_view three) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(three[i]); };
  if (byte(0) == 0xEF) return byte(1) == 0xBB && byte(2) == 0xBF;
  if (byte(0) != 0xE2) return false;
  if (byte(1) == 0x80) return (byte(2) >= 0x8C && byte(2) <= 0x8F) || (byte(2) >= 0xAA && byte(2) <= 0xAE);
  return byte(1) == 0x81 && byte(2) >= 0xAA && byte(2) <= 0xAF;
}

std::string without_hfs_ignored(std::string_view name) {
  std::string kept;
  for (std::size_t i = 0; i < name.size();) {
    if (i + 3 <= name.size() && is_ignored_by_hfs(name.substr(i, 3))) {
      i += 3;
    } else {
      kept += name[i++];
    }
  }
  return kept;
}

/// The name as the most forgiving file system sees it: lower case, without ignored code points, stream suffix, trailing blanks and dots.
std::string folded(std::string_view name) {
  std::string text = lower_ascii(without_hfs_ignored(name));
  text.resize(std::min(text.find(':'), text.size()));
  while (text.ends_with(' ') || text.ends_with('.')) text.pop_back();
  return text;
}

/// Calls `is` for the name and, because Windows splits there, for each of its parts between backslashes.
template <typename Is>
bool any_part(std::string_view name, Is is) {
  for (const std::string& part : split(name, '\\'))
    if (is(folded(part))) return true;
  return false;
}

bool is_windows_device(std::string_view name) {
  const std::string stem = lower_ascii(name.substr(0, std::min(name.find('.'), name.size())));
  for (const char* device : {"con", "prn", "aux", "nul"})
    if (stem == device) return true;
  const bool port = stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt"));
  return port && stem[3] >= '1' && stem[3] <= '9';
}

std::string windows_fault(std::string_view name) {
  if (is_windows_device(name)) return "is a device on Windows and cannot be checked out there";
  if (name.ends_with('.') || name.ends_with(' ')) return "ends with a dot or a blank, which Windows drops";
  return "";
}

std::string oddity(std::string_view path) {
  if (!is_utf8(path)) return "is not UTF-8";
  const bool control = std::any_of(path.begin(), path.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (control) return "holds a line break or another control character";
  if (path.find('\\') != std::string_view::npos) return "holds a backslash, which is a separator on Windows";
  return "";
}

Judgement refuse(std::string kind, std::string path, std::string message) {
  return {.accepted = false, .findings = {{std::move(kind), std::move(path), std::move(message)}}};
}

/// A component `.git`, exactly so: somebody made a repository inside the work tree.
Judgement inner_repository(const std::string& directory) {
  if (directory.empty()) return refuse("git_directory", ".git", "a .git was made at the top of the work tree; it is left out");
  return refuse("nested_repository", directory, "a git repository of its own lies there; its files are kept, its .git is left out");
}

}  // namespace

bool is_git_name(std::string_view name) {
  return any_part(name, [](const std::string& part) { return part == ".git" || part == "git~1"; });
}

bool is_gitmodules_name(std::string_view name) {
  return any_part(name, [](const std::string& part) {
    // Short names that NTFS makes: the first letters and a number, or a hash when those are taken.
    return part == ".gitmodules" || part.starts_with("gitmod~") || part.starts_with("gi7eba~");
  });
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

Judgement judge_path(const std::string& path) {
  if (path.empty()) return refuse("refused_name", path, "an empty path");
  if (path.size() > kMaxPathBytes) return refuse("refused_name", path.substr(0, 200) + "...", "a path of more than 4095 bytes");
  const std::vector<std::string> names = split(path, '/');
  if (names.size() > kMaxDepth) return refuse("refused_name", path.substr(0, 200) + "...", "a path of more than 512 directories");
  Judgement judgement;
  std::size_t begin = 0;
  for (const std::string& name : names) {
    if (!is_plain_name(name)) return refuse("refused_name", path, "an absolute path, an empty component, '.', '..' or a NUL byte");
    if (name == ".git") return inner_repository(path.substr(0, begin == 0 ? 0 : begin - 1));
    if (is_git_name(name)) return refuse("refused_name", path, "some systems take a part of this name for .git");
    if (const std::string fault = windows_fault(name); !fault.empty() && judgement.findings.empty())
      judgement.findings.push_back({"windows_name", path, "a part of this name " + fault});
    begin += name.size() + 1;
  }
  if (const std::string fault = oddity(path); !fault.empty()) judgement.findings.push_back({"unusual_name", path, "this name " + fault});
  return judgement;
}

}  // namespace forge::git
