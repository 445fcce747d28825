#include "orchestrator/sandbox/local/copied_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "orchestrator/base/confined_dir.h"
#include "orchestrator/base/fd.h"

namespace forge::sandbox::local {
namespace {

constexpr std::size_t kMaxCopied = 10'000'000;
constexpr std::size_t kCopiedPiece = 128 << 10;

void copy_content(const ConfinedDir& from, const std::string& path, int to, const Stop& stop) {
  const UniqueFd file = from.open_file(path);
  while (true) {
    const std::string piece = read_some(file.get(), kCopiedPiece, stop);
    if (piece.empty()) return;
    write_all(to, piece, stop);
  }
}

void copy_entry(const ConfinedDir& from, const ConfinedDir::Entry& entry, int to, const Identity& owner, const Stop& stop) {
  const std::string what = "copying '" + entry.path + "'";
  const mode_t mode = entry.status.st_mode & 07777;
  if (S_ISDIR(entry.status.st_mode)) {
    checked(::mkdirat(to, entry.path.c_str(), mode | S_IRWXU), what);
  } else if (S_ISLNK(entry.status.st_mode)) {
    checked(::symlinkat(from.read_link(entry.path).c_str(), to, entry.path.c_str()), what);
  } else if (S_ISREG(entry.status.st_mode)) {
    const UniqueFd file = checked_fd(::openat(to, entry.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode), what);
    copy_content(from, entry.path, file.get(), stop);
    checked(::fchmod(file.get(), mode), what);
  } else {
    return;
  }
  checked(::fchownat(to, entry.path.c_str(), owner.uid, owner.gid, AT_SYMLINK_NOFOLLOW), what);
}

}  // namespace

void copy_tree(const std::string& from, const std::string& to, const Identity& owner, const Stop& stop) {
  const ConfinedDir source = ConfinedDir::open(from);
  checked(::mkdir(to.c_str(), 0755), "making " + to);
  checked(::chown(to.c_str(), owner.uid, owner.gid), "making " + to);
  const UniqueFd target = checked_fd(::open(to.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "opening " + to);
  source.walk("", kMaxCopied, [&](const ConfinedDir::Entry& entry) {
    stop.check();
    copy_entry(source, entry, target.get(), owner, stop);
    return true;
  });
}

}  // namespace forge::sandbox::local
