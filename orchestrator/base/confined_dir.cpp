#include "orchestrator/base/confined_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <vector>

#include "orchestrator/base/error.h"

namespace forge {
namespace {

// Deeper trees are an attack or an accident, and no repository.
constexpr std::size_t kMaxTreeDepth = 1024;
constexpr std::size_t kMaxAttributeBytes = 64 << 10;
// EAGAIN of openat2: something was renamed or mounted during the look-up, so that the kernel could not prove it stayed below.
constexpr int kResolveAttempts = 100;

int raw_openat2(int directory, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<unsigned long long>(flags) | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  int attempts = kResolveAttempts;
  do {
    fd = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
  } while (fd < 0 && (errno == EINTR || (errno == EAGAIN && --attempts > 0)));
  return static_cast<int>(fd);
}

/// The kernel's refusals in words: ELOOP and EXDEV are RESOLVE_NO_SYMLINKS and RESOLVE_BENEATH at work.
Error confined_failure(const std::string& path, int error) {
  const std::string what = "opening '" + path + "' below a confined directory";
  if (error == ELOOP) return {ErrorCode::invalid_argument, what + ": it is or passes a symbolic link"};
  if (error == EXDEV) return {ErrorCode::invalid_argument, what + ": it leads out"};
  if (error == ENXIO) return {ErrorCode::invalid_argument, what + ": it is a socket or a device"};
  if (error == ENAMETOOLONG) return {ErrorCode::limit_exceeded, what + ": the name is too long"};
  return system_failure(what, error);
}

UniqueFd open_below(int directory, const std::string& path, int flags) {
  if (path.find('\0') != std::string::npos) throw Error(ErrorCode::invalid_argument, "a path holds a NUL byte");
  const int fd = raw_openat2(directory, path.empty() ? "." : path.c_str(), flags);
  if (fd < 0) throw confined_failure(path, errno);
  return UniqueFd(fd);
}

struct stat status_of(int fd) {
  struct stat status {};
  checked(::fstat(fd, &status), "reading the status of a file");
  return status;
}

struct CloseStream {
  void operator()(DIR* stream) const noexcept { ::closedir(stream); }
};
using Stream = std::unique_ptr<DIR, CloseStream>;

Stream stream_of(UniqueFd directory) {
  Stream stream(::fdopendir(directory.get()));
  if (!stream) throw system_failure("listing a directory", errno);
  [[maybe_unused]] const int owned_by_stream = directory.release();
  return stream;
}

/// The next name but "." and ".."; nothing at the end.
const char* next_name(DIR* stream) {
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(stream);
    if (entry == nullptr && errno != 0) throw system_failure("listing a directory", errno);
    if (entry == nullptr) return nullptr;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return entry->d_name;
  }
}

/// One directory of a walk: its entries in byte order, and how far we are.
struct Level {
  std::vector<ConfinedDir::Entry> entries;
  std::size_t next = 0;
};

/// Reads the entries of `path`; each one is taken from `room`.
Level list(UniqueFd directory, const std::string& path, std::size_t& room) {
  Level level;
  const Stream stream = stream_of(std::move(directory));
  const std::string prefix = path.empty() ? "" : path + "/";
  while (const char* name = next_name(stream.get())) {
    if (room == 0) throw Error(ErrorCode::limit_exceeded, "a directory tree has too many entries");
    --room;
    ConfinedDir::Entry entry{.path = prefix + name, .status = {}};
    if (::fstatat(::dirfd(stream.get()), name, &entry.status, AT_SYMLINK_NOFOLLOW) == 0) {
      level.entries.push_back(std::move(entry));
    } else if (errno != ENOENT) {  // gone since it was listed: the tree may be changing under us
      throw system_failure("reading the status of '" + entry.path + "'", errno);
    }
  }
  std::sort(level.entries.begin(), level.entries.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return level;
}

// O_NONBLOCK for the case that a FIFO took the folder's place.
constexpr int kListFlags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;

}  // namespace

UniqueFd open_beneath(int directory, const std::string& path, int flags) { return open_below(directory, path, flags); }

ConfinedDir ConfinedDir::open(const std::string& path) {
  return ConfinedDir(checked_fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "opening the directory '" + path + "'"));
}

void ConfinedDir::walk(const std::string& path, std::size_t max_entries, const std::function<bool(const Entry&)>& visit,
                       const std::function<void(const std::string&)>& visit_unreadable) const {
  std::size_t room = max_entries;
  // No descriptor stays open on the way down: a deep tree must not eat the process's descriptors. Each open is confined on its own.
  // An explicit stack, because the tree decides how deep it is.
  std::vector<Level> levels;
  const auto enter = [&](const std::string& directory) {
    if (levels.size() >= kMaxTreeDepth) throw Error(ErrorCode::limit_exceeded, "a directory tree is too deep");
    UniqueFd fd(raw_openat2(directory_.get(), directory.empty() ? "." : directory.c_str(), kListFlags));
    const int error = errno;
    if (fd) {
      levels.push_back(list(std::move(fd), directory, room));
    } else if (error == EACCES || error == EPERM) {
      if (visit_unreadable) visit_unreadable(directory);
      // Below the start, a folder that is gone or became something else is no failure: the tree may be changing under us.
    } else if (levels.empty() || (error != ENOENT && error != ENOTDIR && error != ELOOP)) {
      throw confined_failure(directory, error);
    }
  };
  if (path.find('\0') != std::string::npos) throw Error(ErrorCode::invalid_argument, "a path holds a NUL byte");
  enter(path);
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.next == level.entries.size()) {
      levels.pop_back();
      continue;
    }
    const Entry entry = std::move(level.entries[level.next++]);
    if (visit(entry) && S_ISDIR(entry.status.st_mode)) enter(entry.path);
  }
}

UniqueFd ConfinedDir::open_file(const std::string& path) const {
  const auto refuse_others = [&](int fd) {
    if (!S_ISREG(status_of(fd).st_mode)) throw Error(ErrorCode::invalid_argument, "'" + path + "' is not a regular file");
  };
  // Looked at before it is opened for reading, because opening a FIFO or a device can have effects; and again after it, because
  // it may have been exchanged in between. O_NONBLOCK: then nothing hangs even so.
  refuse_others(open_below(directory_.get(), path, O_PATH).get());
  UniqueFd file = open_below(directory_.get(), path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  refuse_others(file.get());
  return file;
}

std::string ConfinedDir::read_file(const std::string& path, std::size_t max_bytes) const {
  const UniqueFd file = open_file(path);
  return doing("reading '" + path + "'", [&] { return read_all(file.get(), max_bytes, Stop()); });
}

std::string ConfinedDir::read_link(const std::string& path) const {
  const UniqueFd link = open_below(directory_.get(), path, O_PATH);
  if (!S_ISLNK(status_of(link.get()).st_mode)) throw Error(ErrorCode::invalid_argument, "'" + path + "' is not a symbolic link");
  std::array<char, PATH_MAX + 1> target;
  const int got = checked(static_cast<int>(::readlinkat(link.get(), "", target.data(), target.size())), "reading a symbolic link");
  return {target.data(), static_cast<std::size_t>(got)};
}

struct stat ConfinedDir::status(const std::string& path) const {
  return status_of(open_below(directory_.get(), path, O_PATH).get());
}

std::string ConfinedDir::attribute(const std::string& path, const std::string& name) const {
  const UniqueFd entry = open_below(directory_.get(), path, O_PATH);
  // An O_PATH descriptor answers no fgetxattr; its link in /proc leads to the very entry, also when that is a symbolic link.
  const std::string through = "/proc/self/fd/" + std::to_string(entry.get());
  std::string value(kMaxAttributeBytes, '\0');
  const ssize_t got = ::getxattr(through.c_str(), name.c_str(), value.data(), value.size());
  if (got < 0 && (errno == ENODATA || errno == ENOTSUP || errno == EPERM || errno == EACCES)) return {};
  value.resize(static_cast<std::size_t>(checked(static_cast<int>(got), "reading an attribute of '" + path + "'")));
  return value;
}

bool ConfinedDir::exists(const std::string& path) const {
  try {
    static_cast<void>(status(path));
    return true;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::not_found) return false;
    throw;
  }
}

}  // namespace forge
