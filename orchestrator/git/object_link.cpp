#include "orchestrator/git/object_link.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "orchestrator/base/confined_dir.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"

namespace forge::git {
namespace {

constexpr std::size_t kMaxFiles = 5'000'000;
constexpr int kAttempts = 5;
constexpr std::size_t kCopyPiece = 1u << 30;

bool is_hex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

bool is_loose(std::string_view path) { return path.size() == 41 && path[2] == '/' && is_hex(path.substr(0, 2)) && is_hex(path.substr(3)); }

bool is_pack(std::string_view path) {
  if (!path.starts_with("pack/pack-")) return false;
  return path.ends_with(".pack") || path.ends_with(".idx");
}

bool is_object_directory(std::string_view path) { return path == "pack" || (path.size() == 2 && is_hex(path)); }

/// Packs before loose objects, and a pack before its index: who finds an index must find the pack.
bool comes_first(const std::string& a, const std::string& b) {
  const auto rank = [](const std::string& path) { return path.ends_with(".pack") ? 0 : path.ends_with(".idx") ? 1 : 2; };
  return rank(a) != rank(b) ? rank(a) < rank(b) : a < b;
}

std::vector<std::string> object_files(const ConfinedDir& objects) {
  std::vector<std::string> files;
  objects.walk("", kMaxFiles, [&](const ConfinedDir::Entry& entry) {
    if (S_ISDIR(entry.status.st_mode)) return is_object_directory(entry.path);
    if (S_ISREG(entry.status.st_mode) && (is_loose(entry.path) || is_pack(entry.path))) files.push_back(entry.path);
    return false;
  });
  std::sort(files.begin(), files.end(), comes_first);
  return files;
}

void copy_bytes(int from, int to) {
  while (true) {
    // Not copy_file_range: it refuses to cross from one kind of file system to another, and crossing is why we copy.
    const ssize_t got = ::sendfile(to, from, nullptr, kCopyPiece);
    if (got == 0) return;
    if (got < 0 && errno != EINTR) throw system_failure("copying an object file", errno);
  }
}

/// Under another name first: a copy that is cut off must not look like an object.
void copy_object(const ConfinedDir& from, int to, const std::string& path) {
  const UniqueFd source = from.open_file(path);
  const std::string part = path + ".part";
  UniqueFd target =
      checked_fd(::openat(to, part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0444), "copying an object file");
  copy_bytes(source.get(), target.get());
  target.reset();
  checked(::renameat(to, part.c_str(), to, path.c_str()), "copying an object file");
}

/// False when the source's file is gone: somebody repacks.
bool bring(const ConfinedDir& from, int to, const std::string& path) {
  if (is_loose(path) && ::mkdirat(to, path.substr(0, 2).c_str(), 0755) != 0 && errno != EEXIST)
    throw system_failure("making an object directory", errno);
  // Without AT_SYMLINK_FOLLOW a link would be linked and not what it points at; object_files() took regular files only.
  if (::linkat(from.fd(), path.c_str(), to, path.c_str(), 0) == 0 || errno == EEXIST) return true;
  if (errno == ENOENT) return false;
  // EXDEV: another file system. EPERM: a file of somebody else (fs.protected_hardlinks). EMLINK: too many names.
  if (errno != EXDEV && errno != EPERM && errno != EMLINK && errno != EOPNOTSUPP && errno != EACCES)
    throw system_failure("linking the object file '" + path + "'", errno);
  try {
    copy_object(from, to, path);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::not_found) return false;
    throw;
  }
  return true;
}

}  // namespace

void link_objects(const std::string& from_objects, const std::string& to_objects, const Stop& stop) {
  const ConfinedDir from = ConfinedDir::open(from_objects);
  const ConfinedDir to = ConfinedDir::open(to_objects);
  if (::mkdirat(to.fd(), "pack", 0755) != 0 && errno != EEXIST) throw system_failure("making the pack directory", errno);
  // A repack in between moves objects from loose files into a pack that the listing did not have: list again until nothing went away.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    bool whole = true;
    for (const std::string& path : object_files(from)) {
      stop.check();
      whole = bring(from, to.fd(), path) && whole;
    }
    if (whole) return;
  }
  throw Error(ErrorCode::busy, "the object files of '" + from_objects + "' keep changing")
      .for_client("the repository is being repacked; try again in a moment");
}

}  // namespace forge::git
