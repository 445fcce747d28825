#include <unistd.h>

#include <filesystem>

#include "tests/unit/sandbox/local_fixture.h"

namespace forge::sandbox {

std::vector<std::string> Collected::lines() const {
  static constexpr std::array<const char*, 3> kKinds{"added", "modified", "deleted"};
  std::vector<std::string> all;
  for (const auto& [path, change] : changes) {
    std::string line = kKinds.at(static_cast<std::size_t>(change.kind));
    line += change.type == Change::Type::symlink ? " link " : " file ";
    if (change.executable) line += "x ";
    line += path;
    if (!change.link_target.empty()) line += " -> " + change.link_target;
    all.push_back(line);
  }
  return all;
}

void LocalSandboxTest::SetUp() {
  run_directory_ = directory_.str() + "/run";
  driver_ = make_driver("local", options());
  const CapabilityReport report = driver_->probe(soon());
  if (report.usable) return;
  for (const Capability& row : report.rows) {
    if (row.required && !row.available) GTEST_SKIP() << "this machine lacks " << row.name << ": " << row.detail << ". " << row.remedy;
  }
}

DriverOptions LocalSandboxTest::options() {
  return {
      .policy = Policy::strict, .run_directory = run_directory_, .launcher = std::string(FORGE_BIN_DIR) + "/forge-sandbox", .log = *log_};
}

SandboxSpec LocalSandboxTest::spec() {
  SandboxSpec wanted;
  wanted.scope = "test";
  wanted.contents.limits = {.memory_bytes = 256 << 20, .pids = 64, .cpu_millis = 2000, .upper_bytes = 64 << 20, .upper_inodes = 20'000};
  return wanted;
}

CommandResult LocalSandboxTest::shell(Sandbox& sandbox, const std::string& script, std::chrono::milliseconds timeout) {
  return sandbox.run({.argv = {"sh", "-c", script}, .timeout = timeout}, Stop::after(std::chrono::seconds(20)));
}

std::string LocalSandboxTest::output(Sandbox& sandbox, const std::string& script) {
  const CommandResult result = shell(sandbox, script);
  EXPECT_TRUE(result.exit.ok()) << script << ": " << name_of(result.ended) << " " << result.exit.code.value_or(-1) << " "
                                << result.exit.signal.value_or(0) << " " << result.err.text();
  return result.out.text();
}

std::string LocalSandboxTest::tree(const std::map<std::string, std::string>& files) {
  const std::string path = directory_.str() + "/tree-" + std::to_string(++trees_);
  std::filesystem::create_directories(path);
  for (const auto& [name, text] : files) test::write_file(path + "/" + name, text);
  return path;
}

TEST_F(LocalSandboxTest, RunsACommandAndReportsItsEnd) {
  const auto sandbox = acquire();
  const CommandResult result = shell(*sandbox, "echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.ended, Ended::exited);
  EXPECT_EQ(result.exit.code, 3);
  EXPECT_EQ(result.out.text(), "out\n");
  EXPECT_EQ(result.err.text(), "err\n");
}

}  // namespace forge::sandbox
