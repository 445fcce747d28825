#include "orchestrator/egress/network_driver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace forge::egress {
namespace {

using sandbox::Sandbox;
using sandbox::SandboxSpec;

/// A sandbox and its way out.
class NetworkSandbox final : public Sandbox {
 public:
  NetworkSandbox(std::unique_ptr<Sandbox> inner, std::unique_ptr<Proxy> proxy, const std::vector<std::string>& hosts)
      : inner_(std::move(inner)), proxy_(std::move(proxy)), enforced_(inner_->enforced()) {
    enforced_.push_back(fmt::format("network through the proxy to {} only", fmt::join(hosts, ", ")));
  }
  ~NetworkSandbox() override { release(); }
  NetworkSandbox(const NetworkSandbox&) = delete;
  NetworkSandbox& operator=(const NetworkSandbox&) = delete;

  const std::string& id() const override { return inner_->id(); }
  const std::vector<std::string>& enforced() const override { return enforced_; }
  const std::vector<std::string>& unenforced() const override { return inner_->unenforced(); }
  sandbox::CommandResult run(const sandbox::CommandSpec& command, const Stop& stop) override { return inner_->run(command, stop); }
  std::string read_file(const std::string& path, std::size_t max_bytes, const Stop& stop) override {
    return inner_->read_file(path, max_bytes, stop);
  }
  void write_file(const std::string& path, std::string_view content, const Stop& stop) override { inner_->write_file(path, content, stop); }
  UniqueFd take_listener(int port) override { return inner_->take_listener(port); }
  void halt(const Stop& stop) override {
    inner_->halt(stop);
    proxy_.reset();  // nobody is left to serve; its totals belong before the end of the trace
  }
  void changes(const sandbox::ChangeLimits& limits, sandbox::ChangeSink& sink, const Stop& stop) override {
    inner_->changes(limits, sink, stop);
  }
  void release() noexcept override {
    proxy_.reset();
    inner_->release();
  }

 private:
  std::unique_ptr<Sandbox> inner_;
  std::unique_ptr<Proxy> proxy_;
  std::vector<std::string> enforced_;
};

class NetworkDriver final : public sandbox::SandboxDriver {
 public:
  NetworkDriver(std::unique_ptr<SandboxDriver> inner, NetworkDriverOptions options, Log& log)
      : inner_(std::move(inner)), options_(std::move(options)), log_(log) {}

  std::string_view name() const override { return inner_->name(); }
  sandbox::CapabilityReport probe(const Stop& stop) override { return inner_->probe(stop); }

  std::unique_ptr<Sandbox> acquire(const SandboxSpec& spec, const Stop& stop) override {
    if (!spec.network.any()) return inner_->acquire(spec, stop);
    ProxyOptions options;
    options.allow = HostRules::parse_allowed(spec.network.allow_hosts, "network.allow_hosts");
    options.deny = options_.deny;
    options.limits = options_.limits;
    options.resolve = options_.resolve;
    options.allow_private_for_tests = options_.allow_private_for_tests;
    SandboxSpec with_proxy = spec;
    with_proxy.listener_ports.push_back(sandbox::kProxyPort);
    auto environment = proxy_environment();
    with_proxy.env.insert(with_proxy.env.begin(), environment.begin(), environment.end());  // the caller's own come later and win
    std::unique_ptr<Sandbox> made = inner_->acquire(with_proxy, stop);
    auto proxy = std::make_unique<Proxy>(made->take_listener(sandbox::kProxyPort), std::move(options), spec.trace, log_);
    return std::make_unique<NetworkSandbox>(std::move(made), std::move(proxy), spec.network.allow_hosts);
  }

 private:
  std::unique_ptr<SandboxDriver> inner_;
  NetworkDriverOptions options_;
  Log& log_;
};

}  // namespace

std::unique_ptr<sandbox::SandboxDriver> make_network_driver(std::unique_ptr<sandbox::SandboxDriver> inner, NetworkDriverOptions options,
                                                            Log& log) {
  return std::make_unique<NetworkDriver>(std::move(inner), std::move(options), log);
}

}  // namespace forge::egress
