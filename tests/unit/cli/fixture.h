#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/cli/app.h"
#include "tests/support/dummy_sandbox.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/cli/fake_forge.h"

namespace forge::cli {

/// The rest of Forge as the verbs see it, with what they asked for.
class FakeServices final : public Services {
 public:
  void configure(const ConfigChoice& choice) override {
    if (config_error) throw *config_error;
    config = choice;
  }
  std::vector<std::string> config_warnings() override { return warnings; }
  std::vector<ConfigRow> config_rows() override {
    return {{"jobs.concurrency", "2", "2", "default"},
            {"jobs.default_model", "fake/model", "\"fake/model\"", "forge.toml:3"},
            {"sandbox.e2bApiKey", "(set)", "true", "environment E2B_API_KEY"}};
  }
  std::string config_file() override { return "/data/forge.toml"; }
  bool config_file_found() override { return file_found; }
  std::string data_dir() override { return "/data"; }

  EngineAccess open_engine(EngineUse use, const Stop&) override {
    used = use;
    if (engine_error) throw *engine_error;
    return {socket, own_engine ? std::make_unique<Handle>(*this) : nullptr};
  }
  void serve(const std::function<void(const Listening&)>& ready, const Stop& stop) override {
    ready({"http://127.0.0.1:8700", "http://127.0.0.1:8700/sign-in/abc", "/data/forge.sock"});
    served = !stop.cancelled();
  }

  SandboxDefaults sandbox_defaults() override { return {"dummy", std::chrono::milliseconds(5000), {"pkg.test"}}; }
  sandbox::SandboxDriver& driver(const std::string& name) override {
    if (name != "dummy") throw bad_input("driver", "there is no driver " + name, "dummy");
    return driver_;
  }
  sandbox::Template template_named(const std::string& name) override {
    if (name != "base") throw bad_input("template", "there is no template " + name, "base");
    return {};
  }

  bool install_adapter(const std::string& name, const std::function<void(const std::string&)>& tell, const Stop&) override {
    if (name != "claude-code") throw bad_input("adapter", name + " cannot be installed", "claude-code can");
    tell("asking npm");
    return !std::exchange(installed, true);
  }
  bool remove_adapter(const std::string&) override { return std::exchange(installed, false); }

  std::vector<sandbox::CapabilityReport> probe_drivers(const Stop&) override { return reports; }
  std::vector<sandbox::Capability> probe_adapters(const Stop&) override { return adapters; }
  std::vector<sandbox::Capability> probe_models(const Stop&) override { return models; }
  std::vector<sandbox::Capability> probe_data_dir(const Stop&) override { return directory; }

  std::optional<Error> config_error;
  std::optional<Error> engine_error;
  std::vector<std::string> warnings;
  ConfigChoice config;
  std::string socket;
  bool file_found = true;
  bool own_engine = false;
  std::size_t other_runs = 0;  ///< that the engine of this process still has
  bool installed = false;      ///< the adapter claude-code
  bool drained = false;
  bool served = false;
  std::optional<EngineUse> used;
  test::DummyDriver driver_;
  std::vector<sandbox::CapabilityReport> reports{
      {"dummy",
       true,
       {{"user namespaces", true, true, "works", ""}, {"swap limit", false, false, "no memsw controller", "boot with swapaccount=1"}}}};
  std::vector<sandbox::Capability> adapters{{"pi", true, true, "built in", ""}};
  std::vector<sandbox::Capability> models{{"anthropic", false, false, "no key", "set ANTHROPIC_API_KEY"}};
  std::vector<sandbox::Capability> directory{{"writable", true, true, "/data", ""}};

 private:
  class Handle final : public EngineHandle {
   public:
    explicit Handle(FakeServices& owner) : owner_(owner) {}
    std::size_t live_runs() override { return owner_.other_runs; }
    void drain(const Stop&) override { owner_.drained = true; }

   private:
    FakeServices& owner_;
  };
};

/// Runs command lines against the fake server, which stands on a unix socket as the owner of the data directory does.
class CliTest : public testing::Test {
 protected:
  FakeForge& forge() {
    if (!forge_) {
      services.socket = (directory / "forge.sock").string();
      forge_ = std::make_unique<FakeForge>(script, services.socket);
    }
    return *forge_;
  }

  /// The exit status; output in `out` and `err`.
  int run(const std::vector<std::string>& args) {
    forge();
    std::ostringstream out_stream;
    std::ostringstream err_stream;
    const Console console{.out = out_stream, .err = err_stream};
    const int status = run_cli(args, services, console);
    out = out_stream.str();
    err = err_stream.str();
    return status;
  }

  SignalsOfMain signals_;  // before any thread
  test::TempDir directory;
  Script script;  ///< changed before the first run()
  FakeServices services;
  std::string out;
  std::string err;

 private:
  std::unique_ptr<FakeForge> forge_;
};

}  // namespace forge::cli
