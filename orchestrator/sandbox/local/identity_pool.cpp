#include "orchestrator/sandbox/local/identity_pool.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/sandbox/local/cgroup_files.h"

namespace forge::sandbox::local {
namespace {

constexpr std::uint32_t kLast = IdentityPool::kFirst + IdentityPool::kBlock * IdentityPool::kBlocks - 1;

bool has_capabilities(std::initializer_list<int> wanted) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> held{};
  if (::syscall(SYS_capget, &header, held.data()) < 0) return false;
  return std::all_of(wanted.begin(), wanted.end(), [&](int capability) {
    return (held.at(static_cast<std::size_t>(capability) / 32).effective & (1U << (capability % 32))) != 0;
  });
}

/// Whether the map of our user namespace covers our range: lines of "inside outside count".
bool covers_range(const std::string& map) {
  for (const std::string_view line : split_lines(map)) {
    std::istringstream fields{std::string(line)};
    std::uint64_t inside = 0;
    std::uint64_t outside = 0;
    std::uint64_t count = 0;
    if (fields >> inside >> outside >> count && inside <= IdentityPool::kFirst && kLast < inside + count) return true;
  }
  return false;
}

}  // namespace

bool may_give_identities() {
  return ::geteuid() == 0 && has_capabilities({CAP_SETUID, CAP_SETGID, CAP_SYS_ADMIN}) &&
         covers_range(read_control("/proc/self/uid_map")) && covers_range(read_control("/proc/self/gid_map"));
}

IdentityPool::IdentityPool(const std::string& lock_directory) {
  if (!may_give_identities()) return;
  std::error_code error;
  std::filesystem::create_directories(lock_directory, error);
  if (error) throw system_failure("making " + lock_directory, error.value());
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    const std::string path = lock_directory + "/" + std::to_string(kFirst + block * kBlock) + ".lock";
    UniqueFd lock = checked_fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), "opening " + path);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) < 0) continue;
    lock_ = std::move(lock);
    first_ = kFirst + block * kBlock;
    used_.lock()->resize(kBlock, false);
    return;
  }
  throw public_failure(ErrorCode::sandbox_unavailable, "every block of user ids in " + lock_directory + " is in use by another instance");
}

Identity IdentityPool::take() {
  if (!lock_) return {.uid = ::geteuid(), .gid = ::getegid(), .pooled = false};
  auto used = used_.lock();
  const auto free = std::find(used->begin(), used->end(), false);
  if (free == used->end())
    throw public_failure(ErrorCode::sandbox_unavailable, "all " + std::to_string(kBlock) + " user ids for sandboxes are in use");
  *free = true;
  const std::uint32_t id = first_ + static_cast<std::uint32_t>(free - used->begin());
  return {.uid = id, .gid = id, .pooled = true};
}

void IdentityPool::give_back(const Identity& identity) noexcept {
  if (!identity.pooled || identity.uid < first_) return;
  auto used = used_.lock();
  if (identity.uid - first_ < used->size()) (*used)[identity.uid - first_] = false;
}

}  // namespace forge::sandbox::local
