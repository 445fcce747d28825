#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "orchestrator/base/absolute_path.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/numbers.h"
#include "orchestrator/base/process.h"
#include "orchestrator/base/text.h"
#include "orchestrator/cli/connection.h"
#include "orchestrator/cli/exit_code.h"
#include "orchestrator/cli/summary.h"
#include "orchestrator/cli/verbs.h"

namespace forge::cli {
namespace {

constexpr std::size_t kGitOutputBytes = 16 << 20;
constexpr std::size_t kShownFiles = 8;

struct ApplyOptions {
  std::string id;
  std::string directory = ".";
  std::optional<std::int64_t> run;
  ServerChoice server;
};

/// The person's git, not a bundled one: its settings (line endings, attributes) are the work tree's.
std::string find_git() {
  const char* path = std::getenv("PATH");
  for (const auto& folder : split(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path, ':'))
    if (std::string file = folder + "/git"; folder.starts_with('/') && std::filesystem::is_regular_file(file)) return file;
  throw public_failure(ErrorCode::unavailable, "git is not installed").with_hint("apt install git");
}

/// The person's own git in the person's own work tree.
class Git {
 public:
  Git(std::string directory, const Stop& stop) : program_(find_git()), directory_(std::move(directory)), stop_(stop) {
    for (const char* name : {"PATH", "HOME", "XDG_CONFIG_HOME"})
      if (const char* value = std::getenv(name)) env_.push_back(std::string(name) + "=" + value);
    env_.emplace_back("LC_ALL=C");  // its messages are shown beside ours
  }

  Output run(const std::vector<std::string>& args, std::string_view input = {}) const {
    SpawnOptions options{.argv = {program_, "-C", directory_}, .env = env_, .cwd = {}, .fds = {}};
    options.argv.insert(options.argv.end(), args.begin(), args.end());
    return run_command(std::move(options), input, kGitOutputBytes, stop_);
  }
  void enter(std::string directory) { directory_ = std::move(directory); }

 private:
  std::string program_;
  std::string directory_;
  std::vector<std::string> env_;
  const Stop& stop_;
};

/// The top of the work tree: git apply leaves out what lies above the directory it runs in.
std::string work_tree(const Git& git, const std::string& directory) {
  const Output top = git.run({"rev-parse", "--show-toplevel"});
  if (!top.exit.ok()) throw bad_input("", fmt::format("{} is not a git work tree", directory), "name the work tree with --repo DIR");
  return std::string(trim(top.out));
}

/// Files with changes that are not committed, at most a few.
std::string dirty_files(const Git& git) {
  const auto entries = split(git.run({"status", "--porcelain", "-z", "--untracked-files=no"}).out, '\0');
  std::string names;
  std::size_t count = 0;
  for (const auto& entry : entries)
    if (entry.size() > 3 && ++count <= kShownFiles) names += (names.empty() ? "" : ", ") + one_line(entry.substr(3), 60);
  return count > kShownFiles ? names + fmt::format(" and {} more", count - kShownFiles) : names;
}

/// git's own words about each file, and which of them hold work that is not committed: that is the usual cause.
[[noreturn]] void refuse(const Git& git, const std::string& directory, const Output& check) {
  std::string reasons;
  const auto lines = split_lines(trim(check.err));
  for (std::size_t i = 0; i < lines.size() && i < kShownFiles; ++i) reasons += "\n  " + one_line(lines[i], 200);
  const std::string dirty = dirty_files(git);
  throw public_failure(ErrorCode::conflict, fmt::format("the diff does not apply to {}; nothing was changed{}", directory, reasons))
      .with_hint(dirty.empty() ? "the files have moved on since the run's base; merge its branch instead, or run the job again"
                               : "changes that are not committed may be in the way: " + dirty + "; commit or stash them first");
}

int apply(Context& context, const ApplyOptions& options) {
  const std::string id = job_id(options.id);
  Git git(absolute_path(options.directory), context.stop);
  const std::string top = work_tree(git, options.directory);
  git.enter(top);
  Connection connection = connect(context, options.server, EngineUse::look);
  const int run = static_cast<int>(options.run.value_or(0));
  const std::string diff = connection.client.diff(id, run, context.stop);
  if (diff.empty()) {
    context.console.note("the run changed nothing");
    return number(ExitCode::no_changes);
  }
  const std::vector<std::string> check{"apply", "--check", "--whitespace=nowarn", "-"};
  if (const Output checked = git.run(check, diff); !checked.exit.ok()) refuse(git, top, checked);
  const Output applied = git.run({"apply", "--whitespace=nowarn", "-"}, diff);
  if (!applied.exit.ok()) refuse(git, top, applied);
  const DiffStat stat = connection.client.run(id, run, context.stop).diff_stat;
  context.console.print(
      fmt::format("applied to {}: {}, +{} -{}; not committed\n", top, counted(stat.files, "file"), stat.insertions, stat.deletions));
  return 0;
}

}  // namespace

Verb apply_verb() {
  const auto o = std::make_shared<ApplyOptions>();
  Verb verb{
      .name = "apply",
      .summary = "Put a run's diff into a work tree, without committing",
      .group = "Jobs",
      .details = "All of it or nothing: a diff that does not fit is refused, and said why.",
      .examples = "  forge apply 06f3m2k9qa\n  forge apply 06f3m2k9qa --repo ~/src/app --run 2",
      .options = {{.name = "--repo", .value = "DIR", .help = "Work tree; the current directory unless said", .target = &o->directory},
                  {.name = "--run", .value = "N", .help = "Another run than the latest", .target = &o->run, .least = 1, .most = 1'000'000}},
      .positionals = {{.name = "ID", .help = "The job's id, or its first 6 characters or more", .target = &o->id}},
      .run = [o](Context& context) { return apply(context, *o); }};
  for (auto& option : server_options(o->server)) verb.options.push_back(std::move(option));
  return verb;
}

}  // namespace forge::cli
