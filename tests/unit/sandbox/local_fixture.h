#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/log.h"
#include "orchestrator/sandbox/drivers.h"
#include "tests/support/temp_dir.h"

namespace forge::sandbox {

/// Collects what changes() says.
class Collected final : public ChangeSink {
 public:
  void change(const Change& change, const Read& read) override;
  void finding(const std::string& kind, const std::string& path, const std::string& message) override;
  /// "added file x a.txt" and so on, in the order of paths; "x" for an executable one.
  std::vector<std::string> lines() const;

  std::map<std::string, Change> changes;
  std::map<std::string, std::string> contents;
  std::map<std::string, std::string> findings;  ///< path > kind
};

/// Real sandboxes of the driver `local`, made by whoever runs the tests. Skips where the machine cannot make any, with the reason.
class LocalSandboxTest : public ::testing::Test {
 protected:
  void SetUp() override;

  static SandboxSpec spec();
  /// `spec()` with a work tree that holds `files` and the hostile program, "attacker".
  SandboxSpec spec_with(const std::map<std::string, std::string>& files = {});
  std::unique_ptr<Sandbox> acquire(const SandboxSpec& wanted = spec()) { return driver_->acquire(wanted, soon()); }
  SandboxDriver& driver() { return *driver_; }
  void drop_driver() { driver_.reset(); }
  /// Runs `sh -c script`.
  static CommandResult shell(Sandbox& sandbox, const std::string& script, std::chrono::milliseconds timeout = std::chrono::seconds(45));
  /// Its output; the test fails when it did not exit with 0.
  static std::string output(Sandbox& sandbox, const std::string& script);
  /// One attack of the hostile program.
  static CommandResult attack(Sandbox& sandbox, const std::vector<std::string>& words,
                              std::chrono::milliseconds timeout = std::chrono::seconds(45));
  /// A tree for the work tree, removed with the test.
  std::string tree(const std::map<std::string, std::string>& files);
  /// Halts the sandbox and collects its changes.
  static Collected changes_of(Sandbox& sandbox, const ChangeLimits& limits = {});

  static Stop soon() { return Stop::after(std::chrono::seconds(50)); }
  const std::string& run_directory() const { return run_directory_; }
  DriverOptions options() const;
  std::string path_of(const std::string& name) const { return directory_.str() + "/" + name; }

 private:
  test::TempDir directory_;
  std::string run_directory_;
  int trees_ = 0;
  std::unique_ptr<Log> log_ = make_null_log();
  std::unique_ptr<SandboxDriver> driver_;
};

}  // namespace forge::sandbox
