#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/guarded.h"
#include "tests/support/loopback_server.h"
#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

using testing::HasSubstr;
using testing::Not;

class NetworkChild : public GitTest {
 protected:
  Error failure(const std::string& url, const Stop& stop = soon()) {
    return *test::error_of([&] { cache().fetch(url, "", stop); });
  }
  void open_with(std::chrono::milliseconds idle_limit) {
    auto all = options();
    all.idle_limit = idle_limit;
    all.credentials = {{.host = "127.0.0.1:1", .username = "u", .secret = "never-to-be-sent"}};
    cache_ = open_repository_cache(std::move(all));
  }
};

TEST_F(NetworkChild, GivesUpOnAServerThatSaysNothing) {
  test::LoopbackServer silent([](test::Connection& connection) { connection.wait_gone(); });
  open_with(std::chrono::seconds(2));  // the helper starts within it, or another text is right
  const Error error = failure(silent.url() + "/a.git");
  EXPECT_EQ(name_of(error.code()), "unavailable");
  EXPECT_THAT(error.client_text(), HasSubstr("accepted the connection and said nothing"));
}

TEST_F(NetworkChild, GivesUpOnAServerThatStopsInTheMiddle) {
  test::LoopbackServer stops([](test::Connection& connection) {
    if (!connection.read_request()) return;
    connection.send(
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\nContent-Length: 5000\r\n\r\n001e# "
        "service=git-upload-pack\n");
    connection.wait_gone();
  });
  open_with(std::chrono::milliseconds(300));
  EXPECT_EQ(name_of(failure(stops.url() + "/a.git").code()), "unavailable");
}

TEST_F(NetworkChild, EndsAtTheCallersDeadlineAndWhenCancelled) {
  std::stop_source cancel;
  test::LoopbackServer silent([&](test::Connection& connection) {
    if (connection.read_request()) cancel.request_stop();
    connection.wait_gone();
  });
  EXPECT_EQ(name_of(failure(silent.url() + "/a.git", Stop::after(std::chrono::milliseconds(200))).code()), "timed_out");
  std::stop_source later;
  test::LoopbackServer cancels([&](test::Connection& connection) {
    if (connection.read_request()) later.request_stop();
    connection.wait_gone();
  });
  EXPECT_EQ(name_of(failure(cancels.url() + "/a.git", Stop(later.get_token())).code()), "cancelled");
}

TEST_F(NetworkChild, SaysThatNothingListens) {
  // Bound and not listening: nobody else can take the port meanwhile.
  const UniqueFd socket = checked_fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "making a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  checked(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), "binding");
  checked(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), "reading the port");
  const Error error = failure("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/a.git");
  EXPECT_EQ(name_of(error.code()), "unavailable");
  EXPECT_THAT(error.client_text(), HasSubstr("cannot be reached: nothing listens there"));
}

TEST_F(NetworkChild, SaysThatAHostIsNotFound) {
  const Error error = failure("http://no-such-host.invalid/a.git");
  EXPECT_EQ(name_of(error.code()), "unavailable");
  EXPECT_THAT(error.client_text(), HasSubstr("the host is not found"));
}

TEST_F(NetworkChild, DoesNotFollowARedirectToAnotherHost) {
  Guarded<std::string> seen;
  test::LoopbackServer other([&](test::Connection& connection) {
    if (const auto request = connection.read_request()) *seen.lock() += request->target;
    connection.send(test::http_answer(404, ""));
  });
  test::LoopbackServer redirects([&](test::Connection& connection) {
    if (!connection.read_request()) return;
    connection.send(test::http_answer(
        302, "", "Location: http://localhost:" + std::to_string(other.port()) + "/a.git/info/refs?service=git-upload-pack\r\n"));
  });
  const Error error = failure(redirects.url() + "/a.git");
  EXPECT_EQ(name_of(error.code()), "invalid_argument") << error.what();
  EXPECT_THAT(error.client_text(), HasSubstr("sends us on to another address"));
  EXPECT_EQ(*seen.lock(), "");
}

TEST_F(NetworkChild, SendsNoCredentialOfAnotherHost) {
  Guarded<std::string> headers;
  test::LoopbackServer asks([&](test::Connection& connection) {
    while (const auto request = connection.read_request()) {
      *headers.lock() += request->header("authorization");
      connection.send(test::http_answer(401, "", "WWW-Authenticate: Basic realm=\"x\"\r\n"));
    }
  });
  open_with(std::chrono::seconds(5));
  EXPECT_EQ(name_of(failure(asks.url() + "/a.git").code()), "unauthenticated");
  EXPECT_EQ(*headers.lock(), "");
}

TEST_F(NetworkChild, TellsAWebPageFromARepository) {
  test::LoopbackServer page([](test::Connection& connection) {
    if (connection.read_request()) connection.send(test::http_answer(200, "<html></html>", "Content-Type: text/html\r\n"));
  });
  const Error error = failure(page.url() + "/a.git");
  EXPECT_EQ(name_of(error.code()), "invalid_argument") << error.what();
  EXPECT_THAT(error.client_text(), HasSubstr("is a web page and no git repository"));
}

TEST_F(NetworkChild, ReportsFaultsOfTheServer) {
  for (const auto& [status, code] :
       std::vector<std::pair<int, std::string>>{{403, "permission_denied"}, {500, "unavailable"}, {404, "not_found"}}) {
    test::LoopbackServer faulty([status = status](test::Connection& connection) {
      if (connection.read_request()) connection.send(test::http_answer(status, "no"));
    });
    EXPECT_EQ(name_of(failure(faulty.url() + "/a.git").code()), code) << status;
  }
}

TEST_F(NetworkChild, ReportsAHelperThatDiesOrIsMissing) {
  auto all = options();
  all.helper_program = "/bin/false";
  cache_ = open_repository_cache(std::move(all));
  EXPECT_EQ(name_of(failure("http://127.0.0.1:9/a.git").code()), "unavailable");
  auto missing = options();
  missing.helper_program = "/nonexistent/forge";
  cache_ = open_repository_cache(std::move(missing));
  EXPECT_EQ(name_of(failure("http://127.0.0.1:9/a.git").code()), "internal");
}

/// All that /proc shows to others of the processes whose parent we are.
std::string shown_of_children() {
  std::string shown;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string stat = entry.path().string() + "/stat";
    std::error_code gone;
    if (!std::filesystem::is_regular_file(stat, gone)) continue;
    std::string text;
    std::getline(std::ifstream(stat), text);
    // "pid (name) state parent ...": whatever the state is at this moment.
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos || !text.substr(std::min(text.size(), name_end + 4)).starts_with(std::to_string(::getpid()) + " "))
      continue;
    for (const char* name : {"/cmdline", "/environ"}) {
      std::ifstream in(entry.path().string() + name, std::ios::binary);
      shown.append(std::istreambuf_iterator<char>(in), {});
    }
  }
  return shown;
}

TEST_F(NetworkChild, ShowsTheCredentialToNobody) {
  Guarded<std::string> shown;
  test::LoopbackServer looks([&](test::Connection& connection) {
    if (!connection.read_request()) return;
    *shown.lock() = shown_of_children();
    connection.send(test::http_answer(404, ""));
  });
  auto all = options();
  all.credentials = {{.host = "127.0.0.1:" + std::to_string(looks.port()), .username = "user", .secret = "very-secret-value"}};
  cache_ = open_repository_cache(std::move(all));
  failure(looks.url() + "/a.git");
  EXPECT_THAT(*shown.lock(), HasSubstr("git-network"));
  EXPECT_THAT(*shown.lock(), Not(HasSubstr("very-secret-value")));
}

}  // namespace
}  // namespace forge::git
