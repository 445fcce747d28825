#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/unit/http/api_server.h"

namespace forge::http {
namespace {

using nlohmann::json;
using test::RawResponse;
using testing::HasSubstr;
using testing::Not;

TEST(ServiceRoutes, HealthNeedsNoToken) {
  ApiServer server;
  const RawResponse response = server.tcp_get("/healthz");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(json::parse(response.body), (json{{"status", "ok"}, {"version", "0.0"}}));
}

TEST(ServiceRoutes, ReadinessTellsThatWorkCannotBeTakenButNotWhy) {
  ApiServer server;
  EXPECT_EQ(server.tcp_get("/readyz").status, 200);
  server.ready = false;
  const RawResponse response = server.tcp_get("/readyz");
  EXPECT_EQ(response.status, 503);
  EXPECT_THAT(response.body, Not(HasSubstr("secret")));
}

TEST(ServiceRoutes, MetricsCountRequestsByPattern) {
  ApiServer server;
  server.get("/api/v1/jobs/" + server.make_job());
  server.get("/api/v1/jobs/zzzzzz");
  server.get("/nowhere");
  // A request is counted after its answer is sent.
  const Stop patience = Stop::after(std::chrono::seconds(50));
  const auto await = [&](const std::string& line) {
    while (server.get("/metrics").body.find(line) == std::string::npos) pause(std::chrono::milliseconds(1), patience);
  };
  await(R"(forge_http_requests_total{method="GET",route="/api/v1/jobs/{id}",status="200"} 1)");
  await(R"(forge_http_requests_total{method="GET",route="/api/v1/jobs/{id}",status="404"} 1)");
  await(R"(forge_http_requests_total{method="GET",route="none",status="404"} 1)");
  await("forge_http_request_duration_seconds_count");
  await("forge_http_event_streams 0\n");
}

TEST(ServiceRoutes, TheIndexPageHoldsNoScriptAndAllowsNone) {
  ApiServer server;
  const RawResponse page = server.tcp_get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
  EXPECT_THAT(page.body, HasSubstr("The server is up"));
  EXPECT_THAT(page.body, Not(HasSubstr("<script")));
  EXPECT_THAT(page.header("content-security-policy"), HasSubstr("default-src 'none'; style-src 'sha256-"));
  EXPECT_THAT(page.header("content-security-policy"), HasSubstr("frame-ancestors 'none'"));
  EXPECT_EQ(server.tcp_get("/", "If-None-Match: " + page.header("etag") + "\r\n").status, 304);
}

TEST(ServiceRoutes, UnknownPathsAndMethodsAreErrorsOfOneShape) {
  ApiServer server;
  EXPECT_EQ(json::parse(server.get("/api/v2/jobs").body).at("error").at("code"), "not_found");
  const RawResponse response = server.send("PUT", "/api/v1/jobs", "");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.header("allow"), "GET, HEAD, POST");
  EXPECT_EQ(json::parse(response.body).at("error").at("code"), "unsupported");
}

}  // namespace
}  // namespace forge::http
