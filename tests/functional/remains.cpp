#include "tests/functional/remains.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include "orchestrator/base/text.h"
#include "tests/functional/program.h"

namespace forge::functional {
namespace {

namespace fs = std::filesystem;

// Other users' processes come and go without an event that tells: they are looked for this often.
constexpr auto kLookAgain = std::chrono::milliseconds(10);

/// "" also when the process goes away meanwhile.
std::string text_of(const fs::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 16 << 10> piece{};
  for (ssize_t got = 1; file && got > 0;) {
    got = ::read(file.get(), piece.data(), piece.size());
    if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

bool is_number(const std::string& name) { return name.find_first_not_of("0123456789") == std::string::npos; }

/// State letter and parent of a process; the state is 0 when there is none.
std::pair<char, pid_t> state_and_parent(pid_t pid) {
  const std::string stat = text_of("/proc/" + std::to_string(pid) + "/stat");
  const auto name_end = stat.rfind(") ");
  if (name_end == std::string::npos) return {0, 0};
  return {stat[name_end + 2], std::stoi(stat.substr(name_end + 4))};
}

bool lives(const Seen& seen) {
  const char state = state_and_parent(seen.pid).first;
  return state != 0 && state != 'Z' && state != 'X' && process_start_ticks(seen.pid) == seen.start_ticks;
}

void look_until(const std::function<bool()>& done) {
  const Stop stop = patience();
  while (!done()) pause(kLookAgain, stop);
}

}  // namespace

std::vector<std::string> processes_with(const std::string& mark) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (!is_number(name) || name == std::to_string(::getpid())) continue;
    std::string command = text_of(entry.path() / "cmdline");
    if (command.empty()) continue;  // dead already and only not reaped yet: the machine's init may be slow
    const bool named = command.find(mark) != std::string::npos || text_of(entry.path() / "environ").find(mark) != std::string::npos ||
                       text_of(entry.path() / "cgroup").find(mark) != std::string::npos;
    std::replace(command.begin(), command.end(), '\0', ' ');
    if (named) found.push_back(name + " " + command);
  }
  return found;
}

void wait_for_process(const std::string& mark) {
  look_until([&] { return !processes_with(mark).empty(); });
}

void wait_for_no_process(const std::string& mark) {
  look_until([&] { return processes_with(mark).empty(); });
}

std::vector<Seen> descendants(pid_t pid) {
  std::multimap<pid_t, pid_t> children;
  for (const auto& entry : fs::directory_iterator("/proc"))
    if (const std::string name = entry.path().filename().string(); is_number(name))
      children.emplace(state_and_parent(std::stoi(name)).second, std::stoi(name));
  std::vector<Seen> found;
  std::vector<pid_t> open{pid};
  while (!open.empty()) {
    const auto [first, last] = children.equal_range(open.back());
    open.pop_back();
    for (auto child = first; child != last; ++child) {
      open.push_back(child->second);
      if (const auto ticks = process_start_ticks(child->second)) found.push_back({child->second, *ticks});
    }
  }
  return found;
}

void wait_for_descendant(pid_t pid, const std::string& mark) {
  look_until([&] {
    const auto all = descendants(pid);
    return std::any_of(all.begin(), all.end(), [&](const Seen& seen) {
      return text_of("/proc/" + std::to_string(seen.pid) + "/cmdline").find(mark) != std::string::npos;
    });
  });
}

void wait_until_dead(const std::vector<Seen>& processes) {
  look_until([&] { return std::none_of(processes.begin(), processes.end(), lives); });
}

std::vector<std::string> mounts_with(const std::string& mark) {
  std::vector<std::string> found;
  const std::string table = text_of("/proc/self/mountinfo");
  for (const auto line : split_lines(table))
    if (line.find(mark) != std::string_view::npos) found.emplace_back(line);
  return found;
}

std::vector<std::string> cgroups_with(const std::string& mark) {
  std::vector<std::string> found;
  std::error_code none;
  for (fs::recursive_directory_iterator at("/sys/fs/cgroup", fs::directory_options::skip_permission_denied, none), end; at != end;
       at.increment(none)) {
    if (none) break;
    if (at->is_directory(none) && at->path().filename().string().find(mark) != std::string::npos) found.push_back(at->path().string());
  }
  return found;
}

}  // namespace forge::functional
