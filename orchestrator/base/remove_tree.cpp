#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/confined_dir.h"
#include "orchestrator/base/error.h"

namespace forge {
namespace {

// Each level holds one descriptor. What lies deeper is moved up to the top and removed from there, so that any depth is removed.
constexpr int kLevelsAtOnce = 64;
// Somebody who adds files as fast as we remove them must not hold us for ever. Each pass takes kLevelsAtOnce levels off the deepest path.
constexpr int kMaxPasses = 1 << 16;
// The tree may hold entries with the names that we move to.
constexpr int kMaxRenames = 1000;
constexpr int kOpenFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

struct CloseListing {
  void operator()(DIR* stream) const noexcept { ::closedir(stream); }
};

/// Names in `directory` but "." and "..".
std::vector<std::string> names_in(int directory) {
  std::vector<std::string> names;
  UniqueFd own = checked_fd(::openat(directory, ".", kOpenFlags), "listing a directory");
  const std::unique_ptr<DIR, CloseListing> stream(::fdopendir(own.get()));
  if (!stream) throw system_failure("listing a directory", errno);
  [[maybe_unused]] const int owned_by_stream = own.release();
  while (const dirent* entry = ::readdir(stream.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  return names;
}

/// Opens a directory for removal, giving ourselves the rights on it that we lack and may take. Empty, with errno, when it is none.
UniqueFd open_for_removal(int parent, const std::string& name) {
  UniqueFd directory(::openat(parent, name.c_str(), kOpenFlags));
  if (!directory && errno == EACCES) {
    // Mode 000: it cannot be opened, only pointed at. The link in /proc leads to what we point at, whatever bears the name now.
    const UniqueFd pointer(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!pointer) return {};
    if (::chmod(("/proc/self/fd/" + std::to_string(pointer.get())).c_str(), S_IRWXU) != 0) return {};
    directory.reset(::openat(parent, name.c_str(), kOpenFlags));
  }
  struct stat status {};
  if (directory && ::fstat(directory.get(), &status) == 0 && (status.st_mode & S_IRWXU) != S_IRWXU) {
    // Not ours to change: then removing an entry will say so.
    [[maybe_unused]] const int result = ::fchmod(directory.get(), S_IRWXU);
  }
  return directory;
}

/// Removes as much as it can; the first failure is thrown at the end.
class TreeRemoval {
 public:
  void remove(int parent, const std::string& name) { remove_entry(parent, name, 0); }
  void finish() const {
    if (first_) throw *first_;
  }

 private:
  void failed(const std::string& what, int error) {
    if (!first_) first_ = system_failure(what, error);
  }

  void remove_entry(int parent, const std::string& name, int depth) {
    if (::unlinkat(parent, name.c_str(), 0) == 0) {
      ++progress_;
      return;
    }
    if (errno == ENOENT) return;
    // EISDIR is Linux's word for a directory; EPERM is what POSIX and some file systems say.
    if (errno != EISDIR && errno != EPERM && errno != EACCES) return failed("removing '" + name + "'", errno);
    const int unlink_error = errno;
    const UniqueFd directory = open_for_removal(parent, name);
    if (!directory) {
      const bool no_directory = errno == ENOTDIR || errno == ELOOP;
      return failed("removing '" + name + "'", no_directory ? unlink_error : errno);
    }
    if (depth == 0) top_ = directory.get();
    if (depth >= kLevelsAtOnce) return move_up(parent, name);
    empty(directory.get(), name, depth);
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0) {
      ++progress_;
    } else if (errno != ENOENT) {
      failed("removing the directory '" + name + "'", errno);
    }
  }

  /// Lists again until nothing is left or nothing can be removed: entries are moved to the top, and others may still add some.
  void empty(int directory, const std::string& name, int depth) {
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      const std::vector<std::string> names = names_in(directory);
      if (names.empty()) return;
      const std::uint64_t before = progress_;
      for (const std::string& one : names) remove_entry(directory, one, depth + 1);
      if (progress_ == before) return;
    }
    failed("emptying '" + name + "'", EBUSY);
  }

  void move_up(int parent, const std::string& name) {
    for (int attempt = 0; attempt < kMaxRenames; ++attempt) {
      const std::string above = ".forge-removal-" + std::to_string(moved_++);
      if (::renameat(parent, name.c_str(), top_, above.c_str()) == 0) {
        ++progress_;
        return;
      }
      if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) break;
    }
    failed("moving '" + name + "' up", errno);
  }

  int top_ = -1;
  std::uint64_t moved_ = 0;
  std::uint64_t progress_ = 0;  // entries removed or moved
  std::optional<Error> first_;
};

}  // namespace

void remove_tree(const std::string& path) {
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  const auto slash = trimmed.rfind('/');
  const std::string name = slash == std::string::npos ? trimmed : trimmed.substr(slash + 1);
  const std::string parent = slash == std::string::npos ? "." : slash == 0 ? "/" : trimmed.substr(0, slash);
  if (name.empty() || name == "." || name == "..") throw Error(ErrorCode::internal, "refusing to remove '" + path + "'");
  const UniqueFd above(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!above && (errno == ENOENT || errno == ENOTDIR)) return;
  if (!above) throw system_failure("opening '" + parent + "'", errno);
  TreeRemoval removal;
  removal.remove(above.get(), name);
  doing("removing the tree '" + path + "'", [&] { removal.finish(); });
}

}  // namespace forge
