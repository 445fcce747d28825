#pragma once

#include <map>
#include <memory>
#include <string>

#include "orchestrator/assembly/parts.h"
#include "orchestrator/base/log.h"
#include "orchestrator/base/redactor.h"
#include "orchestrator/cli/services.h"
#include "orchestrator/config/config.h"

namespace forge::assembly {

/// The real Forge behind the command line.
class RealServices final : public cli::Services {
 public:
  explicit RealServices(std::map<std::string, std::string> environment) : environment_(std::move(environment)) {}
  ~RealServices() override;

  void configure(const cli::ConfigChoice& choice) override;
  std::vector<std::string> config_warnings() override { return config_.warnings; }
  std::vector<cli::ConfigRow> config_rows() override;
  std::string config_file() override { return config_.file; }
  bool config_file_found() override { return config_.file_found; }
  std::string data_dir() override { return config_.data_dir; }

  cli::EngineAccess open_engine(cli::EngineUse use, const Stop& stop) override;
  void serve(const std::function<void(const cli::Listening&)>& ready, const Stop& stop) override;

  cli::SandboxDefaults sandbox_defaults() override;
  sandbox::SandboxDriver& driver(const std::string& name) override;
  sandbox::Template template_named(const std::string& name) override;

  bool install_adapter(const std::string& name, const std::function<void(const std::string&)>& tell, const Stop& stop) override;
  bool remove_adapter(const std::string& name) override;

  std::vector<sandbox::CapabilityReport> probe_drivers(const Stop& stop) override;
  std::vector<sandbox::Capability> probe_adapters(const Stop& stop) override;
  std::vector<sandbox::Capability> probe_models(const Stop& stop) override;
  std::vector<sandbox::Capability> probe_data_dir(const Stop& stop) override;

 private:
  /// Made at the first use: most verbs need none.
  Drivers& drivers();
  /// What npm is started with: everything but the secrets that the configuration names.
  std::vector<std::string> environment_without_secrets() const;

  const std::map<std::string, std::string> environment_;
  config::Config config_;
  Redactor redactor_;
  std::unique_ptr<Log> log_ = make_null_log();
  std::unique_ptr<Log> server_log_;
  Drivers drivers_;
};

}  // namespace forge::assembly
