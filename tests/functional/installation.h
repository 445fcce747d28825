#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/functional/program.h"
#include "tests/support/temp_dir.h"

namespace forge::functional {

/// Who runs Forge. `plain` is uid 65534, which needs a test that runs as root.
enum class User { ourselves, plain };

/// Forge as somebody has installed it: the real program with a data directory, a configuration and an environment of its own.
/// Destroying it cleans up after runs that were killed, then removes everything.
class Installation {
 public:
  explicit Installation(User user = User::ourselves);
  ~Installation();
  Installation(const Installation&) = delete;
  Installation& operator=(const Installation&) = delete;

  /// Why `user` cannot run here, or "": for GTEST_SKIP().
  static std::string missing(User user);

  std::filesystem::path data() const { return directory_ / "data"; }
  /// A place for files of the test, readable by the user.
  std::filesystem::path file(std::string_view name) const { return directory_ / name; }
  /// The configuration file.
  void configure(std::string_view toml) const;
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }
  void unset(const std::string& name) { environment_.erase(name); }
  /// A model script; returns the "scripted:FILE" that names it.
  std::string script(std::string_view json, std::string_view name = "script.json") const;
  /// The same for a script whose steps are given one by one.
  std::string steps(const nlohmann::json& steps) const { return script(steps.dump()); }
  /// Hands a file tree to the user.
  void give(const std::filesystem::path& path) const;
  /// Starts Forge inside these cgroup directories (see DelegatedCgroup).
  void enter(std::vector<std::string> cgroups) { cgroups_ = std::move(cgroups); }

  /// `forge ARGS` to its end.
  Said forge(const std::vector<std::string>& args, const std::string& input = {}, const std::filesystem::path& cwd = {}) const;
  /// `forge ARGS`, running.
  Program start(const std::vector<std::string>& args, const std::string& input = {}, const std::filesystem::path& cwd = {}) const;
  /// Another program in the same environment.
  Program start_program(std::vector<std::string> argv, const std::string& input = {}, const std::filesystem::path& cwd = {}) const;
  /// `forge ARGS`, which must exit with `status` and print one JSON value.
  nlohmann::json json(const std::vector<std::string>& args, int status = 0) const;
  /// All events of a run, from `forge show ID --trace --events`.
  std::vector<nlohmann::json> trace(const std::string& job, int run = 0) const;

  /// Ids of the sandbox instances that live, or were left, in the data directory.
  std::vector<std::string> instances() const;

 private:
  User user_;
  test::TempDir directory_;
  std::map<std::string, std::string> environment_;
  std::vector<std::string> cgroups_;
};

/// Directories for the plain user in the memory, pids and cpu hierarchies of cgroup v1. Removed with everything below.
class DelegatedCgroup {
 public:
  /// Why there can be none here, or "".
  static std::string missing();
  DelegatedCgroup();
  ~DelegatedCgroup();
  DelegatedCgroup(const DelegatedCgroup&) = delete;
  DelegatedCgroup& operator=(const DelegatedCgroup&) = delete;
  const std::vector<std::string>& directories() const { return directories_; }

 private:
  std::vector<std::string> directories_;
};

/// The program under test.
std::string forge_program();

/// Events of one type, in order.
std::vector<nlohmann::json> of_type(const std::vector<nlohmann::json>& events, std::string_view type);

}  // namespace forge::functional
