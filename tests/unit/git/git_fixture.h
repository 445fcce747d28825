#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/log.h"
#include "orchestrator/git/repository_cache.h"
#include "tests/support/errors.h"
#include "tests/support/temp_dir.h"
#include "tests/support/temp_repo.h"

namespace forge::git {

/// Long for a test, short for a hang.
inline Stop soon() { return Stop::after(std::chrono::seconds(50)); }

/// The content of a file as CommitBuilder wants it.
inline CommitBuilder::Read reading(std::string text) {
  auto left = std::make_shared<std::string>(std::move(text));
  return [left](char* buffer, std::size_t size) {
    const std::size_t count = std::min(size, left->size());
    std::copy_n(left->data(), count, buffer);
    left->erase(0, count);
    return count;
  };
}

inline void add(CommitBuilder& builder, const std::string& path, const std::string& text, bool executable = false) {
  builder.add_file(path, executable, static_cast<std::int64_t>(text.size()), reading(text));
}

/// A data directory and a cache on it.
class GitTest : public testing::Test {
 protected:
  CacheOptions options() {
    return {.directory = data_.str(), .helper_program = std::filesystem::read_symlink("/proc/self/exe").string(), .log = *log_};
  }
  RepositoryCache& cache() {
    if (!cache_) cache_ = open_repository_cache(options());
    return *cache_;
  }
  /// A new process on the same data directory, as far as the cache can tell.
  void restart() { cache_.reset(); }

  /// Output of the real git on the mirror of `base`.
  static std::string in_mirror(const Base& base, const std::vector<std::string>& args) { return test::run_git(base.mirror, args); }
  static std::string subject() { return "Do it"; }
  CommitBuilder::Result commit(CommitBuilder& builder, const std::string& branch = "forge/test-1") {
    return builder.commit({.subject = subject(), .body = "", .trailers = {}}, branch, soon());
  }

  test::TempDir data_;
  std::unique_ptr<Log> log_ = make_null_log();
  std::unique_ptr<RepositoryCache> cache_;
};

/// Kinds of all findings, for a first look.
inline std::vector<std::string> kinds(const std::vector<CommitBuilder::Finding>& findings) {
  std::vector<std::string> all;
  for (const auto& one : findings) all.push_back(one.kind);
  return all;
}

}  // namespace forge::git
