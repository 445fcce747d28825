#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/unit/http/api_server.h"

namespace forge::http {
namespace {

using nlohmann::json;
using test::RawClient;
using test::RawResponse;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A path that leads to the route: parameters filled with what exists nowhere.
std::string path_of(const httpd::Route& route) {
  std::string path;
  bool in_parameter = false;
  for (const char c : route.pattern) {
    if (c == '{') path += "zzzzzz";
    in_parameter = c == '{' || (in_parameter && c != '}');
    if (!in_parameter && c != '}') path += c;
  }
  return path;
}

RawResponse call(ApiServer& server, const httpd::Route& route, const std::string& headers) {
  const std::string method(httpd::name_of(route.method));
  if (route.method == httpd::Method::get) return server.tcp_get(path_of(route), headers);
  return server.tcp_send(method, path_of(route), "", headers);
}

TEST(Roles, EveryRouteLetsInWhoItSaysAndNobodyElse) {
  ApiServer server;
  for (const httpd::Route& route : server.api->router().routes()) {
    const std::string name = std::string(httpd::name_of(route.method)) + " " + route.pattern;
    if (route.access.is_open()) {
      EXPECT_NE(call(server, route, "").status, 403) << name;
      continue;
    }
    const RawResponse stranger = call(server, route, "");
    EXPECT_EQ(stranger.status, 401) << name;
    EXPECT_THAT(stranger.header("www-authenticate"), StartsWith("Bearer"));
    for (const Role role : {Role::admin, Role::operator_, Role::reviewer, Role::viewer}) {
      // A stream that is let in stays open; it is enough that its head is not a refusal.
      if (route.pattern == "/api/v1/events" && at_least(role, route.access.role())) continue;
      const RawResponse response = call(server, route, server.as(role));
      if (at_least(role, route.access.role())) {
        EXPECT_NE(response.status, 401) << name << " " << name_of(role);
        EXPECT_NE(response.status, 403) << name << " " << name_of(role);
      } else {
        EXPECT_EQ(response.status, 403) << name << " " << name_of(role);
        EXPECT_THAT(response.body, HasSubstr("this needs the role " + std::string(name_of(route.access.role()))));
      }
    }
  }
}

TEST(Roles, OnlyTheseRoutesAreOpen) {
  ApiServer server;
  std::set<std::string> open;
  for (const httpd::Route& route : server.api->router().routes())
    if (route.access.is_open()) open.insert(std::string(httpd::name_of(route.method)) + " " + route.pattern);
  EXPECT_EQ(open, (std::set<std::string>{"GET /", "GET /healthz", "GET /readyz", "GET /openapi.json", "GET /sign-in/{secret}",
                                         "POST /api/v1/session"}));
}

TEST(Tokens, AreTakenAsBearerOnly) {
  ApiServer server;
  const std::string secret = issue_token(server.access, "t", Role::viewer).secret;
  EXPECT_EQ(server.tcp_get("/api/v1/jobs", "Authorization: Bearer " + secret + "\r\n").status, 200);
  EXPECT_EQ(server.tcp_get("/api/v1/jobs", "Authorization: bearer  " + secret + " \r\n").status, 200);
  EXPECT_EQ(server.tcp_get("/api/v1/jobs", "Authorization: Basic " + secret + "\r\n").status, 401);
  EXPECT_EQ(server.tcp_get("/api/v1/jobs", "Authorization: Bearer " + secret + "x\r\n").status, 401);
  EXPECT_EQ(server.tcp_get("/api/v1/jobs", "Authorization: Bearer\r\n").status, 401);
  EXPECT_EQ(server.tcp_get("/api/v1/jobs", "Authorization: Bearer " + hash_secret(secret) + "\r\n").status, 401);
}

TEST(Tokens, AreMadeListedAndRevokedByTheAdministrator) {
  ApiServer server;
  const RawResponse made = server.send("POST", "/api/v1/tokens", R"({"name": "ci", "role": "operator"})");
  ASSERT_EQ(made.status, 201);
  const json token = json::parse(made.body);
  const std::string header = "Authorization: Bearer " + token.at("secret").get<std::string>() + "\r\n";
  EXPECT_EQ(server.tcp_get("/api/v1/jobs", header).status, 200);
  const RawResponse list = server.get("/api/v1/tokens");
  EXPECT_EQ(json::parse(list.body).at("items").at(0).at("name"), "ci");
  EXPECT_THAT(list.body, Not(HasSubstr("secret")));
  EXPECT_EQ(server.send("POST", "/api/v1/tokens", R"({"name": "ci", "role": "viewer"})").status, 409);
  const RawResponse revoked = server.send("DELETE", "/api/v1/tokens/ci", "");
  EXPECT_EQ(json::parse(revoked.body).at("revoked"), true);
  EXPECT_EQ(server.tcp_get("/api/v1/jobs", header).status, 401);
  EXPECT_EQ(server.send("DELETE", "/api/v1/tokens/ci", "").status, 404);
}

TEST(Tokens, NeedANameAndARole) {
  ApiServer server;
  for (const char* body :
       {R"({"name": "x"})", R"({"role": "viewer"})", R"({"name": "", "role": "viewer"})", R"({"name": "x", "role": "king"})",
        R"({"name": "a\nb", "role": "viewer"})", R"({"name": "x", "role": "viewer", "y": 1})", ""})
    EXPECT_EQ(server.send("POST", "/api/v1/tokens", body).status, 400) << body;
}

TEST(UnixSocket, IsTheAdministratorWhateverIsSent) {
  ApiServer server;
  const json who = json::parse(server.get("/api/v1/session").body);
  EXPECT_EQ(who, (json{{"principal", "local"}, {"role", "admin"}, {"local", true}}));
  EXPECT_EQ(server.get("/api/v1/tokens", "Authorization: Bearer wrong\r\n").status, 200);
}

TEST(Hosts, AForeignNameIsRefusedOverTcp) {
  ApiServer server;
  RawClient client = RawClient::tcp(server.port);
  const RawResponse response = client.ask("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(response.status, 403);
  EXPECT_THAT(response.body, HasSubstr("server.public_url"));
}

/// Signs in with a fresh token; the Cookie header line.
std::string cookie_of(const RawResponse& response) {
  const std::string set = response.header("set-cookie");
  return "Cookie: other=1; " + set.substr(0, set.find(';')) + "\r\n";
}
std::string own_origin(const ApiServer& server) { return "Origin: http://localhost:" + std::to_string(server.port) + "\r\n"; }

std::string host_with_port(const ApiServer& server) { return "localhost:" + std::to_string(server.port); }

/// As a browser sends it: the Host has the port.
RawResponse browser(ApiServer& server, const std::string& method, const std::string& target, const std::string& headers,
                    const std::string& body = "") {
  const std::string length = method == "GET" ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return RawClient::tcp(server.port)
      .ask(method + " " + target + " HTTP/1.1\r\nHost: " + host_with_port(server) + "\r\n" + length + headers + "\r\n" + body);
}

const char* const kJsonType = "Content-Type: application/json\r\n";

std::string sign_in(ApiServer& server, Role role) {
  const std::string secret = issue_token(server.access, "person" + std::to_string(++server.tokens_made), role).secret;
  const RawResponse response = browser(server, "POST", "/api/v1/session", kJsonType + own_origin(server), json{{"token", secret}}.dump());
  EXPECT_EQ(response.status, 201) << response.body;
  return cookie_of(response);
}

TEST(Sessions, ATokenIsExchangedForACookie) {
  ApiServer server;
  const std::string secret = issue_token(server.access, "ada", Role::operator_).secret;
  const RawResponse response = browser(server, "POST", "/api/v1/session", kJsonType + own_origin(server), json{{"token", secret}}.dump());
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(json::parse(response.body), (json{{"principal", "ada"}, {"role", "operator"}, {"local", false}}));
  const std::string cookie = response.header("set-cookie");
  EXPECT_THAT(cookie, StartsWith("forge_session="));
  for (const char* part : {"; HttpOnly", "; SameSite=Strict", "; Path=/"}) EXPECT_THAT(cookie, HasSubstr(part));
  EXPECT_THAT(cookie, Not(HasSubstr("Secure")));
  EXPECT_EQ(browser(server, "GET", "/api/v1/session", cookie_of(response)).status, 200);
  EXPECT_EQ(browser(server, "POST", "/api/v1/session", kJsonType + own_origin(server), R"({"token": "forge_wrong"})").status, 401);
}

TEST(Sessions, UnderTlsTheCookieIsHeldToTheHost) {
  ApiOptions options = test_options();
  options.public_url = "https://forge.example";
  ApiServer server(options);
  const std::string secret = issue_token(server.access, "ada", Role::viewer).secret;
  const RawResponse response = RawClient::tcp(server.port)
                                   .ask(
                                       "POST /api/v1/session HTTP/1.1\r\nHost: forge.example\r\nOrigin: "
                                       "https://forge.example\r\nContent-Type: application/json\r\nContent-Length: " +
                                       std::to_string(json{{"token", secret}}.dump().size()) + "\r\n\r\n" + json{{"token", secret}}.dump());
  EXPECT_THAT(response.header("set-cookie"), StartsWith("__Host-forge_session="));
  EXPECT_THAT(response.header("set-cookie"), HasSubstr("; Secure"));
}

TEST(Sessions, WritesByCookieNeedAnOriginOfOursAndJson) {
  ApiServer server;
  const std::string cookie = sign_in(server, Role::operator_);
  const std::string body = R"({"repository": "https://git.example/x", "task": "t"})";
  const auto status = [&](const std::string& headers) { return browser(server, "POST", "/api/v1/jobs", cookie + headers, body).status; };
  EXPECT_EQ(status(kJsonType + own_origin(server)), 201);
  EXPECT_EQ(status(kJsonType), 403);
  EXPECT_EQ(status(std::string(kJsonType) + "Origin: http://evil.example\r\n"), 403);
  EXPECT_EQ(status(std::string(kJsonType) + "Origin: null\r\n"), 403);
  EXPECT_EQ(status("Content-Type: text/plain\r\n" + own_origin(server)), 403);
  EXPECT_EQ(browser(server, "GET", "/api/v1/jobs", cookie).status, 200);
}

TEST(Sessions, APageOfAnotherSiteCannotSignABrowserIn) {
  ApiServer server;
  const std::string secret = issue_token(server.access, "eve", Role::viewer).secret;
  const std::string body = json{{"token", secret}}.dump();
  EXPECT_EQ(browser(server, "POST", "/api/v1/session", std::string(kJsonType) + "Origin: http://evil.example\r\n", body).status, 403);
  EXPECT_EQ(browser(server, "POST", "/api/v1/session", "Content-Type: text/plain\r\n", body).status, 400);
}

TEST(Sessions, ABearerTokenIgnoresTheCookie) {
  ApiServer server;
  const std::string cookie = sign_in(server, Role::admin);
  EXPECT_EQ(server.tcp_get("/api/v1/tokens", cookie).status, 200);
  EXPECT_EQ(server.tcp_get("/api/v1/tokens", cookie + server.as(Role::viewer)).status, 403);
  EXPECT_EQ(server.tcp_get("/api/v1/tokens", cookie + "Authorization: Bearer wrong\r\n").status, 401);
}

TEST(Sessions, SigningOutEndsTheSession) {
  ApiServer server;
  const std::string cookie = sign_in(server, Role::viewer);
  const RawResponse out = browser(server, "DELETE", "/api/v1/session", cookie + own_origin(server));
  EXPECT_EQ(out.status, 204);
  EXPECT_THAT(out.header("set-cookie"), HasSubstr("forge_session=; "));
  EXPECT_THAT(out.header("set-cookie"), HasSubstr("Max-Age=0"));
  EXPECT_EQ(browser(server, "GET", "/api/v1/session", cookie).status, 401);
  EXPECT_EQ(server.tcp_send("DELETE", "/api/v1/session", "", server.as(Role::viewer)).status, 409);
}

TEST(Sessions, AreListedAndEndedByTheirOwnerOrTheAdministrator) {
  ApiServer server;
  const std::string ada = sign_in(server, Role::viewer);
  const std::string eve = sign_in(server, Role::operator_);
  const json mine = json::parse(browser(server, "GET", "/api/v1/sessions", ada).body).at("items");
  ASSERT_EQ(mine.size(), 1U);
  EXPECT_FALSE(mine.at(0).contains("secret_hash"));
  const std::string path = "/api/v1/sessions/" + mine.at(0).at("id").get<std::string>();
  EXPECT_EQ(json::parse(server.get("/api/v1/sessions").body).at("items").size(), 2U);
  EXPECT_EQ(browser(server, "DELETE", path, eve + own_origin(server)).status, 404);
  EXPECT_EQ(browser(server, "DELETE", path, ada + own_origin(server)).status, 204);
  EXPECT_EQ(browser(server, "GET", "/api/v1/session", ada).status, 401);
  EXPECT_EQ(server.send("DELETE", path, "").status, 404);
}

TEST(SignIn, ALinkWorksOnce) {
  ApiServer server;
  const json link = json::parse(server.send("POST", "/api/v1/sign-in-links", R"({"role": "operator"})").body);
  EXPECT_EQ(link.at("expires_ms"), server.clock.now_ms() + kSignInLifetimeMs);
  const std::string path = link.at("path");
  EXPECT_EQ(RawClient::tcp(server.port).ask("HEAD " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n", true).status, 405);
  const RawResponse first = server.tcp_get(path);
  EXPECT_EQ(first.status, 303);
  EXPECT_EQ(first.header("location"), "/");
  EXPECT_EQ(json::parse(server.tcp_get("/api/v1/session", cookie_of(first)).body).at("role"), "operator");
  const RawResponse second = server.tcp_get(path);
  EXPECT_EQ(second.status, 401);
  EXPECT_EQ(second.header("set-cookie"), "");
}

TEST(SignIn, ABrowserWithAVoidLinkIsShownAPage) {
  const std::string accepts = "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\n";
  ApiServer server;
  const std::string path = json::parse(server.send("POST", "/api/v1/sign-in-links", "").body).at("path");
  const RawResponse first = server.tcp_get(path, accepts);
  ASSERT_EQ(first.status, 303);
  const std::string forged = "Cookie: forge_session=" + std::string(43, 'A') + "\r\n";
  for (const auto& [headers, page] : std::vector<std::pair<std::string, std::string>>{
           {cookie_of(first), "/"}, {"", "/sign-in?link=used"}, {forged, "/sign-in?link=used"}}) {
    const RawResponse again = server.tcp_get(path, accepts + headers);
    EXPECT_EQ(again.status, 303) << headers;
    EXPECT_EQ(again.header("location"), page) << headers;
    EXPECT_EQ(again.header("set-cookie"), "") << headers;
  }
  EXPECT_EQ(server.tcp_get(path, "Accept: */*\r\n" + cookie_of(first)).status, 401);
}

TEST(SignIn, ALinkExpires) {
  ApiServer server;
  const std::string path = json::parse(server.send("POST", "/api/v1/sign-in-links", "").body).at("path");
  server.access.now_ms = server.clock.now_ms() + kSignInLifetimeMs;
  EXPECT_EQ(server.tcp_get(path).status, 401);
}

TEST(Remote, CallersOverTcpNameLocalPathsOnlyBelowTheAllowedOnes) {
  test::TempDir allowed;
  ApiOptions options = test_options();
  options.allow_local = {allowed.str()};
  ApiServer server(options);
  const std::string token = server.as(Role::operator_);
  const auto create = [&](const json& more) {
    json body{{"repository", allowed.str() + "/repo"}, {"task", "t"}};
    body.update(more);
    return server.tcp_send("POST", "/api/v1/jobs", body.dump(), token);
  };
  EXPECT_EQ(create(json::object()).status, 201);
  server.jobs.paths_read = {{"file:///looks/foreign", allowed.str()}, {"file://" + allowed.str() + "/%2e%2e/x", allowed.str() + "/../x"}};
  EXPECT_EQ(create({{"repository", "file:///looks/foreign"}}).status, 201);
  EXPECT_EQ(create({{"repository", "https://git.example/x.git"}}).status, 201);
  EXPECT_EQ(create({{"model", "scripted:default.json"}}).status, 201);
  EXPECT_EQ(create({{"model", "scripted:" + allowed.str() + "/script.json"}}).status, 201);
  for (const json& more : {json{{"repository", "/etc"}}, json{{"repository", allowed.str() + "/../x"}}, json{{"repository", "file:///etc"}},
                           json{{"repository", "file://" + allowed.str() + "/%2e%2e/x"}}, json{{"repository", "relative"}},
                           json{{"model", "scripted:/etc/passwd"}}, json{{"driver", "none"}}}) {
    const RawResponse response = create(more);
    EXPECT_EQ(response.status, 403) << more.dump();
    EXPECT_EQ(json::parse(response.body).at("error").at("field"), more.begin().key());
  }
  EXPECT_EQ(server.send("POST", "/api/v1/jobs", R"({"repository": "/anywhere", "task": "t", "model": "scripted:/x"})").status, 201);
}

}  // namespace
}  // namespace forge::http
