#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/temp_dir.h"

namespace forge::test {

/// Runs the real git in `directory` with no configuration of the user or the system, a fixed author and a fixed date.
/// Returns its standard output without the last line break; throws with its standard error when it fails.
std::string run_git(const std::filesystem::path& directory, const std::vector<std::string>& args);

/// The same with bytes on its standard input.
std::string run_git(const std::filesystem::path& directory, const std::vector<std::string>& args, const std::string& input);

/// A fresh git repository with a work tree, on branch `main`, without commits.
class TempRepo {
 public:
  TempRepo();

  const std::filesystem::path& path() const { return directory_.path(); }
  std::string str() const { return directory_.str(); }

  /// Writes a file of the work tree, making its folders.
  void write(const std::string& file, std::string_view text) const { write_file(path() / file, text); }
  /// Removes a file or a folder of the work tree.
  void remove(const std::string& file) const;
  /// Commits everything in the work tree, also when nothing changed; returns the new commit's id.
  std::string commit(const std::string& message) const;
  std::string git(const std::vector<std::string>& args) const { return run_git(path(), args); }
  std::string head() const { return git({"rev-parse", "HEAD"}); }

 private:
  TempDir directory_;
};

/// A bare repository to push to and fetch from, on branch `main`.
class BareRepo {
 public:
  BareRepo();
  const std::filesystem::path& path() const { return directory_.path(); }
  std::string str() const { return directory_.str(); }
  std::string git(const std::vector<std::string>& args) const { return run_git(path(), args); }

 private:
  TempDir directory_;
};

}  // namespace forge::test
