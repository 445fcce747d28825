#include "tests/functional/remains.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "orchestrator/base/text.h"
#include "tests/functional/program.h"

namespace forge::functional {
namespace {

namespace fs = std::filesystem;

// Other users' processes come and go without an event that tells: they are looked for this often.
constexpr auto kLookAgain = std::chrono::milliseconds(10);

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
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
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(::getpid())) continue;
    std::string command = text_of(entry.path() / "cmdline");
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
