#include "tests/support/temp_dir.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "orchestrator/base/confined_dir.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"

namespace forge::test {

namespace fs = std::filesystem;

TempDir::TempDir() {
  std::string pattern = (fs::temp_directory_path() / "forge-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw system_failure("making a temporary directory", errno);
  path_ = fs::canonical(pattern);
}

TempDir::~TempDir() {
  try {
    remove_tree(path_.string());
  } catch (const Error& error) {
    std::cerr << "a temporary directory stays: " << error.what() << '\n';
  }
}

void write_file(const fs::path& file, std::string_view text) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw Error(ErrorCode::internal, "writing '" + file.string() + "' failed");
}

void make_deep_tree(const fs::path& top, int levels, const std::string& name) {
  fs::create_directories(top);
  UniqueFd at = checked_fd(::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "opening the top");
  for (int i = 0; i < levels; ++i) {
    checked(::mkdirat(at.get(), name.c_str(), 0700), "making a folder");
    at = checked_fd(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "entering a folder");
  }
}

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(ErrorCode::not_found, "cannot read '" + file.string() + "'");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace forge::test
