#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <regex>

#include "tests/functional/remains.h"
#include "tests/functional/repository.h"
#include "tests/functional/server.h"
#include "tests/functional/steps.h"

namespace forge::functional {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

std::string bearer(const std::string& token) { return "Authorization: Bearer " + token + "\r\n"; }

class Access : public testing::Test {
 protected:
  Access() { forge_.set("FORGE_REPOSITORIES__ALLOW_LOCAL", "/tmp," + repo_.path().parent_path().string()); }
  Server& server() {
    if (!server_) server_.emplace(forge_);
    return *server_;
  }
  int status(const std::string& method, const std::string& target, const std::string& headers, const json& body = json::object()) {
    return server().ask(method, target, body.dump(), headers).status;
  }
  json job(const std::string& command) const {
    return {{"repository", repo_.str()}, {"task", "x"}, {"model", forge_.steps(runs(command))}};
  }

  Installation forge_;
  SmallRepo repo_;
  std::optional<Server> server_;
};

TEST_F(Access, OverTcpNeedsATokenExceptForWhatSaysNothing) {
  for (const char* target : {"/api/v1/jobs", "/api/v1/events", "/api/v1/templates", "/api/v1/tokens", "/metrics"})
    EXPECT_EQ(status("GET", target, ""), 401) << target;
  EXPECT_EQ(status("POST", "/api/v1/jobs", "", job("true")), 401);
  EXPECT_EQ(status("GET", "/api/v1/jobs", bearer("forge_" + std::string(43, 'A'))), 401);
  const auto refused = server().ask("GET", "/api/v1/jobs", "", "");
  EXPECT_THAT(refused.header("www-authenticate"), StartsWith("Bearer"));
  EXPECT_EQ(json::parse(refused.body).at("error").at("code"), "unauthenticated");
  EXPECT_THAT(json::parse(refused.body).at("error").at("hint").get<std::string>(), HasSubstr("forge token create"));

  EXPECT_EQ(json::parse(server().ask("GET", "/healthz", "", "").body).at("status"), "ok");
  EXPECT_EQ(json::parse(server().ask("GET", "/readyz", "", "").body).at("status"), "ready");
  EXPECT_EQ(json::parse(server().ask("GET", "/openapi.json", "", "").body).at("openapi").get<std::string>().substr(0, 2), "3.");
  EXPECT_THAT(server().ask("GET", "/", "", "").body, HasSubstr("<html"));
  EXPECT_THAT(server().ask("GET", "/metrics", "", server().admin()).body, HasSubstr("# TYPE forge_runs_live gauge"));
}

TEST_F(Access, IsByRole) {
  struct Row {
    const char* method;
    const char* target;
    json body;
    int least;  ///< role from which on it is allowed: viewer 0, reviewer 1, operator 2, admin 3
  };
  const std::string id = server().create([&] {
    json created = job("true");
    created["start"] = false;
    return created;
  }());
  const std::vector<Row> rows{{"GET", "/api/v1/jobs", {}, 0},
                              {"GET", "/api/v1/templates", {}, 0},
                              {"GET", "/metrics", {}, 0},
                              {"POST", "/api/v1/jobs", {{"repository", ""}, {"task", ""}}, 2},
                              {"POST", "/api/v1/jobs/000000aaaa/run", json::object(), 2},
                              {"POST", "/api/v1/jobs/000000aaaa/cancel", json::object(), 2},
                              {"GET", "/api/v1/tokens", {}, 3},
                              {"POST", "/api/v1/tokens", {{"name", ""}, {"role", "viewer"}}, 3},
                              {"DELETE", "/api/v1/tokens/none", {}, 3},
                              {"POST", "/api/v1/sign-in-links", {{"role", "none"}}, 3}};
  const std::vector<std::string> roles{"viewer", "reviewer", "operator", "admin"};
  for (std::size_t role = 0; role < roles.size(); ++role) {
    const std::string headers = bearer(server().token(roles[role], roles[role]));
    EXPECT_EQ(status("GET", "/api/v1/jobs/" + id, headers), 200);
    for (const Row& row : rows) {
      const auto answer = server().ask(row.method, row.target, row.body.is_null() ? "" : row.body.dump(), headers);
      EXPECT_EQ(answer.status != 403, static_cast<int>(role) >= row.least)
          << roles[role] << " " << row.method << " " << row.target << " " << answer.body;
      EXPECT_NE(answer.status, 401);
    }
  }
}

TEST_F(Access, EndsWithTheTokenForRequestsSessionsAndStreams) {
  const std::string secret = server().token("viewer", "reader");
  EXPECT_THAT(secret, StartsWith("forge_"));
  const auto signed_in = server().ask("POST", "/api/v1/session", json{{"token", secret}}.dump(), "");
  ASSERT_EQ(signed_in.status, 201);
  const std::string cookie = "Cookie: " + signed_in.header("set-cookie").substr(0, signed_in.header("set-cookie").find(';')) + "\r\n";
  EXPECT_EQ(status("GET", "/api/v1/jobs", cookie), 200);
  EventReader by_token(server().port(), test::get_request("/api/v1/events", bearer(secret)));
  EventReader by_cookie(server().port(), test::get_request("/api/v1/events", cookie));
  EXPECT_EQ(by_token.status(), 200);
  EXPECT_EQ(by_cookie.status(), 200);

  EXPECT_EQ(forge_.forge({"token", "revoke", "reader"}).out, "revoked \"reader\"\n");
  EXPECT_FALSE(by_token.next());
  EXPECT_FALSE(by_cookie.next());
  EXPECT_EQ(status("GET", "/api/v1/jobs", bearer(secret)), 401);
  EXPECT_EQ(status("GET", "/api/v1/jobs", cookie), 401);
  EXPECT_THAT(forge_.forge({"token", "list"}).out, HasSubstr("revoked"));
}

TEST_F(Access, OverTcpNoSpellingOfAPathLeadsOutOfTheAllowedOnes) {
  const auto allowed = forge_.file("allowed");
  std::filesystem::create_directory(allowed);
  const std::string out = repo_.path().lexically_relative(allowed).string();
  const std::string hidden = std::regex_replace(out, std::regex(R"(\.\.)"), "%2e%2E");
  forge_.set("FORGE_REPOSITORIES__ALLOW_LOCAL", allowed.string());
  const std::string headers = bearer(server().token("operator", "ci"));
  const auto create = [&](const std::string& repository) {
    return status("POST", "/api/v1/jobs", headers, {{"repository", repository}, {"task", "x"}, {"start", false}});
  };
  for (const std::string& name : std::vector<std::string>{
           repo_.str(), allowed.string() + "/" + out, "file://" + repo_.str(), "file://" + allowed.string() + "/" + out,
           "file://" + allowed.string() + "/" + hidden, "FILE://localhost" + allowed.string() + "/" + hidden})
    EXPECT_EQ(create(name), 403) << name;
}

TEST_F(Access, ByASignInLinkWorksOnce) {
  const auto first = server().ask("GET", server().sign_in_path(), "", "");
  EXPECT_EQ(first.status / 100, 3);
  EXPECT_EQ(first.header("location"), "/");
  const std::string set = first.header("set-cookie");
  EXPECT_THAT(set, HasSubstr("HttpOnly"));
  EXPECT_THAT(set, HasSubstr("SameSite=Strict"));
  const std::string cookie = "Cookie: " + set.substr(0, set.find(';')) + "\r\n";
  const auto session = server().ask("GET", "/api/v1/session", "", cookie);
  EXPECT_EQ(json::parse(session.body).at("role"), "admin");
  EXPECT_EQ(status("GET", server().sign_in_path(), ""), 401);
  EXPECT_EQ(status("GET", "/sign-in/" + std::string(43, 'A'), ""), 401);
  // The cookie's secret is in no file.
  const std::string secret = set.substr(set.find('=') + 1, set.find(';') - set.find('=') - 1);
  EXPECT_EQ(test::read_file(forge_.data() / "forge.db").find(secret), std::string::npos);

  // Writes by cookie need to come from our own page.
  const json spec = job("true");
  EXPECT_EQ(status("POST", "/api/v1/jobs", cookie, spec), 403);
  EXPECT_EQ(status("POST", "/api/v1/jobs", cookie + "Origin: https://evil.example\r\n", spec), 403);
  EXPECT_EQ(status("POST", "/api/v1/jobs", cookie + "Origin: http://localhost\r\n", spec), 201);
  EXPECT_EQ(server().ask("DELETE", "/api/v1/session", "", cookie + "Origin: http://localhost\r\n").status, 204);
  EXPECT_EQ(status("GET", "/api/v1/session", cookie), 401);
  server().wait_ended(server().api("GET", "/api/v1/jobs").at("items").at(0).at("id"));
}

TEST_F(Access, ByTheUnixSocketNeedsNothingButItsFile) {
  server();
  const std::string path = (forge_.data() / "forge.sock").string();
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  auto client = test::RawClient::unix_socket(path);
  const auto answer = client.ask(test::get_request("/api/v1/session"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(json::parse(answer.body).at("role"), "admin");
  EXPECT_EQ(json::parse(answer.body).at("local"), true);
}

TEST_F(Access, IsForOurOwnNamesOnly) {
  const auto with_host = [&](const std::string& host) {
    auto client = test::RawClient::tcp(server().port());
    return client.ask("GET /healthz HTTP/1.1\r\nHost: " + host + "\r\n\r\n").status;
  };
  EXPECT_EQ(with_host("127.0.0.1:" + std::to_string(server().port())), 200);
  EXPECT_EQ(with_host("localhost"), 200);
  EXPECT_EQ(with_host("evil.example"), 403);
  EXPECT_EQ(with_host("127.0.0.1.evil.example"), 403);
  const Said open = forge_.forge({"serve", "--listen", "0.0.0.0:0", "--data-dir", forge_.file("other").string()});
  EXPECT_EQ(open.status(), 2);
  EXPECT_THAT(open.err, HasSubstr("server.public_url is not set"));
}

TEST_F(Access, OfRemoteCallersToLocalFilesIsListed) {
  forge_.set("FORGE_REPOSITORIES__ALLOW_LOCAL", forge_.file("allowed").string());
  const std::string headers = server().admin();
  EXPECT_EQ(status("POST", "/api/v1/jobs", headers, job("true")), 403);
  EXPECT_EQ(status("POST", "/api/v1/jobs", headers,
                   {{"repository", forge_.file("allowed/x").string()}, {"task", "x"}, {"model", "scripted:/etc/passwd"}}),
            403);
}

class Events : public Access {
 protected:
  void SetUp() override { mark_ = "forge-agent-of-" + forge_.data().parent_path().filename().string(); }
  std::string mark_;
};

TEST_F(Events, ResumeAcrossARestartWithoutGapOrDuplicate) {
  const std::string id = server().create(job("echo y > y; " + sleeping_as(mark_)));
  wait_for_process(mark_);
  std::vector<json> heard;
  {
    auto stream = server().events("/api/v1/jobs/" + id + "/events");
    while (heard.empty() || heard.back().at("type") != "text") {
      const auto event = stream.next();
      ASSERT_TRUE(event);
      EXPECT_EQ(event->id, event->data.at("seq"));
      heard.push_back(event->data);
    }
    server().kill9();
    while (const auto event = stream.next()) heard.push_back(event->data);  // what was on its way
  }
  server_.emplace(forge_);
  auto rest = server().events("/api/v1/jobs/" + id + "/events", "Last-Event-ID: " + heard.back().at("seq").dump() + "\r\n");
  for (auto event = rest.next(); event; event = rest.next()) {
    if (event->name == "end") {
      EXPECT_EQ(event->data.at("reason"), "interrupted");
      break;
    }
    heard.push_back(event->data);
  }
  const json page = server().api("GET", "/api/v1/jobs/" + id + "/trace?limit=1000");
  EXPECT_EQ(page.at("complete"), true);
  EXPECT_EQ(page.at("items"), json(heard));
  EXPECT_EQ(heard.back().at("type"), "terminal");
  // Who has heard all is told not to come again.
  EXPECT_EQ(server().events("/api/v1/jobs/" + id + "/events", "Last-Event-ID: " + heard.back().at("seq").dump() + "\r\n").status(), 204);
}

TEST_F(Events, OfAllJobsComeInOneStream) {
  auto stream = server().events("/api/v1/events");
  EXPECT_EQ(stream.status(), 200);
  const std::string first = server().create(job("echo 1 > n"));
  const std::string second = server().create(job("echo 2 > n"));
  std::map<std::string, std::int64_t> last;
  std::size_t ended = 0;
  stream.until([&](const ServerEvent& event) {
    EXPECT_EQ(event.data.at("seq"), ++last[event.data.at("job")]);
    ended += event.data.at("type") == "terminal" ? 1U : 0U;
    return ended == 2;
  });
  EXPECT_EQ(last.size(), 2u);
  EXPECT_TRUE(last.contains(first) && last.contains(second));
}

TEST_F(Events, EndWithAWordWhenTheServerStops) {
  auto stream = server().events("/api/v1/events");
  const Said said = server().stop();
  EXPECT_EQ(said.status(), 0) << said.err;
  const auto last = stream.until([](const ServerEvent& event) { return event.name == "shutdown"; });
  EXPECT_EQ(last.name, "shutdown");
  EXPECT_FALSE(stream.next());
}

}  // namespace
}  // namespace forge::functional
