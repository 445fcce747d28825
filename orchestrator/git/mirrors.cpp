#include "orchestrator/git/mirrors.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "orchestrator/base/confined_dir.h"
#include "orchestrator/base/fd.h"
#include "orchestrator/base/text.h"
#include "orchestrator/crypto/crypto.h"
#include "orchestrator/git/handles.h"
#include "orchestrator/git/object_stage.h"

namespace forge::git {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNewMirror = ".new-";
constexpr std::size_t kMaxMirrorFiles = 5'000'000;
constexpr const char* kRunRefs = "refs/forge/runs/*";

struct MirrorUse {
  std::string git_dir;
  std::int64_t bytes = 0;
  std::int64_t used_s = 0;  // time of the directory itself, set by every refresh
};

MirrorUse measure(const std::string& git_dir) {
  MirrorUse use{.git_dir = git_dir};
  struct stat status {};
  if (::stat(git_dir.c_str(), &status) == 0) use.used_s = status.st_mtim.tv_sec;
  ConfinedDir::open(git_dir).walk("", kMaxMirrorFiles, [&](const ConfinedDir::Entry& entry) {
    use.bytes += entry.status.st_blocks * 512;
    return true;
  });
  return use;
}

/// A run's commits exist nowhere else when they were not pushed.
bool holds_runs(const std::string& git_dir) {
  const Repository mirror = open_mirror(git_dir);
  const auto iterator = receive<ReferenceIterator>(
      "listing run branches", [&](git_reference_iterator** out) { return git_reference_iterator_glob_new(out, mirror.get(), kRunRefs); });
  const char* name = nullptr;
  return git_reference_next_name(&name, iterator.get()) == 0;
}

/// Files directly in `directory` whose name says that they are of no use.
void remove_files(const std::string& directory, bool (*is_leftover)(const std::string& name)) {
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(directory, missing))
    if (entry.is_regular_file() && is_leftover(entry.path().filename().string())) fs::remove(entry.path(), missing);
}

void init_bare(const std::string& git_dir) {
  git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
  options.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH | GIT_REPOSITORY_INIT_NO_REINIT;
  receive<Repository>("making a mirror", [&](git_repository** out) { return git_repository_init_ext(out, git_dir.c_str(), &options); });
}

}  // namespace

Mirrors::Mirrors(std::string directory, std::int64_t max_bytes, Log& log) : directory_(std::move(directory)), log_(log) {
  fs::create_directories(directory_);
  remove_leftovers();
  evict(max_bytes);
}

std::string Mirrors::path_of(const std::string& repository_name) const { return directory_ + "/" + crypto::sha256_hex(repository_name); }

void Mirrors::refresh(const std::string& git_dir, const std::string& what, const Stop& stop, const std::function<void()>& refresh) {
  if (!take_turn(git_dir, what, stop)) return;
  const auto began = SteadyClock::now();
  try {
    refresh();
  } catch (...) {
    end_turn(git_dir, what, began, false);
    throw;
  }
  ::utimensat(AT_FDCWD, git_dir.c_str(), nullptr, 0);  // when it was used last; only evict() asks
  end_turn(git_dir, what, began, true);
}

bool Mirrors::take_turn(const std::string& git_dir, const std::string& what, const Stop& stop) {
  const auto asked = SteadyClock::now();
  auto turns = turns_.lock();
  while (!turns.wait_until(stop.token(), stop.deadline(), [&](const auto& all) {
    const auto found = all.find(git_dir);
    return found == all.end() || !found->second.taken;
  }))
    stop.check();
  Turn& turn = (*turns)[git_dir];
  if (turn.began > asked && turn.what == what) return false;
  turn.taken = true;
  return true;
}

void Mirrors::end_turn(const std::string& git_dir, const std::string& what, SteadyClock::time_point began, bool succeeded) {
  auto turns = turns_.lock();
  Turn& turn = (*turns)[git_dir];
  turn.taken = false;
  if (succeeded) {
    turn.what = what;
    turn.began = began;
  }
  turns.notify_all();
}

void Mirrors::create(const std::string& git_dir, const std::function<void(const std::string&)>& fill) {
  const std::string temporary = directory_ + "/" + std::string(kNewMirror) + crypto::random_token(9);
  try {
    init_bare(temporary);
    write_pack_settings(temporary);
    fill(temporary);
    checked(::rename(temporary.c_str(), git_dir.c_str()), "placing a new mirror");
  } catch (...) {
    clean_up_tree(temporary, log_);
    throw;
  }
}

void Mirrors::sweep(const std::string& git_dir) {
  remove_files(git_dir + "/objects/pack",
               [](const std::string& name) { return name.starts_with("pack_git2_") || name.ends_with(".part"); });
}

void Mirrors::remove_leftovers() {
  for (const auto& entry : fs::directory_iterator(directory_)) {
    const std::string path = entry.path().string();
    if (entry.path().filename().string().starts_with(kNewMirror)) {
      remove_tree(path);
      continue;
    }
    sweep(path);
    // References are written by this process alone: a lock that is there before it begins is of a process that died.
    const auto is_lock = [](const std::string& name) { return name.ends_with(".lock"); };
    remove_files(path, is_lock);
    for (const auto& below : fs::recursive_directory_iterator(path + "/refs"))
      if (below.is_directory()) remove_files(below.path().string(), is_lock);
    remove_files(path + "/objects", [](const std::string& name) { return name.starts_with("tmp_object_git2_"); });
  }
}

void Mirrors::evict(std::int64_t max_bytes) {
  std::vector<MirrorUse> all;
  std::int64_t total = 0;
  for (const auto& entry : fs::directory_iterator(directory_)) {
    all.push_back(measure(entry.path().string()));
    total += all.back().bytes;
  }
  std::sort(all.begin(), all.end(), [](const MirrorUse& a, const MirrorUse& b) { return a.used_s < b.used_s; });
  for (const MirrorUse& one : all) {
    if (total <= max_bytes) return;
    if (holds_runs(one.git_dir)) continue;
    log_.info("removing an unused mirror", {{"mirror", one.git_dir}, {"bytes", static_cast<long long>(one.bytes)}});
    remove_tree(one.git_dir);
    total -= one.bytes;
  }
  if (total > max_bytes)
    log_.warn("the mirrors hold commits of runs and stay above git.mirrors_max_bytes",
              {{"bytes", human_bytes(static_cast<std::size_t>(total))}, {"limit", human_bytes(static_cast<std::size_t>(max_bytes))}});
}

}  // namespace forge::git
