#pragma once

#include <map>

#include "tests/unit/git/git_fixture.h"

namespace forge::git {

/// A repository with two commits, before and after a run, and the cache's view of them.
class ReviewTest : public GitTest {
 protected:
  /// Commits the work tree as the base.
  void be_base() { base_ = repo_.commit("base"); }
  /// Commits the work tree as what a run made, and fetches both.
  void be_head() {
    head_ = repo_.commit("head");
    mirror_ = cache().fetch(repo_.str(), "", soon());
  }
  /// One file that the run changed from `before` to `after`.
  void change(const std::string& path, const std::string& before, const std::string& after) {
    repo_.write(path, before);
    be_base();
    repo_.write(path, after);
    be_head();
  }

  CanonicalDiff compare() { return cache().compare(repo_.str(), base_, head_, soon()); }
  FileDiff only_file() {
    CanonicalDiff diff = compare();
    EXPECT_EQ(diff.files.size(), 1u);
    return diff.files.empty() ? FileDiff{} : diff.files.front();
  }
  /// The file of the diff whose new path is `path`.
  FileDiff changed(const std::string& path) {
    for (FileDiff& file : compare().files)
      if (file.new_path == path) return file;
    ADD_FAILURE() << "no change of " << path;
    return {};
  }
  std::string id(const std::string& path, std::size_t hunk = 0) { return changed(path).hunks.at(hunk).id; }
  static std::vector<std::string> all_ids(const CanonicalDiff& diff) {
    std::vector<std::string> ids;
    for (const FileDiff& file : diff.files)
      for (const Hunk& hunk : file.hunks) ids.push_back(hunk.id);
    return ids;
  }

  Acceptance acceptance(std::vector<std::string> hunks, std::vector<Suggestion> suggestions = {}) {
    return {.repository = repo_.str(),
            .base_commit = base_,
            .head_commit = head_,
            .hunks = std::move(hunks),
            .suggestions = std::move(suggestions),
            .message = "Accept some",
            .branch = "forge/a-1-accepted",
            .time_ms = 1'767'225'600'000};
  }
  AcceptedCommit accept(std::vector<std::string> hunks, std::vector<Suggestion> suggestions = {}) {
    return cache().accept(acceptance(std::move(hunks), std::move(suggestions)), soon());
  }
  std::optional<Error> refusal(std::vector<std::string> hunks, std::vector<Suggestion> suggestions = {}) {
    return test::error_of([&] { accept(std::move(hunks), std::move(suggestions)); });
  }
  std::string patch(const std::vector<std::string>& hunks) { return cache().patch(repo_.str(), base_, head_, hunks, soon()); }

  /// A file of a commit of the mirror, as the cache gives it.
  std::string content(const std::string& commit, const std::string& path) {
    return cache().file(repo_.str(), commit, path, 1 << 20, soon()).content;
  }
  std::string mode(const std::string& commit, const std::string& path) {
    return cache().file(repo_.str(), commit, path, 1 << 20, soon()).mode;
  }
  /// All paths of a commit, one a line.
  std::string paths(const std::string& commit) { return in_mirror(mirror_, {"ls-tree", "-r", "--name-only", commit}); }

  /// "1\n" to "count\n", with other lines in some places.
  static std::string lines(int count, const std::map<int, std::string>& others = {}, const std::string& end = "\n") {
    std::string text;
    for (int i = 1; i <= count; ++i) text += (others.contains(i) ? others.at(i) : std::to_string(i)) + end;
    return text;
  }
  void link(const std::string& target, const std::string& path) { std::filesystem::create_symlink(target, repo_.path() / path); }
  void make_executable(const std::string& path) { std::filesystem::permissions(repo_.path() / path, std::filesystem::perms(0755)); }

  test::TempRepo repo_;
  std::string base_;
  std::string head_;
  Base mirror_;
};

}  // namespace forge::git
