#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/process.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/domain/limits.h"
#include "orchestrator/domain/trace.h"

namespace forge::sandbox {

/// Inside every sandbox, whatever the driver.
inline constexpr std::string_view kWorkspace = "/workspace";
inline constexpr std::string_view kHome = "/home/agent";
inline constexpr std::string_view kPath = "/usr/local/bin:/usr/bin:/bin";
inline constexpr std::string_view kFilesFolder = "/opt/forge/";  ///< where a spec's read-only files stand
inline constexpr int kProxyPort = 3128;
inline constexpr int kModelPort = 8080;

/// What happens when a layer that a template needs cannot be enforced on this machine.
enum class Policy { strict, degraded };

/// What a sandbox contains.
struct Template {
  std::string name = "base";
  std::string kind = "host";  ///< host: the host's /usr read-only with an allow-listed /etc
  SandboxLimits limits;
};

/// A tree that becomes /workspace: an immutable directory on the host, never written to.
struct TreeSource {
  std::string directory;
};

/// One file of the host that is seen inside, read-only, at a path of its own: a program that no template holds.
struct ReadOnlyFile {
  std::string target;  ///< inside, below kFilesFolder
  std::string source;  ///< absolute, on the host: a regular file that its owner alone may write
};

struct SandboxSpec {
  std::string scope;  ///< "forge-job:<job>", "cli:<id>": who holds it, for logs and the sweep
  Template contents;
  std::optional<TreeSource> tree;   ///< nothing: an empty /workspace
  std::vector<ReadOnlyFile> files;  ///< programs of the adapter
  NetworkPolicy network;            ///< what may be reached through the proxy, for the driver that egress wraps around a plain one
  TraceSink* trace = nullptr;       ///< hears network decisions; may be null; outlives the sandbox
  std::vector<int> listener_ports;  ///< sockets made on 127.0.0.1 inside and passed out (kProxyPort, kModelPort)
  std::vector<std::pair<std::string, std::string>> env;           ///< added to the environment of every command
  std::chrono::milliseconds lifetime = std::chrono::minutes(10);  ///< counted from ready
};

struct CommandSpec {
  std::vector<std::string> argv;  ///< argv[0] is searched in kPath unless it has a slash
  std::string cwd = std::string(kWorkspace);
  std::vector<std::pair<std::string, std::string>> env;
  std::string input;  ///< standard input, then end of file
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
  bool merge_output = false;               ///< stderr into stdout, in arrival order
  std::size_t max_output_bytes = 1 << 20;  ///< kept per stream: the first fifth and the last four fifths; the rest is drained
  /// Called with each piece as it arrives, from the thread that runs run(). May be empty.
  std::function<void(std::string_view piece, bool is_stderr)> on_output;
  /// Keep the whole output (at most 64 MiB) in a file inside the sandbox when it is longer than max_output_bytes: its path comes back.
  bool keep_full_output = false;
};

enum class Ended { exited, timed_out, out_of_memory, killed, output_limit, lifetime, evicted, driver_lost };
std::string_view name_of(Ended ended);

/// One stream of a command: whole when `cut_bytes` is 0, else `head`, the cut, `tail`.
struct Captured {
  std::string head;
  std::string tail;
  std::int64_t bytes = 0;  ///< what the command wrote
  std::int64_t cut_bytes = 0;
  bool truncated() const { return cut_bytes > 0; }
  /// head + "\n[... N bytes left out ...]\n" + tail
  std::string text() const;
};

struct CommandResult {
  Exit exit;  ///< unset code and signal when it never started to run or was lost
  Ended ended = Ended::exited;
  Captured out;
  Captured err;
  std::int64_t duration_ms = 0;
  std::string full_output_path;  ///< inside the sandbox; empty when nothing was cut or not asked for
};

/// One difference between the tree that went in and the tree that is there now. Paths are bytes relative to /workspace.
struct Change {
  enum class Kind { added, modified, deleted };
  enum class Type { file, symlink };
  Kind kind = Kind::added;
  Type type = Type::file;  ///< of what is there now (of what was there, for deleted)
  std::string path;
  bool executable = false;  ///< owner's x bit
  std::int64_t size = 0;    ///< bytes of the content, for files
  std::string link_target;
};

/// Receives what changed. Deletions of a whole directory arrive as one deletion per file that was in it. No two changes name one path;
/// where a file became a directory (or the reverse) the deletions and the additions both arrive, in any order.
class ChangeSink {
 public:
  virtual ~ChangeSink() = default;
  /// Pulls up to `size` bytes of the content into `buffer`; 0 at the end. Only for added and modified files, only during change().
  using Read = std::function<std::size_t(char* buffer, std::size_t size)>;
  virtual void change(const Change& change, const Read& read) = 0;
  /// Something that cannot be part of a commit: kind "fifo", "socket", "device", "unreadable", "sparse" ...
  virtual void finding(const std::string& kind, const std::string& path, const std::string& message) = 0;
};
struct ChangeLimits {
  std::int64_t max_entries = 200'000;
  std::int64_t max_bytes = 1LL << 30;         ///< content of all files together
  std::int64_t max_file_bytes = 100LL << 20;  ///< a larger file is a finding and is left out
};

/// A running sandbox. One thread at a time, except cancel through `Stop`. Destroying it releases it.
class Sandbox {
 public:
  virtual ~Sandbox() = default;
  virtual const std::string& id() const = 0;
  /// Names of limits and layers in force ("memory 2 GiB (cgroup v1)", "network none", "seccomp" ...).
  virtual const std::vector<std::string>& enforced() const = 0;
  /// What `degraded` let pass, with the reason. Empty under `strict`.
  virtual const std::vector<std::string>& unenforced() const = 0;

  /// Runs one command to its end. A non-zero exit, a time-out or an out-of-memory kill is a result, not an error. When `stop` ends the
  /// call the command is dead before cancelled or timed_out is thrown. Background processes that the command left stay alive.
  /// Throws: not_found (no such program), unavailable (the sandbox is gone: the message says why).
  virtual CommandResult run(const CommandSpec& command, const Stop& stop) = 0;
  /// Reads as the job's user, inside. Throws not_found, permission_denied, invalid_argument (a directory, a FIFO), limit_exceeded (larger
  /// than max_bytes), conflict (whatever else the path answers; a process inside killed the reader), unavailable (the sandbox is gone).
  virtual std::string read_file(const std::string& path, std::size_t max_bytes, const Stop& stop) = 0;
  /// Writes as the job's user, inside; makes parent directories; keeps the mode of an existing file. Throws the same.
  virtual void write_file(const std::string& path, std::string_view content, const Stop& stop) = 0;
  /// The listener for `port` of the spec, once: 127.0.0.1:port inside, to accept on outside.
  virtual UniqueFd take_listener(int port) = 0;
  /// Kills every process and waits until the sandbox is empty. The work tree stays readable through changes(). Safe twice.
  virtual void halt(const Stop& stop) = 0;
  /// After halt(): what the job did to /workspace. Throws limit_exceeded past the limits (nothing may be committed then).
  virtual void changes(const ChangeLimits& limits, ChangeSink& sink, const Stop& stop) = 0;
  /// Frees everything; logged, never thrown. Safe twice; the destructor calls it.
  virtual void release() noexcept = 0;
};

/// One row of what a machine can do for a driver.
struct Capability {
  std::string name;  ///< "user namespaces", "cgroup memory limit"
  bool available = false;
  bool required = false;  ///< missing = strict refuses
  std::string detail;     ///< what was found
  std::string remedy;     ///< what to do when missing
};
struct CapabilityReport {
  std::string driver;
  bool usable = false;  ///< under the configured policy
  std::vector<Capability> rows;
};

/// A provider of sandboxes. Thread-safe.
class SandboxDriver {
 public:
  virtual ~SandboxDriver() = default;
  virtual std::string_view name() const = 0;
  virtual CapabilityReport probe(const Stop& stop) = 0;
  /// Throws sandbox_unavailable (reason and remedy in the client text), sandbox_config, sandbox_policy, cancelled, timed_out.
  virtual std::unique_ptr<Sandbox> acquire(const SandboxSpec& spec, const Stop& stop) = 0;
};

}  // namespace forge::sandbox
