#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/claude_code/install.h"
#include "orchestrator/base/log.h"
#include "orchestrator/base/redactor.h"
#include "orchestrator/config/config.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/git/repository_cache.h"
#include "orchestrator/models/cassette.h"
#include "orchestrator/models/providers.h"
#include "orchestrator/sandbox/driver.h"

namespace forge::assembly {

/// The folder that this executable lies in: forge-sandbox stands beside it.
std::string program_folder();
/// This executable.
std::string program_path();

/// From the configuration to what each room takes.
models::ModelSettings model_settings(const config::Config& config);
/// The cassette of gateway.cassette; null when none is asked for. Throws bad_input("gateway.cassette") for one that cannot be used.
std::unique_ptr<models::Cassette> make_cassette(const config::Config& config, const Redactor& redactor);
std::map<std::string, sandbox::Template> templates(const config::Config& config);
git::CacheOptions git_options(const config::Config& config, Log& log);
/// What a job gets that does not say otherwise.
JobSpec job_defaults(const config::Config& config);
/// Every secret of the configuration, so that none is ever stored or logged.
void add_secrets(const config::Config& config, Redactor& redactor);

/// Where claude-code is installed, and the executable that is used: the installed one, or the configuration's.
adapters::claude_code::Home claude_home(const config::Config& config);
std::string claude_program(const config::Config& config);

using Drivers = std::map<std::string, std::unique_ptr<sandbox::SandboxDriver>>;
/// A driver, wrapped so that a network policy gets its proxy. `log` must outlive it.
std::unique_ptr<sandbox::SandboxDriver> make_driver(const config::Config& config, const std::string& name, Log& log);
/// All drivers by name.
Drivers make_drivers(const config::Config& config, Log& log);

}  // namespace forge::assembly
