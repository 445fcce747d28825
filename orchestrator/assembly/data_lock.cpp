#include "orchestrator/assembly/data_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "orchestrator/base/error.h"

namespace forge::assembly {
namespace {

namespace fs = std::filesystem;

/// False for a directory that serves something else: taking it would take its other users' rights away. Ours bears one of our names, or
/// is still empty ("lost+found" stands at the top of a disk of its own). One that cannot be listed is left to the calls that follow.
bool may_be_ours(const std::string& directory) {
  for (const char* name : {"lock", "forge.db", "forge.toml"}) {
    std::error_code ignored;
    if (fs::exists(fs::path(directory) / name, ignored)) return true;
  }
  std::error_code problem;
  for (fs::directory_iterator entry(directory, problem); !problem && entry != fs::directory_iterator(); entry.increment(problem))
    if (entry->path().filename() != "lost+found") return false;
  return true;
}

}  // namespace

std::optional<DataLock> DataLock::take(const std::string& data_dir) {
  std::error_code problem;
  std::filesystem::create_directories(data_dir, problem);
  const auto refuse = [&](int error) {
    return system_failure("opening the data directory '" + data_dir + "'", error)
        .for_client("the data directory '" + data_dir + "' cannot be used: " + std::generic_category().message(error))
        .with_hint("choose another with --data-dir or FORGE_DATA_DIR");
  };
  if (problem) throw refuse(problem.value());
  if (!may_be_ours(data_dir))
    throw bad_input("data-dir", "'" + data_dir + "' holds other things and is no data directory of Forge",
                    "name a directory of its own with --data-dir or FORGE_DATA_DIR");
  const UniqueFd directory(::open(data_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) throw refuse(errno);
  if (::fchmod(directory.get(), 0700) < 0) throw refuse(errno);
  UniqueFd file(::openat(directory.get(), "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) throw refuse(errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) < 0) {
    if (errno == EWOULDBLOCK) return {};
    throw refuse(errno);
  }
  return DataLock(std::move(file));
}

}  // namespace forge::assembly
