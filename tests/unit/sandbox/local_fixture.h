#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  void change(const Change& change, const Read& read) override {
    std::string text;
    std::array<char, 4096> piece{};
    while (read) {
      const std::size_t got = read(piece.data(), piece.size());
      if (got == 0) break;
      text.append(piece.data(), got);
    }
    EXPECT_TRUE(changes.emplace(change.path, change).second) << "told twice: " << change.path;
    if (change.kind != Change::Kind::deleted && change.type == Change::Type::file) contents[change.path] = text;
  }
  void finding(const std::string& kind, const std::string& path, const std::string& message) override {
    findings[path] = kind;
    EXPECT_FALSE(message.empty());
  }
  /// "added file x a.txt" and so on, in the order of paths.
  std::vector<std::string> lines() const;

  std::map<std::string, Change> changes;
  std::map<std::string, std::string> contents;
  std::map<std::string, std::string> findings;
};

/// Real sandboxes of the driver `local`, made by whoever runs the tests. Skips where the machine cannot make any, with the reason.
class LocalSandboxTest : public ::testing::Test {
 protected:
  void SetUp() override;

  static SandboxSpec spec();
  std::unique_ptr<Sandbox> acquire(const SandboxSpec& wanted = spec()) {
    return driver().acquire(wanted, Stop::after(std::chrono::seconds(8)));
  }
  SandboxDriver& driver() { return *driver_; }
  /// Runs `sh -c script`.
  static CommandResult shell(Sandbox& sandbox, const std::string& script, std::chrono::milliseconds timeout = std::chrono::seconds(8));
  /// The same; its output, and the test fails when it did not exit with 0.
  static std::string output(Sandbox& sandbox, const std::string& script);
  /// A tree for the work tree, removed with the test.
  std::string tree(const std::map<std::string, std::string>& files);

  static Stop soon() { return Stop::after(std::chrono::seconds(8)); }
  const std::string& run_directory() const { return run_directory_; }
  DriverOptions options();

 private:
  test::TempDir directory_;
  std::string run_directory_;
  int trees_ = 0;
  std::unique_ptr<Log> log_ = make_null_log();
  std::unique_ptr<SandboxDriver> driver_;
};

}  // namespace forge::sandbox
