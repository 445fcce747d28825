#include "orchestrator/sandbox/local/cgroup_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"
#include "orchestrator/base/text.h"

namespace forge::sandbox::local {
namespace {

namespace fs = std::filesystem;

constexpr auto kKillPause = std::chrono::milliseconds(5);

/// v1 has no atomic kill: members are killed until none is left. Who forks meanwhile is met in the next round.
void kill_members(const std::string& directory) {
  if (write_control(directory + "/cgroup.kill", "1") == 0) return;
  const std::string members = read_control(directory + "/cgroup.procs");
  for (const std::string_view line : split_lines(members)) {
    if (const auto pid = number_after(line, ""); pid && *pid > 1) ::kill(static_cast<pid_t>(*pid), SIGKILL);
  }
}

void move_own_processes(const std::string& directory) {
  const std::string leaf = directory + "/forge-main";
  std::error_code ignored;
  fs::create_directory(leaf, ignored);
  const std::string members = read_control(directory + "/cgroup.procs");
  for (const std::string_view line : split_lines(members)) {
    if (!line.empty()) write_control(leaf + "/cgroup.procs", line);
  }
}

}  // namespace

int write_control(const std::string& file, std::string_view text) {
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return errno;
  return ::write(fd.get(), text.data(), text.size()) < 0 ? errno : 0;
}

std::string read_control(const std::string& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  return fd ? read_from_start(fd.get()) : "";
}

std::string read_from_start(int fd) {
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t got = ::pread(fd, piece.data(), piece.size(), static_cast<off_t>(text.size()));
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

std::optional<std::int64_t> read_number(const std::string& file) {
  const std::string text = read_control(file);
  return text.starts_with("max") ? INT64_MAX : number_after(text, "");
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view key) {
  for (const std::string_view line : split_lines(text)) {
    if (!line.starts_with(key)) continue;
    std::int64_t value = 0;
    const std::string_view rest = line.substr(key.size());
    if (std::from_chars(rest.data(), rest.data() + rest.size(), value).ec == std::errc()) return value;
  }
  return {};
}

std::string errno_text(int error) { return std::generic_category().message(error); }

bool has_swap() { return split_lines(trim(read_control("/proc/swaps"))).size() > 1; }

void hand_down_controllers(const std::string& directory) {
  const std::string file = directory + "/cgroup.subtree_control";
  int error = write_control(file, "+memory +pids +cpu");
  if (error == EBUSY) {
    move_own_processes(directory);
    error = write_control(file, "+memory +pids +cpu");
  }
  if (error != 0)
    throw public_failure(ErrorCode::sandbox_unavailable,
                         "the cgroup controllers cannot be handed down in " + directory + ": " + errno_text(error));
}

bool remove_group_tree(const std::string& directory, const Stop& stop) {
  try {
    while (true) {
      std::error_code error;
      if (!fs::is_directory(directory, error)) return true;
      for (const fs::directory_entry& below : fs::directory_iterator(directory, error)) {
        if (below.is_directory(error)) remove_group_tree(below.path().string(), stop);
      }
      if (::rmdir(directory.c_str()) == 0 || errno == ENOENT) return true;
      kill_members(directory);
      pause(kKillPause, stop);
    }
  } catch (const Error&) {
    return false;  // the time for it is over: the sweep of the next start tries again
  }
}

}  // namespace forge::sandbox::local
