#include <gmock/gmock.h>

#include "orchestrator/base/error.h"
#include "orchestrator/http/dashboard.h"
#include "tests/unit/http/api_server.h"

namespace forge::http {
namespace {

using nlohmann::json;
using test::RawResponse;
using testing::HasSubstr;

/// A pack as web/scripts/build.mjs writes it: a page, a script in three codings, and a file of the root.
const std::string& small_pack() {
  static const std::string pack = [] {
    const auto bodies = [](int br, int gzip, int plain) {
      json list = json::array();
      if (br != 0) list.push_back({{"coding", "br"}, {"bytes", br}});
      if (gzip != 0) list.push_back({{"coding", "gzip"}, {"bytes", gzip}});
      list.push_back({{"coding", "identity"}, {"bytes", plain}});
      return list;
    };
    const json index{
        {"files",
         {{{"path", "assets/app-1a2b.js"}, {"type", "text/javascript; charset=utf-8"}, {"immutable", true}, {"bodies", bodies(1, 2, 4)}},
          {{"path", "favicon.svg"}, {"type", "image/svg+xml"}, {"immutable", false}, {"bodies", bodies(0, 0, 5)}},
          {{"path", "index.html"}, {"type", "text/html; charset=utf-8"}, {"immutable", false}, {"bodies", bodies(0, 0, 6)}}}}};
    return index.dump() + "\n" + "B" + "GZ" + "code" + "<svg>" + "<html>";
  }();
  return pack;
}

ApiOptions with_dashboard() {
  ApiOptions options = test_options();
  options.dashboard = small_pack();
  return options;
}

TEST(Dashboard, ItsPageComesWithAPolicyThatLetsNothingInFromElsewhere) {
  ApiServer server(with_dashboard());
  const RawResponse page = server.tcp_get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "<html>");
  EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.header("cache-control"), "no-cache");
  EXPECT_EQ(page.header("x-content-type-options"), "nosniff");
  for (const char* rule : {"default-src 'none'", "script-src 'self';", "worker-src 'self'", "style-src 'self' 'unsafe-inline'",
                           "img-src 'self' data:", "connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"})
    EXPECT_THAT(page.header("content-security-policy"), HasSubstr(rule));
}

TEST(Dashboard, EveryPageOfTheApplicationCanBeOpenedByItsAddress) {
  ApiServer server(with_dashboard());
  for (const char* path : {"/?q=parser&state=failed", "/new", "/sign-in", "/account", "/costs?days=90", "/jobs/01jdk3",
                           "/jobs/01jdk3/trace", "/jobs/01jdk3/runs/2", "/jobs/01jdk3/runs/2/trace?step=17"})
    EXPECT_EQ(server.tcp_get(path).body, "<html>") << path;
}

TEST(Dashboard, AnUnknownPathOfTheApiOrOfTheFilesIsNoPage) {
  ApiServer server(with_dashboard());
  for (const char* path : {"/api", "/api/v1", "/api/v1/nothing", "/assets/app-ffff.js", "/assets", "/index.html", "/nothing"}) {
    const RawResponse response = server.get(path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_EQ(body_of(response).at("error").at("code"), "not_found") << path;
  }
}

TEST(Dashboard, AFileWhoseNameHoldsAHashIsKeptForever) {
  ApiServer server(with_dashboard());
  const RawResponse script = server.tcp_get("/assets/app-1a2b.js");
  EXPECT_EQ(script.body, "code");
  EXPECT_EQ(script.header("content-type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(script.header("cache-control"), "public, max-age=31536000, immutable");
  EXPECT_EQ(server.tcp_get("/favicon.svg").header("cache-control"), "no-cache");
}

TEST(Dashboard, AFileComesInTheSmallestCodingThatTheClientTakes) {
  ApiServer server(with_dashboard());
  const auto get = [&](const std::string& accepted) {
    return server.tcp_get("/assets/app-1a2b.js", "Accept-Encoding: " + accepted + "\r\n");
  };
  EXPECT_EQ(get("gzip, deflate, br, zstd").body, "B");
  EXPECT_EQ(get("gzip, deflate, br, zstd").header("content-encoding"), "br");
  EXPECT_EQ(get("gzip").body, "GZ");
  EXPECT_EQ(get("br;q=0, *").body, "GZ");
  EXPECT_EQ(get("GZIP;q=0.5").header("content-encoding"), "gzip");
  EXPECT_EQ(get("gzip;q=0.0, br; q=0").body, "code");
  EXPECT_EQ(get("identity").header("content-encoding"), "");
  EXPECT_EQ(get("identity").header("vary"), "Accept-Encoding");
}

TEST(Dashboard, ABrowserThatHasTheFileIsToldSo) {
  ApiServer server(with_dashboard());
  const std::string gzip = "Accept-Encoding: gzip\r\n";
  const RawResponse first = server.tcp_get("/assets/app-1a2b.js", gzip);
  const RawResponse again = server.tcp_get("/assets/app-1a2b.js", gzip + "If-None-Match: " + first.header("etag") + "\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(again.header("cache-control"), "public, max-age=31536000, immutable");
  // The tag names bytes: those of another coding are not what this client has.
  EXPECT_EQ(server.tcp_get("/assets/app-1a2b.js", "If-None-Match: " + first.header("etag") + "\r\n").status, 200);
  EXPECT_EQ(server.tcp_get("/", "If-None-Match: " + server.tcp_get("/").header("etag") + "\r\n").status, 304);
}

TEST(Dashboard, APackThatIsCutOffOrHasNoPageIsRefused) {
  const auto code = [](std::string_view pack) -> std::string_view {
    try {
      httpd::Router router;
      add_dashboard_routes(router, pack);
    } catch (const Error& error) {
      return name_of(error.code());
    }
    return "none";
  };
  EXPECT_EQ(code(small_pack()), "none");
  EXPECT_EQ(code(std::string_view(small_pack()).substr(0, small_pack().size() - 1)), "corrupt");
  EXPECT_EQ(code("{}\n"), "corrupt");
  EXPECT_EQ(code("{\"files\":[]}\n"), "corrupt");
  EXPECT_EQ(code("no json"), "corrupt");
}

}  // namespace
}  // namespace forge::http
