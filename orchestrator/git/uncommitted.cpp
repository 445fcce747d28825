#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "orchestrator/base/confined_dir.h"
#include "orchestrator/git/local_source.h"
#include "orchestrator/git/special_files.h"

namespace forge::git {
namespace {

constexpr std::size_t kMaxEntries = 1'000'000;
constexpr std::uint16_t kAssumeUnchanged = 0x8000;  // the user told git not to look

/// The index by path, and every directory that has a tracked file below it. Views into the index.
struct Tracked {
  std::unordered_map<std::string_view, const git_index_entry*> files;
  std::unordered_set<std::string_view> directories;
};

Tracked tracked_of(git_index* index) {
  Tracked tracked;
  const std::size_t count = git_index_entrycount(index);
  tracked.files.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const git_index_entry* entry = git_index_get_byindex(index, i);
    const std::string_view path = entry->path;
    tracked.files.emplace(path, entry);
    for (auto slash = path.rfind('/'); slash != std::string_view::npos && slash > 0; slash = path.rfind('/', slash - 1))
      if (!tracked.directories.insert(path.substr(0, slash)).second) break;  // its parents are there already
  }
  return tracked;
}

bool is_watched(const git_index_entry& entry) {
  return (entry.flags & kAssumeUnchanged) == 0 && (entry.flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE) == 0 &&
         entry.mode != GIT_FILEMODE_COMMIT;
}

/// What git's index remembers of a file, against what is there.
bool differs(const git_index_entry& entry, const struct stat& now, bool modes_count) {
  if (S_ISLNK(now.st_mode) != (entry.mode == GIT_FILEMODE_LINK) || (!S_ISREG(now.st_mode) && !S_ISLNK(now.st_mode))) return true;
  if (static_cast<std::uint32_t>(now.st_size) != entry.file_size) return true;
  if (now.st_mtim.tv_sec != entry.mtime.seconds) return true;
  // 0: the git that wrote the index keeps seconds only.
  if (entry.mtime.nanoseconds != 0 && static_cast<std::uint32_t>(now.st_mtim.tv_nsec) != entry.mtime.nanoseconds) return true;
  const bool executable = (now.st_mode & S_IXUSR) != 0;
  return modes_count && S_ISREG(now.st_mode) && executable != (entry.mode == GIT_FILEMODE_BLOB_EXECUTABLE);
}

using ConfigSnapshot = std::unique_ptr<git_config, FreeWith<git_config_free>>;

/// Nothing when it cannot be read: then git's defaults hold.
ConfigSnapshot config_of(git_repository* repository) {
  git_config* raw = nullptr;
  git_repository_config_snapshot(&raw, repository);
  return ConfigSnapshot(raw);
}

bool modes_count(const ConfigSnapshot& config) {
  int counted = 1;
  return !config || git_config_get_bool(&counted, config.get(), "core.filemode") < 0 || counted == 1;
}

/// Ignore files lie outside of the git directory, where nobody has looked yet: libgit2 would wait for a FIFO among them without end.
class IgnoreFiles {
 public:
  IgnoreFiles(std::string work_tree, const ConfigSnapshot& config) : work_tree_(std::move(work_tree)) {
    const char* excludes = nullptr;
    if (!config || git_config_get_string(&excludes, config.get(), "core.excludesfile") < 0) return;
    refuse_special_file(excludes);
    refuse_special_file(work_tree_ + excludes);
  }

  /// Throws when one on the way to `path`, or in it, is no plain file. Looks once into each folder.
  void check_for(std::string path) {
    while (checked_.insert(path).second) {
      refuse_special_file(work_tree_ + (path.empty() ? "" : path + "/") + ".gitignore");
      if (path.empty()) return;
      const auto slash = path.rfind('/');
      path.resize(slash == std::string::npos ? 0 : slash);
    }
  }

 private:
  const std::string work_tree_;  // ends with a slash
  std::unordered_set<std::string> checked_;
};

class UncommittedCount {
 public:
  UncommittedCount(const LocalSource& source, std::int64_t most, const Stop& stop)
      : repository_(source.repository()),
        most_(static_cast<std::size_t>(most)),
        stop_(stop),
        config_(config_of(repository_)),
        modes_count_(modes_count(config_)),
        ignore_files_(git_repository_workdir(repository_), config_) {}

  std::int64_t run() {
    const auto index = receive<Index>("reading the index", [&](git_index** out) { return git_repository_index(out, repository_); });
    add_staged(index.get());
    add_unstaged(index.get());
    return static_cast<std::int64_t>(found_.size());
  }

 private:
  bool full() const { return found_.size() >= most_; }

  void add_staged(git_index* index) {
    git_oid head{};
    Tree tree;  // none without a commit: everything in the index is new
    if (git_reference_name_to_id(&head, repository_, "HEAD") == 0)
      tree = find_tree(repository_, *git_commit_tree_id(find_commit(repository_, head).get()));
    const auto diff = receive<TreeDiff>("comparing HEAD with the index", [&](git_diff** out) {
      return git_diff_tree_to_index(out, repository_, tree.get(), index, nullptr);
    });
    for (std::size_t i = 0; i < git_diff_num_deltas(diff.get()) && !full(); ++i)
      found_.insert(git_diff_get_delta(diff.get(), i)->new_file.path);
  }

  void add_unstaged(git_index* index) {
    Tracked tracked = tracked_of(index);
    const ConfinedDir tree = ConfinedDir::open(git_repository_workdir(repository_));
    try {
      tree.walk("", kMaxEntries, [&](const ConfinedDir::Entry& entry) { return visit(entry, tracked); });
    } catch (const Error& error) {
      if (error.code() != ErrorCode::limit_exceeded) throw;
      return;  // a lower bound is still worth saying
    }
    for (const auto& [path, entry] : tracked.files)  // visit() took away what is there
      if (!full() && is_watched(*entry)) found_.insert(std::string(path));
  }

  /// True to look below.
  bool visit(const ConfinedDir::Entry& entry, Tracked& tracked) {
    if (full()) return false;
    if (S_ISDIR(entry.status.st_mode)) {
      stop_.check();
      if (entry.path == ".git" || entry.path.ends_with("/.git")) return false;
      if (tracked.directories.contains(entry.path)) return true;
      const auto known = tracked.files.find(entry.path);
      if (known != tracked.files.end() && known->second->mode == GIT_FILEMODE_COMMIT) {  // a submodule
        tracked.files.erase(known);
      } else if (!is_ignored(entry.path) && has_new_file(entry.path)) {
        found_.insert(entry.path);
      }
      return false;
    }
    const auto known = tracked.files.find(entry.path);
    if (known == tracked.files.end()) {
      if (is_file(entry) && !is_ignored(entry.path)) found_.insert(entry.path);
      return false;
    }
    if (is_watched(*known->second) && differs(*known->second, entry.status, modes_count_)) found_.insert(entry.path);
    tracked.files.erase(known);
    return false;
  }

  static bool is_file(const ConfinedDir::Entry& entry) { return S_ISREG(entry.status.st_mode) || S_ISLNK(entry.status.st_mode); }

  /// Empty directories and ignored files alone are nothing to git.
  bool has_new_file(const std::string& directory) {
    bool found = false;
    ConfinedDir::open(git_repository_workdir(repository_)).walk(directory, kMaxEntries, [&](const ConfinedDir::Entry& entry) {
      if (!found && is_file(entry)) found = !is_ignored(entry.path);
      return !found;
    });
    return found;
  }

  bool is_ignored(const std::string& path) {
    ignore_files_.check_for(path);
    int ignored = 0;
    return git_ignore_path_is_ignored(&ignored, repository_, path.c_str()) == 0 && ignored == 1;
  }

  git_repository* repository_;
  std::size_t most_;
  const Stop& stop_;
  const ConfigSnapshot config_;
  const bool modes_count_;
  IgnoreFiles ignore_files_;
  std::set<std::string> found_;
};

}  // namespace

std::int64_t count_uncommitted(const LocalSource& source, std::int64_t most, const Stop& stop) {
  if (source.is_bare()) return 0;
  return UncommittedCount(source, most, stop).run();
}

}  // namespace forge::git
