#include "orchestrator/git/tree_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <functional>
#include <set>
#include <string_view>
#include <thread>

#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/base/text.h"
#include "orchestrator/git/tree_plan.h"

namespace forge::git {
namespace {

constexpr mode_t kDirectoryMode = 0755;
constexpr std::int64_t kDiskBlock = 4096;
// Making files scales with two or three threads (the directory's lock), not with all cores.
constexpr unsigned kMaxThreads = 4;
constexpr std::size_t kFilesPerThread = 64;
constexpr std::size_t kFilesPerTake = 16;
constexpr std::size_t kMaxLfsPointerBytes = 1024;
constexpr std::string_view kLfsMark = "version https://git-lfs.github.com/spec/";

std::int64_t on_disk(std::int64_t bytes) { return (bytes + kDiskBlock - 1) / kDiskBlock * kDiskBlock; }

Error write_failure(const std::string& path, int error) {
  Error failure = system_failure("writing '" + path + "' of a checkout", error);
  if (failure.code() != ErrorCode::limit_exceeded) return failure;
  return std::move(failure).for_client("there is no room on the disk for a work tree of this commit");
}

/// What the threads share. A count is for all of them, the lists are merged at the end.
struct Progress {
  std::atomic<std::size_t> next{0};
  std::atomic<std::int64_t> bytes{0};
  std::atomic<bool> failed{false};
};

/// Where files go. The service's umask must not reach the work tree: where it takes bits away, each mode is set a second time.
struct Place {
  int target;
  int near;  ///< -1: there is none
  bool masked;
};

/// One thread's part of the work, with its own repository: libgit2's objects are not shared between threads.
class FileMaker {
 public:
  FileMaker(const std::string& git_dir, Place place, const std::set<std::string>& near_lfs, const TreeLimits& limits)
      : git_dir_(git_dir), place_(place), near_lfs_(near_lfs), limits_(limits) {}

  void run(const std::vector<PlannedFile>& files, Progress& progress, const Stop& stop) {
    while (!progress.failed) {
      const std::size_t first = progress.next.fetch_add(kFilesPerTake);
      if (first >= files.size()) return;
      stop.check();
      const std::size_t last = std::min(first + kFilesPerTake, files.size());
      std::int64_t bytes = 0;
      for (std::size_t i = first; i < last; ++i) bytes += make(files[i]);
      if (progress.bytes.fetch_add(bytes) + bytes > limits_.max_bytes)
        throw public_failure(ErrorCode::limit_exceeded, "the commit's files are larger than " +
                                                            human_bytes(static_cast<std::size_t>(limits_.max_bytes)) +
                                                            " (git.checkouts_max_bytes)");
    }
  }

  std::vector<std::string> lfs_pointers;

  /// Also for symbolic links: the text of the blob.
  OdbObject content(const PlannedFile& file) {
    if (!odb_) {
      mirror_ = open_mirror(git_dir_);
      odb_ = odb_of(mirror_.get());
    }
    git_odb_object* raw = nullptr;
    const int result = git_odb_read(&raw, odb_.get(), &file.blob);
    OdbObject blob(raw);
    if (result < 0) throw missing(file, libgit2_error("reading a blob", result));
    return blob;
  }

 private:
  std::int64_t make(const PlannedFile& file) { return file.unchanged && link(file) ? linked_size(file) : write(file); }

  /// False when the other tree cannot give it: too many links, or somebody harmed the cache. Then it is written.
  bool link(const PlannedFile& file) {
    if (place_.near < 0 || ::linkat(place_.near, file.path.c_str(), place_.target, file.path.c_str(), 0) != 0) return false;
    if (near_lfs_.contains(file.path)) lfs_pointers.push_back(file.path);
    return true;
  }

  static Error missing(const PlannedFile& file, const Error& reason) {
    const std::string path = to_utf8(file.path).text;
    return Error(ErrorCode::corrupt, "reading '" + path + "': " + reason.what())
        .for_client("the repository lacks the content of '" + path + "': it is damaged, or a clone that left objects out");
  }

  std::int64_t linked_size(const PlannedFile& file) const {
    struct stat status {};
    return ::fstatat(place_.target, file.path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 ? on_disk(status.st_size) : 0;
  }

  std::int64_t write(const PlannedFile& file) {
    const OdbObject blob = content(file);
    const std::string_view bytes(static_cast<const char*>(git_odb_object_data(blob.get())), git_odb_object_size(blob.get()));
    const mode_t mode = file.executable ? 0755 : 0644;
    const UniqueFd out(::openat(place_.target, file.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!out && errno == EEXIST) return 0;  // a hostile tree names it twice; the first stays
    if (!out) throw write_failure(file.path, errno);
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t put = ::write(out.get(), bytes.data() + done, bytes.size() - done);
      if (put < 0 && errno != EINTR) throw write_failure(file.path, errno);
      done += put > 0 ? static_cast<std::size_t>(put) : 0;
    }
    if (place_.masked && ::fchmod(out.get(), mode) != 0) throw write_failure(file.path, errno);
    if (bytes.size() <= kMaxLfsPointerBytes && bytes.starts_with(kLfsMark)) lfs_pointers.push_back(file.path);
    return on_disk(static_cast<std::int64_t>(bytes.size()));
  }

  const std::string& git_dir_;
  Place place_;
  const std::set<std::string>& near_lfs_;
  const TreeLimits& limits_;
  Repository mirror_;  // opened with the first blob that must be read
  Odb odb_;
};

/// Makes the root itself; true when the umask took bits of its mode away.
bool make_root(const std::string& directory) {
  if (::mkdir(directory.c_str(), kDirectoryMode) != 0) throw write_failure(directory, errno);
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) throw write_failure(directory, errno);
  const bool masked = (status.st_mode & 07777) != kDirectoryMode;
  if (masked && ::chmod(directory.c_str(), kDirectoryMode) != 0) throw write_failure(directory, errno);
  return masked;
}

void make_directories(const Place& place, const std::vector<std::string>& directories) {
  for (const std::string& path : directories) {
    if (::mkdirat(place.target, path.c_str(), kDirectoryMode) != 0) {
      if (errno != EEXIST) throw write_failure(path, errno);  // a hostile tree names it twice
    } else if (place.masked && ::fchmodat(place.target, path.c_str(), kDirectoryMode, 0) != 0) {
      throw write_failure(path, errno);
    }
  }
}

/// Last of all, so that no path leads through one of them while files are made.
void make_links(int target, const std::vector<PlannedFile>& links, FileMaker& maker) {
  for (const PlannedFile& link : links) {
    const OdbObject blob = maker.content(link);
    const std::string text(static_cast<const char*>(git_odb_object_data(blob.get())), git_odb_object_size(blob.get()));
    if (::symlinkat(text.c_str(), target, link.path.c_str()) == 0 || errno == EEXIST) continue;
    // Empty or too long: git cannot make it either.
    if (errno != ENOENT && errno != ENAMETOOLONG) throw write_failure(link.path, errno);
  }
}

/// Runs all makers on `files`; the first failure is thrown when all have ended.
void make_files(std::vector<FileMaker>& makers, const std::vector<PlannedFile>& files, Progress& progress, const Stop& stop) {
  Guarded<std::exception_ptr> first_failure;
  const auto work = [&](FileMaker& maker) {
    try {
      maker.run(files, progress, stop);
    } catch (...) {
      auto failure = first_failure.lock();
      if (!*failure) *failure = std::current_exception();
      progress.failed = true;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < makers.size(); ++i) threads.emplace_back(work, std::ref(makers[i]));
    work(makers.front());
  }
  if (const auto failure = *first_failure.lock()) std::rethrow_exception(failure);
}

Tree tree_to_compare(git_repository* mirror, const std::optional<NearTree>& near) {
  if (!near) return nullptr;
  const git_oid id = oid_of(near->tree);
  git_tree* raw = nullptr;
  git_tree_lookup(&raw, mirror, &id);  // gone from the mirror: then there is nothing to compare with
  return Tree(raw);
}

}  // namespace

WrittenTree write_tree(const std::string& git_dir, const std::string& tree, const std::string& directory,
                       const std::optional<NearTree>& near, const TreeLimits& limits, const Stop& stop) {
  const Repository mirror = open_mirror(git_dir);
  const Tree root = find_tree(mirror.get(), oid_of(tree));
  const Tree near_root = tree_to_compare(mirror.get(), near);
  TreePlan plan = plan_tree(mirror.get(), root.get(), near_root.get(), limits.max_entries, stop);

  const bool masked = make_root(directory);
  const UniqueFd target = checked_fd(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "opening a new checkout");
  const UniqueFd near_fd(near_root ? ::open(near->directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC) : -1);
  const Place place{.target = target.get(), .near = near_fd.get(), .masked = masked};
  make_directories(place, plan.directories);

  std::set<std::string> near_lfs;
  if (near) near_lfs.insert(near->lfs_pointers.begin(), near->lfs_pointers.end());
  const std::size_t wanted = std::max<std::size_t>(plan.files.size() / kFilesPerThread, 1);
  const std::size_t threads = std::min<std::size_t>({wanted, kMaxThreads, std::max(std::thread::hardware_concurrency(), 1u)});
  std::vector<FileMaker> makers;
  for (std::size_t i = 0; i < threads; ++i) makers.emplace_back(git_dir, place, near_lfs, limits);
  Progress progress;
  make_files(makers, plan.files, progress, stop);
  make_links(target.get(), plan.links, makers.front());

  WrittenTree written{.bytes = progress.bytes, .files = static_cast<std::int64_t>(plan.files.size() + plan.links.size())};
  for (FileMaker& maker : makers)
    written.lfs_pointers.insert(written.lfs_pointers.end(), maker.lfs_pointers.begin(), maker.lfs_pointers.end());
  std::sort(written.lfs_pointers.begin(), written.lfs_pointers.end());
  written.submodules = std::move(plan.submodules);
  written.skipped = std::move(plan.skipped);
  return written;
}

}  // namespace forge::git
