#include "orchestrator/sandbox/local/instance.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>

#include "orchestrator/base/confined_dir.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/ids.h"
#include "orchestrator/base/text.h"
#include "orchestrator/sandbox/local/cgroup.h"
#include "orchestrator/sandbox/local/cgroup_files.h"

namespace forge::sandbox::local {
namespace {

namespace fs = std::filesystem;

std::string fresh_id() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return new_id_text(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

/// The lock of an instance when its owner is dead; none while it lives. A directory without a lock file is being made or removed.
UniqueFd lock_of_dead(const std::string& directory) {
  UniqueFd lock(::open((directory + "/lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) < 0) lock.reset();
  return lock;
}

/// Believed only as far as the names that we give ourselves.
std::vector<std::string> recorded_groups(const std::string& directory, const std::string& id) {
  std::vector<std::string> parents;
  const std::string recorded = read_control(directory + "/cgroups");
  for (const std::string_view line : split_lines(recorded)) {
    if (line.ends_with("/forge-" + id)) parents.emplace_back(line);
  }
  return parents;
}

void sweep_one(const std::string& directory, const std::string& id, Log& log, const Stop& stop) {
  const bool groups_gone = remove_instance_groups(recorded_groups(directory, id), stop);
  if (!groups_gone) return log.warn("cgroups of a dead instance are still in use", {{"instance", id}});
  remove_tree(directory);
  log.info("cleaned up after a dead instance", {{"instance", id}});
}

}  // namespace

// The lock is taken before anything that would have to be cleaned up exists. A crash between mkdir and flock leaves an empty directory.
Instance::Instance(const std::string& run_directory) : id_(fresh_id()), directory_(run_directory + "/" + id_) {
  std::error_code error;
  fs::create_directories(run_directory, error);
  if (error) throw system_failure("making the run directory " + run_directory, error.value());
  checked(::mkdir(directory_.c_str(), 0711), "making " + directory_);
  lock_ = checked_fd(::open((directory_ + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), "making the lock of " + directory_);
  checked(::flock(lock_.get(), LOCK_EX | LOCK_NB), "locking " + directory_);
}

Instance::~Instance() {
  try {
    remove_tree(directory_);
  } catch (const Error&) {
    ::unlink((directory_ + "/cgroups").c_str());  // the sweep of the next start takes the rest
  }
}

void Instance::record_cgroups(const std::vector<std::string>& parents) const {
  std::string text;
  for (const std::string& parent : parents) text += parent + "\n";
  const UniqueFd file =
      checked_fd(::open((directory_ + "/cgroups").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), "recording cgroups");
  write_all(file.get(), text, Stop());
}

int sweep_dead_instances(const std::string& run_directory, Log& log, const Stop& stop) {
  int dead = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(run_directory, error)) {
    const std::string id = entry.path().filename().string();
    if (!is_id_text(id) || !entry.is_directory(error)) continue;
    const UniqueFd lock = lock_of_dead(entry.path().string());
    if (!lock) continue;
    ++dead;
    try {
      sweep_one(entry.path().string(), id, log, stop);
    } catch (const Error& e) {
      if (e.code() == ErrorCode::cancelled) throw;
      log.warn("cleaning up after a dead instance failed", {{"instance", id}, {"why", e.what()}});
    }
  }
  return dead;
}

}  // namespace forge::sandbox::local
