#include "orchestrator/sandbox/drivers.h"

#include <algorithm>
#include <array>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/sandbox/local/driver.h"

namespace forge::sandbox {
namespace {

/// Refuses always: for a Forge that shall only serve what is stored.
class NoDriver final : public SandboxDriver {
 public:
  std::string_view name() const override { return "none"; }
  CapabilityReport probe(const Stop&) override {
    return {"none", false, {{"sandboxes", false, true, "sandboxes are disabled", "set sandbox.provider = local"}}};
  }
  std::unique_ptr<Sandbox> acquire(const SandboxSpec&, const Stop&) override {
    throw public_failure(ErrorCode::sandbox_policy, "sandboxes are disabled (sandbox.provider = none)");
  }
};

struct Provider {
  std::string_view name;
  std::unique_ptr<SandboxDriver> (*make)(const DriverOptions& options);
};

constexpr std::array<Provider, 2> kProviders{{
    {"local", [](const DriverOptions& options) { return local::make_local_driver(options); }},
    {"none", [](const DriverOptions&) -> std::unique_ptr<SandboxDriver> { return std::make_unique<NoDriver>(); }},
}};

}  // namespace

std::vector<std::string> driver_names() {
  std::vector<std::string> names;
  for (const Provider& provider : kProviders) names.emplace_back(provider.name);
  return names;
}

std::unique_ptr<SandboxDriver> make_driver(std::string_view name, const DriverOptions& options) {
  for (const Provider& provider : kProviders) {
    if (provider.name == name) return provider.make(options);
  }
  const std::string near = nearest(name, driver_names());
  std::string known;
  for (const std::string& one : driver_names()) known += (known.empty() ? "" : ", ") + one;
  throw public_failure(ErrorCode::sandbox_config, "there is no sandbox driver '" + std::string(name) + "'" +
                                                      (near.empty() ? "" : "; did you mean '" + near + "'?") + " Known: " + known);
}

}  // namespace forge::sandbox
