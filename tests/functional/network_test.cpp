#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  const json report =
      run({"--allow-host", "localhost", "--setup", get("http://denied.invalid/from-setup"), "--model",
           forge_.steps(runs(get("http://other.invalid:8080/x") + "; " + get("http://localhost/") + "; env | grep -i proxy >> log"))});
  const auto events = of_type(forge_.trace(report.at("job")), "network");
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].at("data").at("host"), "denied.invalid");
  EXPECT_EQ(events[0].at("data").at("port"), 80);
  EXPECT_EQ(events[0].at("data").at("decision"), "denied_host");
  EXPECT_THAT(events[0].at("data").at("hint").get<std::string>(), HasSubstr("--allow-host denied.invalid"));
  EXPECT_EQ(events[1].at("data").at("host"), "other.invalid");
  EXPECT_EQ(events[2].at("data").at("host"), "localhost");
  EXPECT_EQ(events[2].at("data").at("decision"), "denied_address");  // a name that may be used, at an address that may not
  const std::string log = repo_.git({"show", report.at("branch").get<std::string>() + ":log"});
  EXPECT_THAT(log, HasSubstr("403"));
  EXPECT_THAT(log, HasSubstr("127.0.0.1:3128"));
}

TEST_F(Network, NeverReachesTheMachineItself) {
  test::LoopbackServer inside([](test::Connection& connection) { connection.send(test::http_answer(200, "of the machine")); });
  const std::string authority = "127.0.0.1:" + std::to_string(inside.port());
  const json report =
      run({"--allow-host", authority, "--allow-host", "localhost:" + std::to_string(inside.port()), "--model",
           forge_.steps(runs(get("http://" + authority + "/") + "; " + get("http://localhost:" + std::to_string(inside.port()) + "/")))});
  EXPECT_EQ(inside.connections(), 0);
  EXPECT_THAT(repo_.git({"show", report.at("branch").get<std::string>() + ":log"}), testing::Not(HasSubstr("of the machine")));
}

}  // namespace
}  // namespace forge::functional
