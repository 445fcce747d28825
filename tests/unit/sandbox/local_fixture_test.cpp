#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/paths.h"
#include "tests/unit/sandbox/local_fixture.h"

namespace forge::sandbox {

void Collected::change(const Change& change, const Read& read) {
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

void Collected::finding(const std::string& kind, const std::string& path, const std::string& message) {
  findings[path] = kind;
  EXPECT_FALSE(message.empty());
}

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

DriverOptions LocalSandboxTest::options() const {
  return {.policy = Policy::strict, .run_directory = run_directory_, .launcher = test::built_program("forge-sandbox"), .log = *log_};
}

SandboxSpec LocalSandboxTest::spec() {
  SandboxSpec wanted;
  wanted.scope = "test";
  wanted.contents.limits = {.memory_bytes = 256 << 20, .pids = 64, .cpu_millis = 2000, .upper_bytes = 64 << 20, .upper_inodes = 20'000};
  return wanted;
}

SandboxSpec LocalSandboxTest::spec_with(const std::map<std::string, std::string>& files) {
  SandboxSpec wanted = spec();
  const std::string directory = tree(files);
  std::filesystem::copy_file(test::built_program("sandbox-attacker"), directory + "/attacker");
  wanted.tree = TreeSource{directory};
  return wanted;
}

CommandResult LocalSandboxTest::shell(Sandbox& sandbox, const std::string& script, std::chrono::milliseconds timeout) {
  return sandbox.run({.argv = {"sh", "-c", script}, .timeout = timeout}, Stop::after(std::chrono::seconds(50)));
}

std::string LocalSandboxTest::output(Sandbox& sandbox, const std::string& script) {
  const CommandResult result = shell(sandbox, script);
  EXPECT_TRUE(result.exit.ok()) << script << ": " << name_of(result.ended) << " " << result.exit.code.value_or(-1) << " "
                                << result.exit.signal.value_or(0) << " " << result.err.text();
  return result.out.text();
}

CommandResult LocalSandboxTest::attack(Sandbox& sandbox, const std::vector<std::string>& words, std::chrono::milliseconds timeout) {
  CommandSpec command{.argv = {"/workspace/attacker"}, .timeout = timeout};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  return sandbox.run(command, Stop::after(std::chrono::seconds(50)));
}

std::string LocalSandboxTest::tree(const std::map<std::string, std::string>& files) {
  std::string path = directory_.str() + "/tree-" + std::to_string(++trees_);
  std::filesystem::create_directories(path);
  for (const auto& [name, text] : files) test::write_file(path + "/" + name, text);
  return path;
}

Collected LocalSandboxTest::changes_of(Sandbox& sandbox, const ChangeLimits& limits) {
  Collected collected;
  sandbox.halt(soon());
  sandbox.changes(limits, collected, soon());
  return collected;
}

}  // namespace forge::sandbox
