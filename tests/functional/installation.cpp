#include "tests/functional/installation.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "orchestrator/base/error.h"
#include "orchestrator/base/ids.h"
#include "orchestrator/base/text.h"
#include "tests/support/paths.h"

namespace forge::functional {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSetpriv = "/usr/bin/setpriv";
constexpr const char* kNobody = "65534";
constexpr const char* kCgroups = "/sys/fs/cgroup/";
constexpr int kTraceLineBytes = 64 << 20;

/// argv that runs `argv` as the plain user.
std::vector<std::string> as_nobody(std::vector<std::string> argv) {
  std::vector<std::string> whole{kSetpriv, "--reuid", kNobody, "--regid", kNobody, "--clear-groups"};
  whole.insert(whole.end(), argv.begin(), argv.end());
  return whole;
}

/// argv that joins cgroups first. The process keeps its id on the way.
std::vector<std::string> inside(const std::vector<std::string>& cgroups, std::vector<std::string> argv) {
  std::string script;
  for (const auto& directory : cgroups) script += "echo $$ > " + directory + "/cgroup.procs && ";
  std::vector<std::string> whole{"/bin/sh", "-c", script + "exec \"$@\"", "sh"};
  whole.insert(whole.end(), argv.begin(), argv.end());
  return whole;
}

}  // namespace

std::string forge_program() { return test::built_program("forge"); }

std::string Installation::missing(User user) {
  if (user == User::ourselves) return "";
  if (::geteuid() != 0) return "only root can become another user";
  if (!fs::exists(kSetpriv)) return "setpriv is not installed";
  const Output seen =
      run_command({.argv = as_nobody({"/usr/bin/test", "-x", forge_program()}), .env = {}, .cwd = "/", .fds = {}}, "", 4096, patience());
  return seen.exit.ok() ? "" : "a plain user cannot reach " + forge_program();
}

Installation::Installation(User user) : user_(user) {
  fs::create_directories(data());
  fs::create_directories(directory_ / "home");
  environment_ = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                  {"HOME", (directory_ / "home").string()},
                  {"LANG", "C.UTF-8"},
                  {"FORGE_DATA_DIR", data().string()}};
  for (const char* name : {"ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"})
    if (const char* value = std::getenv(name)) environment_[name] = value;
  // A developer without root has no cgroups: what these tests are about does not depend on them.
  if (user == User::ourselves && ::geteuid() != 0) environment_["FORGE_SANDBOX__POLICY"] = "degraded";
  give(directory_.path());
}

Installation::~Installation() {
  try {
    if (instances().empty()) return;
    unset("FORGE_JOBS__CONCURRENCY");
    configure("");
    forge({"jobs"});  // any start sweeps what the dead left
  } catch (const std::exception& e) {
    ADD_FAILURE() << "cleaning up: " << e.what();
  }
}

void Installation::configure(std::string_view toml) const {
  test::write_file(data() / "forge.toml", toml);
  give(data() / "forge.toml");
}

std::string Installation::script(std::string_view json, std::string_view name) const {
  const fs::path path = file(name);
  test::write_file(path, json);
  give(path);
  return "scripted:" + path.string();
}

void Installation::give(const fs::path& path) const {
  if (user_ == User::ourselves) return;
  checked(::lchown(path.c_str(), 65534, 65534), "giving " + path.string() + " away");
  if (!fs::is_directory(fs::symlink_status(path))) return;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    checked(::lchown(entry.path().c_str(), 65534, 65534), "giving " + entry.path().string() + " away");
}

Program Installation::start_program(std::vector<std::string> argv, const std::string& input, const fs::path& cwd) const {
  if (user_ == User::plain) argv = as_nobody(std::move(argv));
  if (!cgroups_.empty()) argv = inside(cgroups_, std::move(argv));
  SpawnOptions options{.argv = std::move(argv), .env = {}, .cwd = cwd.empty() ? directory_.str() : cwd.string(), .fds = {}};
  for (const auto& [name, value] : environment_) options.env.push_back(name + "=" + value);
  return Program(std::move(options), input);
}

Program Installation::start(const std::vector<std::string>& args, const std::string& input, const fs::path& cwd) const {
  std::vector<std::string> argv{forge_program()};
  argv.insert(argv.end(), args.begin(), args.end());
  return start_program(std::move(argv), input, cwd);
}

Said Installation::forge(const std::vector<std::string>& args, const std::string& input, const fs::path& cwd) const {
  return start(args, input, cwd).wait();
}

nlohmann::json Installation::json(const std::vector<std::string>& args, int status) const {
  const Said said = forge(args);
  EXPECT_EQ(said.status(), status) << said.err << said.out;
  auto value = nlohmann::json::parse(said.out, nullptr, false);
  if (value.is_discarded()) throw Error(ErrorCode::corrupt, "no JSON: " + said.out + "\n" + said.err);
  return value;
}

std::vector<nlohmann::json> Installation::trace(const std::string& job, int run) const {
  std::vector<std::string> args{"show", job, "--trace", "--events"};
  if (run != 0) args.insert(args.end(), {"--run", std::to_string(run)});
  const Said said = forge(args);
  EXPECT_EQ(said.status(), 0) << said.err;
  EXPECT_LT(said.out.size(), static_cast<std::size_t>(kTraceLineBytes));
  std::vector<nlohmann::json> events;
  for (const auto line : split_lines(said.out)) events.push_back(nlohmann::json::parse(line));
  return events;
}

std::vector<std::string> Installation::instances() const {
  std::vector<std::string> ids;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(data() / "run", none))
    if (is_id_text(entry.path().filename().string())) ids.push_back(entry.path().filename().string());
  return ids;
}

std::string DelegatedCgroup::missing() {
  if (::geteuid() != 0) return "only root can delegate a cgroup";
  for (const char* controller : {"memory", "pids", "cpu"})
    if (!fs::exists(std::string(kCgroups) + controller + "/cgroup.procs")) return "no cgroup v1 hierarchy of " + std::string(controller);
  return "";
}

DelegatedCgroup::DelegatedCgroup() {
  for (const char* controller : {"memory", "pids", "cpu"}) {
    directories_.push_back(std::string(kCgroups) + controller + "/forge-functional-" + std::to_string(::getpid()));
    checked(::mkdir(directories_.back().c_str(), 0755), "making " + directories_.back());
    for (const char* name : {"", "/cgroup.procs", "/tasks"})
      checked(::chown((directories_.back() + name).c_str(), 65534, 65534), "giving a cgroup away");
  }
}

DelegatedCgroup::~DelegatedCgroup() {
  for (const auto& directory : directories_) {
    std::error_code none;
    for (const auto& below : fs::directory_iterator(directory, none))
      if (below.is_directory()) ADD_FAILURE() << "a cgroup is left: " << below.path();
    EXPECT_EQ(::rmdir(directory.c_str()), 0) << directory;
  }
}

std::vector<nlohmann::json> of_type(const std::vector<nlohmann::json>& events, std::string_view type) {
  std::vector<nlohmann::json> found;
  for (const auto& event : events)
    if (event.at("type") == type) found.push_back(event);
  return found;
}

}  // namespace forge::functional
