#include "orchestrator/sandbox/local/changes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "orchestrator/base/error.h"

namespace forge::sandbox::local {
namespace {

using Entry = ConfinedDir::Entry;

constexpr std::size_t kCompared = 128 << 10;
// Of our own checkout: a bound, not a limit that anybody meets.
constexpr std::size_t kMaxLowerEntries = 10'000'000;
constexpr const char* kOpaque = "user.overlay.opaque";

bool is_whiteout(const struct stat& status) { return S_ISCHR(status.st_mode) && status.st_rdev == 0; }
bool is_content(const struct stat& status) { return S_ISREG(status.st_mode) || S_ISLNK(status.st_mode); }
bool executable(const struct stat& status) { return (status.st_mode & S_IXUSR) != 0; }

std::string name_of_special(const struct stat& status) {
  if (S_ISFIFO(status.st_mode)) return "fifo";
  if (S_ISSOCK(status.st_mode)) return "socket";
  return "device";
}

std::optional<struct stat> status_in(const ConfinedDir& directory, const std::string& path) {
  try {
    return directory.status(path);
  } catch (const Error& e) {
    // A file where the path needs a directory is "not found" too; a link on the way means the same for us.
    if (e.code() == ErrorCode::not_found || e.code() == ErrorCode::invalid_argument) return {};
    throw;
  }
}

/// Fills `buffer` as far as the file goes.
std::size_t read_full(int fd, char* buffer, std::size_t size) {
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::read(fd, buffer + filled, size - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_failure("reading a changed file", errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

bool same_content(int a, int b, const Stop& stop) {
  std::vector<char> left(kCompared);
  std::vector<char> right(kCompared);
  while (true) {
    stop.check();
    const std::size_t size = read_full(a, left.data(), left.size());
    if (read_full(b, right.data(), right.size()) != size ||
        !std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(size), right.begin()))
      return false;
    if (size < kCompared) return true;
  }
}

class Reader {
 public:
  Reader(const ConfinedDir& upper, const ConfinedDir& lower, const ChangeLimits& limits, ChangeSink& sink, const Stop& stop)
      : upper_(upper), lower_(lower), limits_(limits), sink_(sink), stop_(stop) {}

  void run() {
    measure();
    for (const Entry& entry : entries_) {
      stop_.check();
      collect_deletions(entry);
    }
    for (const Change& one : deletions_) sink_.change(one, {});
    for (const Entry& entry : entries_) {
      stop_.check();
      tell(entry);
    }
    for (const std::string& path : unreadable_) sink_.finding("unreadable", path, "the directory cannot be read; its changes are left out");
  }

 private:
  /// One look at everything before the first byte is read.
  void measure() {
    std::int64_t bytes = 0;
    const auto most = static_cast<std::size_t>(limits_.max_entries);
    upper_.walk(
        "", most,
        [&](const Entry& entry) {
          stop_.check();
          entries_.push_back(entry);
          if (S_ISREG(entry.status.st_mode) && entry.status.st_size <= limits_.max_file_bytes) bytes += entry.status.st_size;
          if (bytes > limits_.max_bytes)
            throw public_failure(ErrorCode::limit_exceeded,
                                 "the changed files hold more than " + std::to_string(limits_.max_bytes) + " bytes");
          return true;
        },
        [&](const std::string& path) { unreadable_.insert(path); });
  }

  /// What of the lower tree is not there any more because of `entry`. A merged directory says nothing itself; an opaque one deletes what
  /// it does not hold; everything else stands in the place of whatever the lower tree has there.
  void collect_deletions(const Entry& entry) {
    const std::optional<struct stat> below = status_in(lower_, entry.path);
    if (!below) return;
    if (is_content(*below)) {
      if (!is_content(entry.status)) deleted(entry.path, *below);
      return;
    }
    if (!S_ISDIR(below->st_mode)) return;
    if (!S_ISDIR(entry.status.st_mode)) return deleted_below(entry.path);
    if (unreadable_.count(entry.path) == 0 && upper_.attribute(entry.path, kOpaque) == "y") deleted_below(entry.path);
  }

  /// Every file of the lower directory that the upper layer does not have in its place. One entry can stand for the whole tree: what it
  /// stands for counts as if each file had been removed by itself.
  void deleted_below(const std::string& path) {
    // A directory comes before its content: what is below one that was looked at was looked at with it.
    if (path.starts_with(expanded_ + "/")) return;
    expanded_ = path;
    lower_.walk(path, kMaxLowerEntries, [&](const Entry& entry) {
      stop_.check();
      // What the upper layer has at the same place is told as itself; whiteouts there are told as deletions by themselves.
      if (!is_content(entry.status) || status_in(upper_, entry.path)) return true;
      if (entries_.size() + ++without_entry_ > static_cast<std::size_t>(limits_.max_entries))
        throw public_failure(ErrorCode::limit_exceeded, "more than " + std::to_string(limits_.max_entries) + " files were changed");
      deleted(entry.path, entry.status);
      return true;
    });
  }

  void deleted(const std::string& path, const struct stat& below) {
    Change change;
    change.kind = Change::Kind::deleted;
    change.type = S_ISLNK(below.st_mode) ? Change::Type::symlink : Change::Type::file;
    change.path = path;
    deletions_.push_back(std::move(change));
  }

  void tell(const Entry& entry) {
    if (S_ISDIR(entry.status.st_mode) || is_whiteout(entry.status)) return;
    if (is_content(entry.status)) return content(entry, status_in(lower_, entry.path));
    const std::string kind = name_of_special(entry.status);
    sink_.finding(kind, entry.path, "a " + kind + " cannot be part of a commit");
  }

  void content(const Entry& entry, const std::optional<struct stat>& below) {
    Change change;
    change.kind = below && is_content(*below) ? Change::Kind::modified : Change::Kind::added;
    change.path = entry.path;
    if (S_ISLNK(entry.status.st_mode)) return link(change, below);
    change.executable = executable(entry.status);
    change.size = entry.status.st_size;
    if (entry.status.st_size > limits_.max_file_bytes) return too_large(entry);
    UniqueFd file;
    try {
      file = upper_.open_file(entry.path);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::permission_denied) throw;
      return sink_.finding("unreadable", entry.path, "the file cannot be read; its change is left out");
    }
    if (below && S_ISREG(below->st_mode) && unchanged(entry, *below, file.get())) return;
    sink_.change(change, [&](char* buffer, std::size_t size) {
      stop_.check();
      return read_full(file.get(), buffer, size);
    });
  }

  /// Copied up and given back as it was: a touch, a chmod that git does not know, an edit that was undone.
  bool unchanged(const Entry& entry, const struct stat& below, int file) {
    if (below.st_size != entry.status.st_size || executable(below) != executable(entry.status)) return false;
    const UniqueFd old = lower_.open_file(entry.path);
    const bool same = same_content(file, old.get(), stop_);
    if (!same) checked(static_cast<int>(::lseek(file, 0, SEEK_SET)), "rewinding a changed file");
    return same;
  }

  void link(Change change, const std::optional<struct stat>& below) {
    change.type = Change::Type::symlink;
    change.link_target = upper_.read_link(change.path);
    if (below && S_ISLNK(below->st_mode) && lower_.read_link(change.path) == change.link_target) return;
    sink_.change(change, {});
  }

  void too_large(const Entry& entry) {
    const bool sparse = entry.status.st_blocks * 512 < entry.status.st_size / 2;
    sink_.finding(sparse ? "sparse" : "too_large", entry.path,
                  "the file is " + std::to_string(entry.status.st_size) + " bytes long, over the limit of " +
                      std::to_string(limits_.max_file_bytes) + "; its change is left out");
  }

  const ConfinedDir& upper_;
  const ConfinedDir& lower_;
  const ChangeLimits& limits_;
  ChangeSink& sink_;
  const Stop& stop_;
  std::vector<Entry> entries_;
  std::set<std::string> unreadable_;
  std::vector<Change> deletions_;
  std::string expanded_;           // the last directory that deleted_below() looked at
  std::size_t without_entry_ = 0;  // deletions that no entry of their own says
};

}  // namespace

void read_changes(const ConfinedDir& upper, const ConfinedDir& lower, const ChangeLimits& limits, ChangeSink& sink, const Stop& stop) {
  Reader(upper, lower, limits, sink, stop).run();
}

}  // namespace forge::sandbox::local
