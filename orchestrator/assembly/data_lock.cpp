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

std::optional<DataLock> DataLock::take(const std::string& data_dir) {
  std::error_code problem;
  std::filesystem::create_directories(data_dir, problem);
  const auto refuse = [&](int error) {
    return system_failure("opening the data directory '" + data_dir + "'", error)
        .for_client("the data directory '" + data_dir + "' cannot be used: " + std::generic_category().message(error))
        .with_hint("choose another with --data-dir or FORGE_DATA_DIR");
  };
  if (problem) throw refuse(problem.value());
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
