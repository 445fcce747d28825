#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/unit/http/api_server.h"

namespace forge::http {
namespace {

using nlohmann::json;
using test::RawResponse;
using testing::HasSubstr;

/// A server with one job whose first run has failed and whose second has changed something.
struct TwoRuns : ApiServer {
  TwoRuns() : id(make_job()), path("/api/v1/jobs/" + id) {
    jobs.happen(id, TraceType::log, R"({"level":"info","message":"one"})");
    jobs.edit(id, [](auto& run) { run.diff = "first diff"; });
    jobs.end(id, Reason::verify_failed);
    jobs.new_run({}, id, {});
    jobs.happen(id, TraceType::text, R"({"text":"hello"})");
    jobs.happen(id, TraceType::log, R"({"level":"info","message":"two"})");
    jobs.edit(id, [](auto& run) {
      run.diff = "diff --git a/x b/x\n+caf\xe9\n";  // Latin-1
      run.run.diff_stat = {1, 1, 0};
      run.run.base_commit = std::string(40, 'a');
      run.run.usage = {.input = 10, .output = 20, .cache_read = 30, .cache_write = 40};
      run.run.cost_nano_usd = 1234;
      run.blobs["b1"] = "whole output";
      run.blobs["b2"] = std::string("\x00\xff", 2);
    });
  }
  std::string id;
  std::string path;
};

TEST(RunRoutes, ListsAndShowsRuns) {
  TwoRuns server;
  const json list = body_of(server.get(server.path + "/runs"));
  ASSERT_EQ(list.at("items").size(), 2U);
  EXPECT_EQ(list.at("items").at(0).at("reason"), "verify_failed");
  EXPECT_TRUE(list.at("next_cursor").is_null());
  EXPECT_EQ(body_of(server.get(server.path + "/runs/1")).at("number"), 1);
  EXPECT_EQ(server.get(server.path + "/runs/3").status, 404);
}

TEST(RunRoutes, ARunNumberIsANumber) {
  TwoRuns server;
  for (const char* number : {"0", "-1", "x", "1x", "99999999999", "01"})
    EXPECT_EQ(server.get(server.path + "/runs/" + number).status, 400) << number;
}

TEST(RunRoutes, TheShortFormMeansTheLatestRun) {
  TwoRuns server;
  EXPECT_EQ(body_of(server.get(server.path + "/trace")).at("items").size(), 2U);
  EXPECT_EQ(body_of(server.get(server.path + "/trace")).at("items").at(0).at("run"), 2);
  EXPECT_EQ(body_of(server.get(server.path + "/runs/1/trace")).at("items").at(0).at("run"), 1);
  EXPECT_EQ(server.get(server.path + "/runs/1/diff", "Accept: text/x-diff\r\n").body, "first diff");
}

TEST(RunRoutes, TraceIsPaged) {
  TwoRuns server;
  const json first = body_of(server.get(server.path + "/runs/1/trace?limit=1"));
  EXPECT_EQ(first.at("items").size(), 1U);
  EXPECT_EQ(first.at("next_seq"), 1);
  EXPECT_EQ(first.at("complete"), false);
  const json second = body_of(server.get(server.path + "/runs/1/trace?after=1"));
  EXPECT_EQ(second.at("items").at(0).at("type"), "terminal");
  EXPECT_EQ(second.at("complete"), true);
  EXPECT_TRUE(second.at("next_cursor").is_null());
  EXPECT_EQ(body_of(server.get(server.path + "/runs/1/trace?cursor=1")), second);
  EXPECT_EQ(server.get(server.path + "/trace?after=1&cursor=1").status, 400);
  EXPECT_EQ(server.get(server.path + "/trace?limit=1001").status, 400);
  EXPECT_EQ(server.get(server.path + "/trace?after=-1").status, 400);
}

TEST(RunRoutes, ATraceHasTheShapeOfTheGoldenFile) {
  TwoRuns server;
  test::expect_golden("tests/golden/http/trace.json", body_of(server.get(server.path + "/runs/1/trace")).dump(2) + "\n");
}

TEST(RunRoutes, DiffIsJsonOrTheDiffItself) {
  TwoRuns server;
  const RawResponse plain = server.get(server.path + "/diff", "Accept: text/x-diff\r\n");
  EXPECT_EQ(plain.header("content-type"), "text/x-diff; charset=utf-8");
  EXPECT_EQ(plain.body, "diff --git a/x b/x\n+caf\xe9\n");
  for (const char* accept : {"", "Accept: application/json\r\n", "Accept: */*\r\n", "Accept: application/json, text/x-diff\r\n"}) {
    const RawResponse response = server.get(server.path + "/diff", accept);
    EXPECT_EQ(response.header("content-type"), "application/json") << accept;
    EXPECT_EQ(response.header("vary"), "Accept");
    const json diff = body_of(response);
    EXPECT_EQ(diff.at("text"), "diff --git a/x b/x\n+caf\xef\xbf\xbd\n");
    EXPECT_EQ(diff.at("replaced"), 1);
    EXPECT_EQ(diff.at("bytes"), 25);
    EXPECT_EQ(diff.at("stat").at("insertions"), 1);
    EXPECT_EQ(diff.at("run"), 2);
  }
}

TEST(RunRoutes, ADiffTooLargeForJsonIsLeftOut) {
  TwoRuns server;
  server.jobs.edit(server.id, [](auto& run) { run.diff = std::string((4 << 20) + 1, 'x'); });
  const json diff = body_of(server.get(server.path + "/diff"));
  EXPECT_TRUE(diff.at("text").is_null());
  EXPECT_EQ(diff.at("bytes"), (4 << 20) + 1);
  EXPECT_EQ(server.get(server.path + "/diff", "Accept: text/x-diff\r\n").body.size(), std::size_t{(4 << 20) + 1});
}

TEST(RunRoutes, CostIsByModel) {
  TwoRuns server;
  test::expect_golden("tests/golden/http/cost.json", body_of(server.get(server.path + "/cost")).dump(2) + "\n");
  EXPECT_TRUE(body_of(server.get(server.path + "/runs/1/cost")).at("cost_nano_usd").is_null());
}

TEST(RunRoutes, BlobsCannotRunInABrowser) {
  TwoRuns server;
  const RawResponse text = server.get(server.path + "/blobs/b1");
  EXPECT_EQ(text.body, "whole output");
  EXPECT_EQ(text.header("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(text.header("content-security-policy"), "sandbox; default-src 'none'");
  EXPECT_EQ(text.header("x-content-type-options"), "nosniff");
  EXPECT_EQ(server.get(server.path + "/blobs/b1", "If-None-Match: \"b1\"\r\n").status, 304);
  EXPECT_EQ(server.get(server.path + "/runs/2/blobs/b2").header("content-type"), "application/octet-stream");
  EXPECT_EQ(server.get(server.path + "/runs/1/blobs/b1").status, 404);
  EXPECT_EQ(server.get(server.path + "/blobs/b3").status, 404);
}

}  // namespace
}  // namespace forge::http
