#include "orchestrator/git/special_files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"
#include "orchestrator/base/text.h"

namespace forge::git {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxSourceEntries = 5'000'000;
constexpr std::size_t kMaxPointerBytes = 1 << 20;
// Below the git directory libgit2 reads these; what else lies there (large files, submodules, sockets of helpers) is nothing to it.
constexpr const char* kReadFolders[] = {"objects", "refs", "logs", "info"};

Error unreadable(const fs::path& path, const std::string& what) {
  return public_failure(ErrorCode::invalid_argument, "'" + to_utf8(path.native()).text + "' " + what)
      .in_field("repository")
      .with_hint("git reads plain files there: remove it, or name another repository");
}

const char* kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "is a FIFO";
  if (S_ISSOCK(mode)) return "is a socket";
  return "is a device";
}

/// Files of the kernel call themselves plain, and reading one may wait for an event.
bool is_of_the_kernel(const fs::path& path) {
  struct statfs system {};
  if (::statfs(path.c_str(), &system) != 0) return false;
  for (const auto magic : {PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC})
    if (static_cast<std::uint32_t>(system.f_type) == static_cast<std::uint32_t>(magic)) return true;
  return false;
}

/// The status behind all links; nothing when there is nothing to open.
std::optional<struct stat> status_behind(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return status;
}

/// Throws unless `path` is a plain file, a directory, or not there.
std::optional<struct stat> plain_status(const fs::path& path) {
  const auto status = status_behind(path);
  if (!status || S_ISDIR(status->st_mode)) return status;
  if (!S_ISREG(status->st_mode)) throw unreadable(path, kind_of(status->st_mode));
  if (is_of_the_kernel(path)) throw unreadable(path, "leads to a file of the kernel");
  return status;
}

/// Text of a small file that names other places; empty when it is not there.
std::string pointer_text(const fs::path& path) {
  const auto status = plain_status(path);
  if (!status || !S_ISREG(status->st_mode)) return {};
  // Looked at again once it is open, and opened without waiting: it may have been exchanged.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat opened {};
  if (!file || ::fstat(file.get(), &opened) != 0 || !S_ISREG(opened.st_mode)) return {};
  if (opened.st_size > static_cast<off_t>(kMaxPointerBytes)) throw unreadable(path, "is larger than such a file ever is");
  return read_all(file.get(), kMaxPointerBytes, Stop());
}

/// The value behind "path =" as git reads it: without quotes, up to a comment. Throws for escapes, which no one writes into a path.
std::string path_value(const fs::path& file, std::string_view line) {
  std::string value;
  bool quoted = false;
  for (const char c : line) {
    if (c == '\\') throw unreadable(file, "includes a path with a backslash");
    if (!quoted && (c == '#' || c == ';')) break;
    if (c == '"') {
      quoted = !quoted;
    } else {
      value += c;
    }
  }
  return std::string(trim(value));
}

/// Values of all "path = ..." of a configuration that includes others. Wherever they stand: one too many does no harm.
std::vector<std::string> included_paths(const fs::path& file, const std::string& text) {
  const std::string lower = lower_ascii(text);
  std::vector<std::string> found;
  if (lower.find("[include") == std::string::npos) return found;
  constexpr std::string_view kKey = "path";
  for (auto at = lower.find(kKey); at != std::string::npos; at = lower.find(kKey, at + 1)) {
    const auto equals = lower.find_first_not_of(" \t", at + kKey.size());
    if (equals == std::string::npos || lower[equals] != '=') continue;
    const auto end = text.find('\n', equals);
    found.push_back(path_value(file, std::string_view(text).substr(equals + 1, end == std::string::npos ? end : end - equals - 1)));
  }
  return found;
}

/// A walk over the places that one repository is made of. Each is seen once, so that links in a circle end.
class SourceCheck {
 public:
  explicit SourceCheck(const Stop& stop) : stop_(stop) {}

  void check_repository(const fs::path& path) {
    const fs::path inside = path / ".git";
    const auto status = plain_status(inside);
    if (status && S_ISDIR(status->st_mode)) check_git_dir(inside);
    if (status && S_ISREG(status->st_mode)) check_git_file(inside);
    // A work tree may hold FIFOs under such names; a repository has all three.
    if (status_behind(path / "HEAD") && status_behind(path / "objects") && status_behind(path / "refs")) check_git_dir(path);
  }

 private:
  void check_git_file(const fs::path& file) {
    constexpr std::string_view kMark = "gitdir:";
    const std::string text = pointer_text(file);
    if (text.starts_with(kMark)) check_git_dir(file.parent_path() / trim(std::string_view(text).substr(kMark.size())));
  }

  void check_git_dir(const fs::path& git_dir) {
    if (!enter(git_dir)) return;
    for_each_entry(git_dir, [&](const fs::directory_entry& entry) {
      std::error_code gone;
      // git's own file system monitor listens there. To open a socket fails at once, whoever tries.
      if (!entry.is_directory(gone) && !entry.is_socket(gone)) look_at(entry);
    });
    for (const char* folder : kReadFolders) check_folder(git_dir / folder);
    check_alternates(git_dir / "objects");
    for (const char* name : {"config", "config.worktree"}) check_config(git_dir / name);
    std::string common = pointer_text(git_dir / "commondir");
    while (!common.empty() && std::isspace(static_cast<unsigned char>(common.back())) != 0) common.pop_back();
    if (!common.empty()) check_git_dir(git_dir / common);
  }

  /// A folder and all below it.
  void check_folder(const fs::path& top) {
    std::vector<fs::path> waiting{top};
    while (!waiting.empty()) {
      const fs::path folder = std::move(waiting.back());
      waiting.pop_back();
      if (const auto status = plain_status(folder); !status || !S_ISDIR(status->st_mode) || !enter(folder)) continue;
      for_each_entry(folder, [&](const fs::directory_entry& entry) {
        std::error_code gone;
        if (entry.is_directory(gone)) {
          waiting.push_back(entry.path());
        } else {
          look_at(entry);
        }
      });
    }
  }

  void check_alternates(const fs::path& objects) {
    std::string text = pointer_text(objects / "info/alternates");
    std::replace(text.begin(), text.end(), '\r', '\n');
    for (const std::string_view line : split_lines(text)) {
      if (line.empty() || line.starts_with('#')) continue;
      const fs::path other = objects / line;
      check_folder(other);
      if (seen_text_.insert(other.lexically_normal().native()).second) check_alternates(other);
    }
  }

  void check_config(const fs::path& file) {
    if (!seen_text_.insert(file.lexically_normal().native()).second) return;
    count();
    const std::string text = pointer_text(file);
    for (const std::string& path : included_paths(file, text)) check_config(file.parent_path() / path);
  }

  template <typename Visit>
  void for_each_entry(const fs::path& folder, Visit&& visit) {
    std::error_code unreadable_folder;  // libgit2 will say so
    for (fs::directory_iterator at(folder, unreadable_folder), end; at != end; at.increment(unreadable_folder)) {
      count();
      visit(*at);
    }
  }

  /// The listing tells the kind of most entries, so that a plain file costs nothing.
  static void look_at(const fs::directory_entry& entry) {
    std::error_code gone;
    if (entry.is_symlink(gone) || !entry.is_regular_file(gone)) plain_status(entry.path());
  }

  /// False for a folder that was entered before, by whatever name.
  bool enter(const fs::path& folder) {
    const auto status = status_behind(folder);
    return status && S_ISDIR(status->st_mode) && seen_.insert({status->st_dev, status->st_ino}).second;
  }

  void count() {
    stop_.check();
    if (++entries_ > kMaxSourceEntries)
      throw public_failure(ErrorCode::invalid_argument, "the repository has too many files").in_field("repository");
  }

  const Stop& stop_;
  std::size_t entries_ = 0;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::set<std::string> seen_text_;
};

}  // namespace

void refuse_special_files(const std::string& repository, const Stop& stop) { SourceCheck(stop).check_repository(repository); }

void refuse_special_file(const std::string& path) { plain_status(path); }

}  // namespace forge::git
