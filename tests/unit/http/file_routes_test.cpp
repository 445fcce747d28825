#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "orchestrator/base/text.h"
#include "tests/support/golden.h"
#include "tests/support/sample_review.h"
#include "tests/unit/http/api_server.h"

namespace forge::http {
namespace {

using nlohmann::json;
using test::RawResponse;
using testing::EndsWith;
using testing::StartsWith;

/// A server with one job of two runs with a result.
struct Results : ApiServer {
  Results() : id(make_job()), job("/api/v1/jobs/" + id) {
    for (int run = 1; run <= 2; ++run) {
      if (run == 2) jobs.new_run({}, id, {});
      jobs.edit(id, [&](auto& entry) { entry.run.head_commit = std::string(40, static_cast<char>('0' + run)); });
      jobs.end(id, Reason::completed);
      reviews.put(test::sample_review(JobId(id), run));
    }
  }
  RawResponse file(const std::string& query, const std::string& headers = {}) { return get(job + "/runs/2/file?" + query, headers); }
  std::string type_of(const std::string& content) {
    reviews.put_file(DiffSide::head, "x", content);
    return file("path=x").header("content-type");
  }
  std::string id;
  std::string job;
};

TEST(FileRoutes, AFileIsItsBytesOnOneSide) {
  Results server;
  server.reviews.put_file(DiffSide::base, "dir/a b.txt", "old\r\n");
  server.reviews.put_file(DiffSide::head, "dir/a b.txt", "new\r\n");
  EXPECT_EQ(server.file("side=base&path=dir/a%20b.txt").body, "old\r\n");
  EXPECT_EQ(server.file("side=head&path=dir/a%20b.txt").body, "new\r\n");
  EXPECT_EQ(server.file("path=dir/a%20b.txt").body, "new\r\n");
  EXPECT_EQ(server.file("path=other").status, 404);
}

TEST(FileRoutes, AFileIsNamedByItsBytesToo) {
  Results server;
  server.reviews.put_file(DiffSide::head, test::kLatinPath, "1");
  EXPECT_EQ(server.file("path_base64=" + base64(test::kLatinPath)).body, "1");
  const auto refused = [&](const std::string& query) {
    const RawResponse response = server.file(query);
    EXPECT_EQ(response.status, 400) << query;
    return body_of(response).at("error").value("field", "");
  };
  EXPECT_EQ(refused("side=head"), "path");
  EXPECT_EQ(refused("path="), "path");
  EXPECT_EQ(refused("path=x&path_base64=eA=="), "path_base64");
  EXPECT_EQ(refused("path_base64=!"), "path_base64");
  EXPECT_EQ(refused("path=x&side=left"), "side");
}

TEST(FileRoutes, NothingRunsInABrowser) {
  Results server;
  for (const char* content :
       {"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "<!doctype html><script>1</script>", "caf\xc3\xa9", ""})
    EXPECT_EQ(server.type_of(content), "text/plain; charset=utf-8") << content;
  EXPECT_EQ(server.type_of("caf\xe9"), "application/octet-stream");
  const RawResponse response = server.file("path=x");
  EXPECT_EQ(response.header("content-security-policy"), "sandbox; default-src 'none'");
  EXPECT_EQ(response.header("x-content-type-options"), "nosniff");
}

TEST(FileRoutes, ImagesAreKnownByHowTheyBegin) {
  Results server;
  EXPECT_EQ(server.type_of("\x89PNG\r\n\x1a\n..."), "image/png");
  EXPECT_EQ(server.type_of("\xff\xd8\xff\xe0..."), "image/jpeg");
  EXPECT_EQ(server.type_of("GIF87a..."), "image/gif");
  EXPECT_EQ(server.type_of("GIF89a..."), "image/gif");
  EXPECT_EQ(server.type_of("RIFF....WEBPVP8 "), "image/webp");
  EXPECT_EQ(server.type_of("RIFF....WAVEfmt "), "text/plain; charset=utf-8");
  EXPECT_EQ(server.type_of("RIFFWEBP"), "text/plain; charset=utf-8");
  EXPECT_EQ(server.type_of("\x89PNG"), "application/octet-stream");
}

TEST(FileRoutes, AFileOfARunNeverChangesAndThatOfTheLatestMay) {
  Results server;
  server.reviews.put_file(DiffSide::head, "x", "1");
  const RawResponse fixed = server.file("path=x");
  EXPECT_EQ(fixed.header("etag"), '"' + std::string(40, 'a') + '"');
  EXPECT_THAT(fixed.header("cache-control"), EndsWith("immutable"));
  EXPECT_EQ(server.file("path=x", "If-None-Match: " + fixed.header("etag") + "\r\n").status, 304);
  const RawResponse latest = server.get(server.job + "/file?path=x");
  EXPECT_EQ(latest.header("cache-control"), "private, no-cache");
  EXPECT_EQ(server.get(server.job + "/file?path=x", "If-None-Match: " + latest.header("etag") + "\r\n").status, 304);
}

TEST(FileRoutes, AFileAtTheCapPassesAndOneAboveDoesNot) {
  Results server;
  server.reviews.put_file(DiffSide::head, "x", std::string(kFileViewBytes, 'x'));
  EXPECT_EQ(server.file("path=x").body.size(), kFileViewBytes);
  server.reviews.put_file(DiffSide::head, "x", std::string(kFileViewBytes + 1, 'x'));
  EXPECT_EQ(server.file("path=x").status, 413);
}

TEST(FileRoutes, APatchIsDownloadedUnderItsRunsName) {
  Results server;
  const RawResponse whole = server.get(server.job + "/patch");
  EXPECT_EQ(whole.body, "whole patch\n");
  EXPECT_EQ(whole.header("content-type"), "text/x-patch");
  EXPECT_EQ(whole.header("content-disposition"), "attachment; filename=\"" + server.id.substr(0, 10) + "-2.patch\"");
  EXPECT_EQ(server.get(server.job + "/patch?part=all").body, "whole patch\n");
  EXPECT_EQ(server.get(server.job.substr(0, server.job.size() - 4) + "/runs/1/patch?part=accepted").body, "accepted part\n");
  EXPECT_EQ(server.get(server.job + "/patch?part=some").status, 400);
}

TEST(FileRoutes, AnInterdiffHasTheShapeOfTheGoldenFile) {
  Results server;
  server.reviews.put_interdiff(
      {.stat = {1, 2, 3}, .text = "diff --git a/x b/x\n+caf\xe9\n", .changed_hunks = {"aa"}, .gone_hunks = {"bb", "cc"}});
  const RawResponse response = server.get(server.job + "/diff?since_run=1");
  EXPECT_EQ(response.header("vary"), "Accept");
  test::expect_golden("tests/golden/http/interdiff.json", body_of(response).dump(2) + "\n");
  const RawResponse plain = server.get(server.job + "/runs/2/diff?since_run=1", "Accept: text/x-diff\r\n");
  EXPECT_EQ(plain.body, "diff --git a/x b/x\n+caf\xe9\n");
  EXPECT_THAT(plain.header("content-type"), StartsWith("text/x-diff"));
}

TEST(FileRoutes, AnInterdiffIsSinceARun) {
  Results server;
  for (const char* number : {"0", "-1", "x", "1000000"})
    EXPECT_EQ(server.get(server.job + "/diff?since_run=" + number).status, 400) << number;
  EXPECT_EQ(server.get(server.job + "/diff?since_run=7").status, 404);
  EXPECT_FALSE(body_of(server.get(server.job + "/diff")).contains("since_run"));
}

}  // namespace
}  // namespace forge::http
