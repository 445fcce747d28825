#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "orchestrator/base/stop.h"
#include "orchestrator/sandbox/driver.h"

namespace forge::cli {

/// A key set on the command line, with the flag as it was typed ("--listen").
struct ConfigOverride {
  std::string key;
  std::string value;
  std::string flag;
};

/// What the command line says about the configuration. Empty = not said.
struct ConfigChoice {
  std::string file;
  std::string data_dir;
  std::vector<ConfigOverride> overrides;
};

/// One key for `forge config show`; holds no secret.
struct ConfigRow {
  std::string key;
  std::string value;       ///< for people
  std::string value_json;  ///< typed; null when nothing is set
  std::string source;      ///< "default", "forge.toml:12", "environment FORGE_X", "flag --listen"
};

/// Jobs at work in this process. Destroying it interrupts what still runs, closes the socket and frees the data directory.
class EngineHandle {
 public:
  virtual ~EngineHandle() = default;
  /// Runs that have not ended, queued ones included.
  virtual std::size_t live_runs() = 0;
  /// Waits until no run lives. Throws cancelled or timed_out.
  virtual void drain(const Stop& stop) = 0;
};

/// Where the jobs of the data directory are to be reached.
struct EngineAccess {
  std::string socket;                 ///< of whoever owns the directory: a server, another process, or `own`
  std::unique_ptr<EngineHandle> own;  ///< nothing when somebody else owns it
  bool served = false;                ///< the owner is a server, not a command that ends with its work
};

enum class EngineUse {
  look,  ///< answers, and starts nothing: for verbs that read
  work,  ///< runs what is queued
};

/// What a server tells when it is up.
struct Listening {
  std::string url;
  std::string sign_in_url;  ///< opens the dashboard once; empty when none was made
  std::string socket;
};

/// Defaults of `forge sandbox run`.
struct SandboxDefaults {
  std::string driver;
  std::chrono::milliseconds timeout{60'000};
  std::vector<std::string> allow_hosts;  ///< that every sandbox with a network may reach
};

/// What the verbs need of the rest of Forge; main.cpp implements it over the real parts, tests over small ones.
/// `configure` comes first; every other call may then come in any order, from one thread.
class Services {
 public:
  virtual ~Services() = default;

  /// Reads the configuration. Throws invalid_argument whose texts name file, line and what would be right.
  virtual void configure(const ConfigChoice& choice) = 0;
  virtual std::vector<std::string> config_warnings() = 0;
  virtual std::vector<ConfigRow> config_rows() = 0;
  /// Paths: absolute.
  virtual std::string config_file() = 0;
  /// False when there is no such file, and the defaults count.
  virtual bool config_file_found() = 0;
  virtual std::string data_dir() = 0;

  /// Takes the data directory and opens an engine on it, or tells who has it. Throws unavailable when the owner does not answer.
  virtual EngineAccess open_engine(EngineUse use, const Stop& stop) = 0;
  /// Runs the server until `stop` is cancelled, then drains. Throws conflict when another process owns the data directory.
  virtual void serve(const std::function<void(const Listening&)>& ready, const Stop& stop) = 0;

  virtual SandboxDefaults sandbox_defaults() = 0;
  /// Throws invalid_argument naming the known ones.
  virtual sandbox::SandboxDriver& driver(const std::string& name) = 0;
  virtual sandbox::Template template_named(const std::string& name) = 0;

  /// Installs an adapter that needs it; `tell` hears what goes on. False when it was there. Throws invalid_argument for one that is no such
  /// adapter, unavailable and conflict with what to do.
  virtual bool install_adapter(const std::string& name, const std::function<void(const std::string&)>& tell, const Stop& stop) = 0;
  /// False when there was nothing to remove.
  virtual bool remove_adapter(const std::string& name) = 0;

  // For `forge doctor`. Rows tell what there is, what is missing and how to get it; they hold no secret.
  virtual std::vector<sandbox::CapabilityReport> probe_drivers(const Stop& stop) = 0;
  virtual std::vector<sandbox::Capability> probe_adapters(const Stop& stop) = 0;
  virtual std::vector<sandbox::Capability> probe_models(const Stop& stop) = 0;
  virtual std::vector<sandbox::Capability> probe_data_dir(const Stop& stop) = 0;
};

}  // namespace forge::cli
