#include "tests/support/temp_repo.h"

#include <chrono>

#include "orchestrator/base/confined_dir.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/process.h"

namespace forge::test {
namespace {

constexpr std::size_t kMaxOutputBytes = 64 << 20;

/// The git a shell would find.
std::string git_program() {
  for (const char* program : {"/usr/bin/git", "/usr/local/bin/git"})
    if (std::filesystem::exists(program)) return program;
  throw Error(ErrorCode::not_found, "no git program is installed");
}

}  // namespace

std::string run_git(const std::filesystem::path& directory, const std::vector<std::string>& args) { return run_git(directory, args, ""); }

std::string run_git(const std::filesystem::path& directory, const std::vector<std::string>& args, const std::string& input) {
  SpawnOptions options;
  options.argv = {git_program()};
  options.argv.insert(options.argv.end(), args.begin(), args.end());
  options.cwd = directory.string();
  options.env = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
                 "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "GIT_AUTHOR_NAME=Test Author",
                 "GIT_AUTHOR_EMAIL=author@test.invalid", "GIT_AUTHOR_DATE=1767225600 +0000", "GIT_COMMITTER_NAME=Test Author",
                 "GIT_COMMITTER_EMAIL=author@test.invalid", "GIT_COMMITTER_DATE=1767225600 +0000",
                 // git gives back and asks again for zlib's memory with each object: most of the time of a large import.
                 "MALLOC_TRIM_THRESHOLD_=268435456", "MALLOC_MMAP_THRESHOLD_=33554432"};
  Output output = run_command(std::move(options), input, kMaxOutputBytes, Stop::after(std::chrono::minutes(1)));
  if (!output.exit.ok()) throw Error(ErrorCode::internal, "git " + (args.empty() ? "" : args.front()) + " failed: " + output.err);
  if (output.out.ends_with('\n')) output.out.pop_back();
  return std::move(output.out);
}

TempRepo::TempRepo() { git({"init", "--quiet", "--initial-branch=main"}); }

void TempRepo::remove(const std::string& file) const { remove_tree((path() / file).string()); }

std::string TempRepo::commit(const std::string& message) const {
  git({"add", "--all"});
  git({"commit", "--quiet", "--allow-empty", "--no-verify", "--message", message});
  return head();
}

BareRepo::BareRepo() { git({"init", "--quiet", "--bare", "--initial-branch=main"}); }

}  // namespace forge::test
