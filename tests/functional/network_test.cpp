#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <netdb.h>
#include <unistd.h>

#include <array>

#include "tests/functional/repository.h"
#include "tests/functional/steps.h"
#include "tests/support/loopback_server.h"

namespace forge::functional {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

// Python's own client, which obeys http_proxy, here also for this machine's own names.
std::string get(const std::string& url) {
  return "no_proxy= NO_PROXY= python3 -c 'import urllib.request as u\ntry: print(u.urlopen(\"" + url +
         "\", timeout=20).read().decode())\nexcept Exception as e: print(e, getattr(e, \"read\", lambda: b\"\")().decode())' >> log 2>&1";
}

/// A name of this machine that is neither "localhost" nor an address: only when it is asked for is it seen to be private.
std::string own_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}
bool resolves(const std::string& name) {
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, nullptr, &found) != 0) return false;
  ::freeaddrinfo(found);
  return true;
}

class Network : public testing::Test {
 protected:
  json run(const std::vector<std::string>& more) {
    std::vector<std::string> args{"run", "--repo", repo_.str(), "--task", "x", "--json"};
    args.insert(args.end(), more.begin(), more.end());
    return forge_.json(args);
  }
  Installation forge_;
  SmallRepo repo_;
};

TEST_F(Network, IsNotThereUnlessAHostWasAllowed) {
  test::LoopbackServer outside([](test::Connection& connection) { connection.wait_gone(); });
  const json report =
      run({"--model",
           forge_.steps(runs(
               get(outside.url()) +
               "; python3 -c 'import socket; print(socket.gethostbyname(\"example.com\"))' >> log 2>&1; cat /proc/net/route >> log"))});
  EXPECT_EQ(outside.connections(), 0);
  EXPECT_THAT(of_type(forge_.trace(report.at("job")), "network"), IsEmpty());
}

TEST_F(Network, DeniedHostsAreInTheTraceWithTheWayToAllowThem) {
  const std::string own = own_name();
  if (!resolves(own)) GTEST_SKIP() << "this machine's own name has no address";
  const json report =
      run({"--allow-host", own, "--setup", get("http://denied.invalid/from-setup"), "--model",
           forge_.steps(runs(get("http://other.invalid:8080/x") + "; " + get("http://" + own + "/") + "; env | grep -i proxy >> log"))});
  const auto events = of_type(forge_.trace(report.at("job")), "network");
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].at("data").at("host"), "denied.invalid");
  EXPECT_EQ(events[0].at("data").at("port"), 80);
  EXPECT_EQ(events[0].at("data").at("decision"), "denied_host");
  EXPECT_THAT(events[0].at("data").at("hint").get<std::string>(), HasSubstr("--allow-host denied.invalid"));
  EXPECT_EQ(events[1].at("data").at("host"), "other.invalid");
  EXPECT_EQ(events[2].at("data").at("host"), own);
  EXPECT_EQ(events[2].at("data").at("decision"), "denied_address");  // a name that may be used, at an address that may not
  const std::string log = repo_.git({"show", report.at("branch").get<std::string>() + ":log"});
  EXPECT_THAT(log, HasSubstr("403"));
  EXPECT_THAT(log, HasSubstr("127.0.0.1:3128"));
}

TEST_F(Network, NeverReachesTheMachineItself) {
  test::LoopbackServer inside([](test::Connection& connection) { connection.send(test::http_answer(200, "of the machine")); });
  const std::string port = ":" + std::to_string(inside.port());
  const std::string commands =
      get("http://127.0.0.1" + port + "/") + "; " + get("http://localhost" + port + "/") + "; " + get("http://" + own_name() + port + "/");
  const json report = run({"--allow-host", own_name() + port, "--model", forge_.steps(runs(commands))});
  EXPECT_EQ(inside.connections(), 0);
  EXPECT_THAT(repo_.git({"show", report.at("branch").get<std::string>() + ":log"}), testing::Not(HasSubstr("of the machine")));
}

TEST_F(Network, RefusesTheMachineItselfAndPrivateNetworksByName) {
  const std::string says = "' is this machine or a private network, and a sandbox reaches the public internet only\n";
  for (const std::string host : {"localhost", "127.0.0.1:8080", "10.0.0.1"}) {
    const Said job =
        forge_.forge({"run", "--repo", repo_.str(), "--task", "x", "--allow-host", host, "--model", forge_.steps(runs("true"))});
    EXPECT_EQ(job.status(), 2);
    EXPECT_THAT(job.err, HasSubstr("forge: network.allow_hosts[0]: '" + host + says));
    const Said command = forge_.forge({"sandbox", "run", "--allow-host", host, "--", "true"});
    EXPECT_EQ(command.status(), 125);
    EXPECT_THAT(command.err, HasSubstr("'" + host + says));
    forge_.set("FORGE_NETWORK__ALLOW", host);
    const Said configured = forge_.forge({"serve"});
    EXPECT_EQ(configured.status(), 2);
    EXPECT_THAT(configured.err, HasSubstr("forge: network.allow[0]: '" + host + says));
    forge_.unset("FORGE_NETWORK__ALLOW");
  }
}

}  // namespace
}  // namespace forge::functional
