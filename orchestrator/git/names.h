#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forge::git {

/// True for a name that some git, on some file system, takes for `.git`: any case, the short name `git~1`, code points that HFS+ ignores,
/// the tails and streams that NTFS ignores.
bool is_git_name(std::string_view name);
/// The same for `.gitmodules`.
bool is_gitmodules_name(std::string_view name);
/// False for "", ".", ".." and what holds '/' or NUL.
bool is_plain_name(std::string_view name);

/// What is to be said about a path on its way into a commit.
struct NameFinding {
  std::string kind;  ///< "refused_name", "nested_repository", "git_directory"; of warnings "windows_name", "unusual_name"
  std::string path;  ///< what it is about: the path itself, or the directory that holds a repository
  std::string message;
};

struct Judgement {
  bool accepted = true;
  std::vector<NameFinding> findings;  ///< the reason when not accepted, else warnings
};

/// Judges a path, '/' between components, by its bytes alone.
Judgement judge_path(const std::string& path);

}  // namespace forge::git
