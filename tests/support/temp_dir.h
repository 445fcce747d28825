#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace forge::test {

/// A fresh directory that is removed, with everything in it, when the object dies.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string str() const { return path_.string(); }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Writes `text` to `file`, making its parents.
void write_file(const std::filesystem::path& file, std::string_view text);
/// Makes `levels` folders called `name` inside each other, the outermost in `top`; step by step, so that a path may be longer than any
/// system call takes.
void make_deep_tree(const std::filesystem::path& top, int levels, const std::string& name);
/// The whole of `file`; throws not_found when it cannot be read.
std::string read_file(const std::filesystem::path& file);

}  // namespace forge::test
