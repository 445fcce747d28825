#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/sandbox/driver.h"
#include "tests/support/temp_dir.h"

namespace forge::test {

/// What shall go wrong. Set before the call that it concerns.
struct DummyFailures {
  std::optional<ErrorCode> acquire;  ///< thrown by the driver's acquire()
  std::optional<ErrorCode> run;      ///< thrown by run() instead of running (unavailable = the sandbox is lost)
  int runs_before_failure = 0;       ///< that many run() calls still work
  std::optional<ErrorCode> read_file;
  std::optional<ErrorCode> write_file;
  std::optional<ErrorCode> changes;
  std::optional<sandbox::Ended> ended;  ///< what run() reports after really running, for example out_of_memory
};

/// Counters of all sandboxes of one driver.
struct DummyCounts {
  int acquired = 0;
  int halted = 0;
  int released = 0;
  int live() const { return acquired - released; }
};

/// A sandbox that confines nothing: real processes of the caller's user in a temporary directory. /workspace, /home/agent and /tmp in
/// arguments, paths and environment become directories below it, and its paths in the output become these names again. A read-only file of
/// the spec is run where it lies.
class DummySandbox final : public sandbox::Sandbox {
 public:
  explicit DummySandbox(sandbox::SandboxSpec spec = {});
  ~DummySandbox() override;
  DummySandbox(const DummySandbox&) = delete;
  DummySandbox& operator=(const DummySandbox&) = delete;

  DummyFailures failures;
  /// Where `path` (absolute inside, or relative to /workspace) lies on this machine.
  std::string host_path(const std::string& path) const;
  /// Commands so far, as they were asked for.
  const std::vector<sandbox::CommandSpec>& commands() const { return commands_; }
  /// Port on 127.0.0.1 of the machine that stands for `port` inside; 0 when the spec did not ask for it.
  int machine_port(int port) const;

  const std::string& id() const override { return id_; }
  const std::vector<std::string>& enforced() const override { return enforced_; }
  const std::vector<std::string>& unenforced() const override { return unenforced_; }
  sandbox::CommandResult run(const sandbox::CommandSpec& command, const Stop& stop) override;
  std::string read_file(const std::string& path, std::size_t max_bytes, const Stop& stop) override;
  void write_file(const std::string& path, std::string_view content, const Stop& stop) override;
  UniqueFd take_listener(int port) override;
  void halt(const Stop& stop) override;
  void changes(const sandbox::ChangeLimits& limits, sandbox::ChangeSink& sink, const Stop& stop) override;
  void release() noexcept override;

 private:
  friend class DummyDriver;
  struct Streams;
  SpawnOptions spawn_options(const sandbox::CommandSpec& command) const;
  /// Reads the output until the command ends or its time is over; then it is dead.
  sandbox::Ended attend(Child& child, Streams& streams, const sandbox::CommandSpec& command, const Stop& stop);
  std::string inward(const std::string& text) const;  // names of the inside > this machine's
  std::string outward(std::string text) const;        // and back
  void open_listeners();
  void kill_all() noexcept;

  sandbox::SandboxSpec spec_;
  std::string id_;
  std::optional<TempDir> directory_;  // nothing after release()
  std::string root_;
  std::vector<std::string> enforced_{"nothing (dummy)"};
  std::vector<std::string> unenforced_;
  std::vector<sandbox::CommandSpec> commands_;
  std::map<int, UniqueFd> listeners_;
  std::map<int, int> ports_;
  std::vector<int> groups_;  // process groups that outlived their command
  int outputs_ = 0;
  bool halted_ = false;
  std::shared_ptr<Guarded<DummyCounts>> counts_;  // shared with the driver, which a sandbox may outlive
};

/// Hands out dummy sandboxes. `failures` goes into each.
class DummyDriver final : public sandbox::SandboxDriver {
 public:
  std::string_view name() const override { return "dummy"; }
  sandbox::CapabilityReport probe(const Stop& stop) override;
  std::unique_ptr<sandbox::Sandbox> acquire(const sandbox::SandboxSpec& spec, const Stop& stop) override;

  /// Set before acquire(); the driver may be used by several threads.
  void fail(const DummyFailures& failures) { *failures_.lock() = failures; }
  DummyCounts counts() const { return *counts_->lock(); }

 private:
  Guarded<DummyFailures> failures_;
  std::shared_ptr<Guarded<DummyCounts>> counts_ = std::make_shared<Guarded<DummyCounts>>();
};

}  // namespace forge::test
