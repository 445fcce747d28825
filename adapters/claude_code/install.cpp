#include "adapters/claude_code/install.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include <embedded/claude_code_lock.h>
#include <embedded/claude_code_package.h>

#include "adapters/claude_code/command_line.h"
#include "orchestrator/base/confined_dir.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/fd.h"
#include "orchestrator/base/process.h"
#include "orchestrator/base/text.h"

namespace forge::adapters::claude_code {
namespace {

namespace fs = std::filesystem;

// Some 400 MB over any line.
constexpr auto kInstallTime = std::chrono::minutes(30);
constexpr auto kVersionTime = std::chrono::seconds(30);
constexpr std::size_t kMostNpmOutput = 4 << 20;
constexpr std::size_t kShownNpmOutput = 1500;
constexpr std::size_t kShownNpmLines = 8;
constexpr const char* kAside = ".new";

Error failure(std::string text) { return public_failure(ErrorCode::unavailable, std::move(text)); }

/// `step` of std::filesystem; what it says when it fails.
template <typename Step>
void on_disk(const std::string& what, Step step) {
  std::error_code error;
  step(error);
  if (error) throw failure(what + ": " + error.message());
}

/// One installation or removal at a time, also of different processes.
UniqueFd lock_home(const Home& home) {
  on_disk("making the folder " + home.folder, [&](std::error_code& error) { fs::create_directories(home.folder, error); });
  const std::string path = home.folder + "/.lock";
  UniqueFd file = checked_fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), "opening " + path);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  throw public_failure(ErrorCode::conflict, "claude-code is being installed or removed by another process");
}

void write_text(const fs::path& path, std::string_view text) {
  const UniqueFd file = checked_fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), "making " + path.string());
  write_all(file.get(), text, Stop());
}

bool says(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const auto word : words)
    if (text.find(word) != std::string_view::npos) return true;
  return false;
}

Error npm_failure(const std::string& said) {
  const HeadTail cut = cut_middle(to_utf8(trim(said)).text, kShownNpmOutput, kShownNpmLines, 80);
  const std::string shown = cut.head + (cut.cut_bytes > 0 ? "\n...\n" + cut.tail : "");
  if (says(said, {"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "network request", "FETCH_ERROR"}))
    return failure("npm cannot reach its registry:\n" + shown)
        .with_hint("check the network and `npm config get registry`; behind a proxy, `npm config set https-proxy URL`");
  if (says(said, {"ENOSPC"})) return failure("the disk is full:\n" + shown).with_hint("claude-code needs about 500 MB");
  if (says(said, {"E401", "E403"}))
    return failure("npm's registry refuses the request:\n" + shown).with_hint("check the credentials of the registry in ~/.npmrc");
  if (says(said, {"E404", "ETARGET"}))
    return failure("npm's registry does not have the packages:\n" + shown)
        .with_hint("a mirror has to carry @anthropic-ai/claude-code " + std::string(kPinnedVersion) + " and its platform packages");
  if (says(said, {"EINTEGRITY"}))
    return failure("what npm's registry sent is not what was published:\n" + shown).with_hint("ask whoever runs the registry");
  return failure("npm failed:\n" + shown);
}

void run_npm(const Npm& npm, const std::string& folder, const Stop& stop) {
  SpawnOptions options;
  // The platform package is an optional dependency, and the program needs no Node: settings that would drop the one or refuse for the
  // other do not apply here. Scripts of packages never run.
  options.argv = {npm.program,    "ci",        "--ignore-scripts",      "--include=optional",
                  "--no-audit",   "--no-fund", "--engine-strict=false", "--loglevel=error",
                  "--no-progress"};
  options.env = npm.environment;
  options.cwd = folder;
  const Output output = run_command(std::move(options), "", kMostNpmOutput, stop);
  if (!output.exit.ok()) throw npm_failure(output.err.empty() ? output.out : output.err);
}

std::string architecture() {
  utsname name{};
  ::uname(&name);
  const std::string machine = name.machine;
  if (machine == "x86_64") return "x64";
  if (machine == "aarch64") return "arm64";
  throw failure("claude-code does not exist for this machine (" + machine + ")");
}

/// The executable that npm has put below `folder`, relative to it: that of the C library it runs with.
std::string platform_program(const std::string& folder, const Stop& stop) {
  const std::string package = "node_modules/@anthropic-ai/claude-code-linux-" + architecture();
  std::optional<Error> refused;
  for (const char* variant : {"", "-musl"}) {
    std::string program = package + variant + "/claude";
    std::error_code error;
    if (!fs::is_regular_file(folder + "/" + program, error)) continue;
    // As root the sandbox runs it as another user.
    fs::permissions(folder + "/" + program, fs::perms(0755), error);
    try {
      std::string version = version_of(folder + "/" + program, stop);
      if (version == kPinnedVersion) return program;
      refused = failure("npm has installed claude-code " + version + " instead of " + std::string(kPinnedVersion));
    } catch (const Error& e) {
      if (e.code() != ErrorCode::unavailable) throw;
      refused = e;
    }
  }
  if (refused) throw std::move(*refused);
  throw failure("npm did not install the package of this machine, " + package.substr(13))
      .with_hint("its download may have failed: try again; a mirror has to carry that package, too");
}

}  // namespace

std::string Home::version_folder() const { return folder + "/" + std::string(kPinnedVersion); }
std::string Home::program() const { return version_folder() + "/claude"; }
bool Home::installed() const {
  std::error_code error;
  return fs::is_regular_file(program(), error);
}

Npm find_npm(const std::vector<std::string>& environment) {
  Npm npm{.program = {}, .environment = environment};
  for (const std::string& variable : environment) {
    if (!variable.starts_with("PATH=")) continue;
    for (const std::string& folder : split(variable.substr(5), ':')) {
      const std::string candidate = folder + "/npm";
      if (folder.starts_with('/') && ::access(candidate.c_str(), X_OK) == 0) return {.program = candidate, .environment = environment};
    }
  }
  return npm;
}

std::string version_of(const std::string& program, const Stop& stop) {
  Output output;
  try {
    output = run_command({.argv = {program, "--version"}, .env = {"PATH=/usr/bin:/bin", "HOME=/nonexistent"}, .cwd = "/", .fds = {}}, "",
                         64 << 10, stop.shorter(kVersionTime));
  } catch (const Error& e) {
    if (stop.cancelled() || stop.expired()) throw;
    throw failure("claude-code does not run on this machine: " + std::string(e.what()));
  }
  if (output.exit.signal == SIGILL)
    throw failure("claude-code does not run on this machine: its processor lacks instructions that the program needs (AVX)");
  std::string version = output.out.substr(0, output.out.find_first_of(" \n"));
  if (output.exit.ok() && !version.empty()) return version;
  throw failure("claude-code does not run on this machine: " + to_utf8(trim(output.err)).text);
}

bool install(const Home& home, const Npm& npm, const std::function<void(const std::string&)>& tell, const Stop& stop) {
  if (home.installed()) return false;
  if (npm.program.empty())
    throw failure("npm is not installed, or not on the PATH")
        .with_hint("install it (on Debian: apt-get install npm), or set adapters.claude_code.program to a claude-code that you have");
  const UniqueFd lock = lock_home(home);
  if (home.installed()) return false;  // meanwhile, by another process: what runs from there must not be replaced
  const std::string aside = home.folder + "/" + kAside;
  remove_tree(aside);  // of an installation that was killed
  on_disk("making the folder " + aside, [&](std::error_code& error) { fs::create_directory(aside, error); });
  try {
    write_text(fs::path(aside) / "package.json", embedded::claude_code_package);
    write_text(fs::path(aside) / "package-lock.json", embedded::claude_code_lock);
    tell(fmt::format("installing claude-code {} with {} (some 400 MB)", kPinnedVersion, npm.program));
    run_npm(npm, aside, stop.shorter(kInstallTime));
    const std::string program = platform_program(aside, stop);
    on_disk("linking the program", [&](std::error_code& error) { fs::create_symlink(program, fs::path(aside) / "claude", error); });
  } catch (...) {
    remove_tree(aside);
    throw;
  }
  remove_tree(home.version_folder());  // what is there is no whole installation
  on_disk("putting the installation in its place", [&](std::error_code& error) { fs::rename(aside, home.version_folder(), error); });
  return true;
}

bool uninstall(const Home& home) {
  std::error_code error;
  if (!fs::is_directory(home.folder, error)) return false;
  const bool had = home.installed();
  const UniqueFd lock = lock_home(home);
  remove_tree(home.folder);
  return had;
}

}  // namespace forge::adapters::claude_code
