#include "orchestrator/egress/network_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/base/error.h"
#include "tests/support/dummy_sandbox.h"
#include "tests/support/loopback.h"
#include "tests/support/soon.h"
#include "tests/support/trace_recorder.h"

namespace forge::egress {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

using test::soon;
struct Rig {
  std::unique_ptr<Log> log = make_null_log();
  test::TraceRecorder trace;
  test::DummyDriver* dummy = nullptr;
  std::unique_ptr<sandbox::SandboxDriver> driver;

  Rig() {
    auto made = std::make_unique<test::DummyDriver>();
    dummy = made.get();
    NetworkDriverOptions options;
    options.resolve = [](const std::string&, const Stop&) { return std::vector<Address>{*Address::parse("127.0.0.1")}; };
    options.deny = HostRules::parse({"denied.test"}, "network.deny");
    driver = make_network_driver(std::move(made), std::move(options), *log);
  }
  sandbox::SandboxSpec spec(std::vector<std::string> hosts) {
    sandbox::SandboxSpec spec;
    spec.network.allow_hosts = std::move(hosts);
    spec.trace = &trace;
    return spec;
  }
};

sandbox::CommandSpec shell(const std::string& script) {
  sandbox::CommandSpec command;
  command.argv = {"sh", "-c", script};
  return command;
}

TEST(NetworkDriver, GivesNoWayOutWithoutAPolicy) {
  Rig rig;
  const auto box = rig.driver->acquire(rig.spec({}), soon());
  EXPECT_EQ(box->run(shell("echo $HTTP_PROXY"), soon()).out.text(), "\n");
  EXPECT_THROW(box->take_listener(sandbox::kProxyPort), Error);
  EXPECT_EQ(rig.driver->name(), "dummy");
}

TEST(NetworkDriver, RunsAProxyForTheHostsOfThePolicy) {
  Rig rig;
  const auto box = rig.driver->acquire(rig.spec({"named.test", "denied.test"}), soon());
  EXPECT_EQ(box->run(shell("echo $HTTP_PROXY $http_proxy"), soon()).out.text(), "http://127.0.0.1:3128 http://127.0.0.1:3128\n");
  EXPECT_THAT(box->enforced(), Contains("network through the proxy to named.test, denied.test only"));
  EXPECT_THROW(box->take_listener(sandbox::kProxyPort), Error);  // taken
  box->halt(soon());
}

TEST(NetworkDriver, TellsTheTraceAndEndsWithTheSandbox) {
  Rig rig;
  // The dummy maps the port inside to one of this machine, which only the dummy knows.
  struct Spy final : sandbox::SandboxDriver {
    test::DummySandbox* box = nullptr;
    std::string_view name() const override { return "spy"; }
    sandbox::CapabilityReport probe(const Stop&) override { return {}; }
    std::unique_ptr<sandbox::Sandbox> acquire(const sandbox::SandboxSpec& spec, const Stop&) override {
      auto made = std::make_unique<test::DummySandbox>(spec);
      box = made.get();
      return made;
    }
  };
  auto spy = std::make_unique<Spy>();
  Spy* inner = spy.get();
  const auto driver = make_network_driver(std::move(spy), {}, *rig.log);
  const auto box = driver->acquire(rig.spec({"named.test"}), soon());
  const int port = inner->box->machine_port(sandbox::kProxyPort);
  const UniqueFd client = test::connect_to_loopback(port);
  write_all(client.get(), "CONNECT other.test:443 HTTP/1.1\r\n\r\n", soon());
  EXPECT_THAT(read_all(client.get(), 1000, soon()), HasSubstr("403 Forbidden"));
  EXPECT_EQ(rig.trace.of<trace::Network>().size(), 1U);
  box->halt(soon());
  EXPECT_THROW(test::connect_to_loopback(port), Error);
}

TEST(NetworkDriver, NamesTheEntryThatIsNoHost) {
  Rig rig;
  try {
    rig.driver->acquire(rig.spec({"good.test", "no host"}), soon());
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.field(), "network.allow_hosts[1]");
  }
  EXPECT_EQ(rig.dummy->counts().acquired, 0);
}

TEST(NetworkDriver, ReleasesTheInnerSandbox) {
  Rig rig;
  rig.driver->acquire(rig.spec({"named.test"}), soon()).reset();
  EXPECT_EQ(rig.dummy->counts().live(), 0);
}

}  // namespace
}  // namespace forge::egress
