#include "orchestrator/assembly/data_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "orchestrator/base/error.h"

namespace forge::assembly {
namespace {

namespace fs = std::filesystem;

constexpr std::array kTellTale = {"lock", "forge.db", "trace.db", "forge.sock", "forge.toml"};
// Of ours, too, but others use such names. "lost+found" stands at the top of a disk of its own.
constexpr std::array kCommon = {"run", "blobs", "mirrors", "checkouts", "templates", "adapters", "backups", "lost+found"};

std::string_view name_of(Holder holder) { return holder == Holder::server ? "server" : "command"; }

template <typename Names>
bool is_one_of(const std::string& name, const Names& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// False for a directory that serves something else: taking it would take its other users' rights away. Ours bears a name that tells, or
/// nothing but names of ours: `forge sandbox run` and `forge adapter install` write without taking the directory. One that cannot be
/// listed is left to the calls that follow.
bool may_be_ours(const std::string& directory) {
  bool foreign = false;
  std::error_code problem;
  for (fs::directory_iterator entry(directory, problem); !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
    const std::string name = entry->path().filename();
    if (is_one_of(name, kTellTale)) return true;
    foreign = foreign || !is_one_of(name, kCommon);
  }
  return !foreign;
}

}  // namespace

std::optional<DataLock> DataLock::take(const std::string& data_dir, Holder holder) {
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
  // On a full disk others learn less, and nothing breaks.
  const std::string_view name = name_of(holder);
  if (::ftruncate(file.get(), 0) == 0) static_cast<void>(!::pwrite(file.get(), name.data(), name.size(), 0));
  return DataLock(std::move(file));
}

Holder DataLock::last_holder(const std::string& data_dir) {
  std::array<char, 16> text{};
  const UniqueFd file(::open((data_dir + "/lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  const ssize_t size = file ? ::pread(file.get(), text.data(), text.size(), 0) : 0;
  const std::string_view name(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return name == name_of(Holder::server) ? Holder::server : Holder::command;
}

}  // namespace forge::assembly
