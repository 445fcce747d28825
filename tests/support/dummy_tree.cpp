#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/support/dummy_sandbox.h"
#include "tests/support/temp_dir.h"

namespace forge::test {
namespace {

namespace fs = std::filesystem;
using sandbox::Change;
using sandbox::ChangeLimits;
using sandbox::ChangeSink;

/// Paths below `root` of everything that is no directory.
std::set<std::string> entries_below(const fs::path& root) {
  std::set<std::string> found;
  if (root.empty()) return found;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_symlink() || !entry.is_directory()) found.insert(entry.path().lexically_relative(root).string());
  return found;
}

fs::file_status status_of(const fs::path& path) { return fs::symlink_status(path); }

bool is_executable(const fs::path& path) { return (status_of(path).permissions() & fs::perms::owner_exec) != fs::perms::none; }

bool same_entry(const fs::path& a, const fs::path& b) {
  if (status_of(a).type() != status_of(b).type()) return false;
  if (fs::is_symlink(a)) return fs::read_symlink(a) == fs::read_symlink(b);
  return is_executable(a) == is_executable(b) && test::read_file(a) == test::read_file(b);
}

ChangeSink::Read reader_of(std::string content) {
  return [content = std::move(content), at = std::size_t{0}](char* buffer, std::size_t size) mutable {
    const std::size_t count = std::min(size, content.size() - at);
    content.copy(buffer, count, at);
    at += count;
    return count;
  };
}

std::size_t no_content(char*, std::size_t) { return 0; }

}  // namespace

void DummySandbox::changes(const ChangeLimits& limits, ChangeSink& sink, const Stop& stop) {
  if (failures.changes) throw Error(*failures.changes, "dummy sandbox was told to fail: changes");
  if (!halted_) throw Error(ErrorCode::conflict, "changes() before halt()");
  const fs::path before = spec_.tree ? spec_.tree->directory : "";
  const fs::path after = host_path("/workspace");
  const std::set<std::string> old_paths = entries_below(before);
  const std::set<std::string> new_paths = entries_below(after);
  std::int64_t entries = 0;
  std::int64_t bytes = 0;
  const auto count_in = [&](std::int64_t size) {
    if (++entries > limits.max_entries) throw Error(ErrorCode::limit_exceeded, "more changes than " + std::to_string(limits.max_entries));
    if ((bytes += size) > limits.max_bytes)
      throw Error(ErrorCode::limit_exceeded, "more changed bytes than " + std::to_string(limits.max_bytes));
  };
  for (const std::string& path : old_paths) {
    if (new_paths.contains(path)) continue;
    Change change{Change::Kind::deleted, fs::is_symlink(before / path) ? Change::Type::symlink : Change::Type::file, path, false, 0, {}};
    count_in(0);
    sink.change(change, no_content);
  }
  for (const std::string& path : new_paths) {
    stop.check();
    const bool known = old_paths.contains(path);
    if (known && same_entry(before / path, after / path)) continue;
    Change change{known ? Change::Kind::modified : Change::Kind::added, Change::Type::file, path, false, 0, {}};
    if (fs::is_symlink(after / path)) {
      change.type = Change::Type::symlink;
      change.link_target = fs::read_symlink(after / path).string();
      count_in(0);
      sink.change(change, no_content);
    } else if (!fs::is_regular_file(after / path)) {
      sink.finding(fs::is_fifo(after / path) ? "fifo" : fs::is_socket(after / path) ? "socket" : "device", path, "not a file, left out");
    } else {
      std::string content = test::read_file(after / path);
      change.executable = is_executable(after / path);
      change.size = static_cast<std::int64_t>(content.size());
      count_in(change.size);
      sink.change(change, reader_of(std::move(content)));
    }
  }
}

}  // namespace forge::test
