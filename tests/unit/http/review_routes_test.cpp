#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "orchestrator/base/text.h"
#include "orchestrator/domain/review_json.h"
#include "tests/support/golden.h"
#include "tests/support/sample_review.h"
#include "tests/unit/http/api_server.h"

namespace forge::http {
namespace {

using nlohmann::json;
using test::RawResponse;

/// A server with one job whose two runs are reviewed; the latest is at revision 3, with one hunk accepted and three undecided.
struct Reviewed : ApiServer {
  Reviewed() : id(make_job()), path("/api/v1/jobs/" + id + "/review") {
    jobs.end(id, Reason::completed);
    jobs.new_run({}, id, {});
    jobs.end(id, Reason::completed);
    reviews.put(test::sample_review(JobId(id), 1));
    reviews.put(test::sample_review(JobId(id), 2));
  }
  std::string hunk(std::size_t number) { return body_of(get(path)).at("hunks").at(number).at("hunk_id"); }
  std::string verdict(std::size_t number, const char* name) {
    return json{{"verdicts", {{{"hunk_id", hunk(number)}, {"verdict", name}}}}}.dump();
  }
  RawResponse edit(const std::string& body, const std::string& headers = "If-Match: \"3\"\r\n") {
    return send("PATCH", path, body, headers);
  }
  std::string id;
  std::string path;
};

std::string error_code(const RawResponse& response) { return body_of(response).at("error").at("code"); }
std::string error_field(const RawResponse& response) { return body_of(response).at("error").value("field", ""); }

const char* const kSample = R"({"path": "src/parser.cpp", "start_line": 12, "body": "Why?"})";

TEST(ReviewRoutes, TheShortFormMeansTheLatestRun) {
  Reviewed server;
  const RawResponse latest = server.get(server.path);
  EXPECT_EQ(latest.status, 200);
  EXPECT_EQ(body_of(latest).at("run"), 2);
  EXPECT_EQ(body_of(server.get("/api/v1/jobs/" + server.id + "/runs/1/review")).at("run"), 1);
  EXPECT_EQ(server.get("/api/v1/jobs/" + server.id + "/runs/3/review").status, 404);
  EXPECT_EQ(server.get("/api/v1/jobs/" + server.id + "/runs/x/review").status, 400);
  EXPECT_EQ(server.get("/api/v1/jobs/zzzzzz/review").status, 404);
}

TEST(ReviewRoutes, AReviewHasTheShapeOfTheGoldenFile) {
  Reviewed server;
  test::expect_golden("tests/golden/http/review.json", body_of(server.get(server.path)).dump(2) + "\n");
}

TEST(ReviewRoutes, TheTagIsTheRevisionAndNoReasonForNotAnswering) {
  Reviewed server;
  EXPECT_EQ(server.get(server.path).header("etag"), "\"3\"");
  const std::string viewed = R"({"viewed": [{"path": "tool.sh", "viewed": true}]})";
  EXPECT_EQ(server.edit(viewed, "").header("etag"), "\"3\"");
  const RawResponse again = server.get(server.path, "If-None-Match: \"3\"\r\n");
  EXPECT_EQ(again.status, 200) << "the mark is new, the revision is not";
  EXPECT_EQ(body_of(again).at("files").at(1).at("viewed"), true);
  EXPECT_EQ(again.header("cache-control"), "no-store");
}

TEST(ReviewRoutes, AVerdictMakesANewRevision) {
  Reviewed server;
  const RawResponse edited = server.edit(server.verdict(1, "reject"));
  ASSERT_EQ(edited.status, 200) << edited.body;
  EXPECT_EQ(edited.header("etag"), "\"4\"");
  EXPECT_EQ(body_of(edited).at("hunks").at(1).at("verdict"), "reject");
  EXPECT_EQ(body_of(edited).at("hunks").at(1).at("by"), "local");
  EXPECT_EQ(body_of(edited).at("counts").at("rejected"), 1);
}

TEST(ReviewRoutes, IfMatchIsOneRevisionWithItsQuotesOrWithout) {
  Reviewed server;
  EXPECT_EQ(server.edit(server.verdict(1, "reject"), "If-Match: \"3\"\r\n").status, 200);
  EXPECT_EQ(server.edit(server.verdict(1, "accept"), "If-Match: 4\r\n").status, 200);
  for (const char* header : {"", "*", "\"", "\"\"", "W/\"5\"", "\"5\", \"6\"", "5x", "-5", "\"5", "99999999999999999999"}) {
    const RawResponse refused = server.edit(server.verdict(1, "reject"), std::string("If-Match: ") + header + "\r\n");
    EXPECT_EQ(refused.status, 400) << header;
    EXPECT_EQ(error_field(refused), "If-Match") << header;
  }
  EXPECT_EQ(body_of(server.get(server.path)).at("revision"), 5);
}

TEST(ReviewRoutes, AnOldRevisionIsAFailedPrecondition) {
  Reviewed server;
  const RawResponse refused = server.edit(server.verdict(1, "reject"), "If-Match: \"2\"\r\n");
  EXPECT_EQ(refused.status, 412);
  EXPECT_EQ(error_code(refused), "precondition_failed");
  const std::string old = R"({"revision": 2, "confirm_undecided": true})";
  EXPECT_EQ(server.send("POST", server.path + "/apply", old).status, 412);
  EXPECT_EQ(server.send("POST", server.path + "/send-back", R"({"revision": 2})").status, 412);
  EXPECT_EQ(server.send("POST", server.path + "/dismiss", R"({"revision": 2})").status, 412);
  EXPECT_EQ(body_of(server.get(server.path)).at("revision"), 3);
}

TEST(ReviewRoutes, WhatOthersSeeNeedsIfMatchAndViewedMarksDoNot) {
  Reviewed server;
  const std::string comment = body_of(server.get(server.path)).at("comments").at(0).at("id");
  const std::vector<std::string> shared{server.verdict(1, "accept"), R"({"summary": ""})", R"({"send_drafts": true})",
                                        json{{"suggestions", {{{"comment", comment}, {"accepted", true}}}}}.dump()};
  for (const std::string& body : shared) {
    const RawResponse refused = server.edit(body, "");
    EXPECT_EQ(refused.status, 400) << body;
    EXPECT_EQ(error_field(refused), "If-Match") << body;
  }
  EXPECT_EQ(server.edit(R"({"viewed": [{"path": "tool.sh", "viewed": true}]})", "").status, 200);
}

TEST(ReviewRoutes, AnEditIsAllOrNothingAndNamesWhatIsWrong) {
  Reviewed server;
  json body = json::parse(server.verdict(1, "accept"));
  body["verdicts"].push_back({{"hunk_id", "unknown"}, {"verdict", "accept"}});
  EXPECT_EQ(server.edit(body.dump()).status, 400);
  EXPECT_EQ(error_field(server.edit(R"({"verdicts": [{"hunk_id": "a", "verdict": "no"}]})")), "verdicts[0].verdict");
  EXPECT_EQ(error_field(server.edit(R"({"verdict": []})")), "verdict");
  EXPECT_EQ(server.edit("{}").status, 400);
  EXPECT_EQ(server.edit("[]").status, 400);
  EXPECT_EQ(body_of(server.get(server.path)).at("revision"), 3);
}

TEST(ReviewRoutes, PathsThatAreNotUtf8AreNamedByTheirBytes) {
  Reviewed server;
  const std::string encoded = base64(test::kLatinPath);
  const json latin = body_of(server.get(server.path)).at("files").at(2);
  EXPECT_EQ(latin.at("path_base64"), encoded);
  const RawResponse edited = server.edit(json{{"viewed", {{{"path_base64", encoded}, {"viewed", true}}}}}.dump(), "");
  EXPECT_EQ(body_of(edited).at("files").at(2).at("viewed"), true);
  const json comment{{"path_base64", encoded}, {"start_line", 1}, {"body", "b"}};
  EXPECT_EQ(body_of(server.send("POST", server.path + "/comments", comment.dump())).at("path_base64"), encoded);
  const json replaced{{"path", latin.at("path")}, {"start_line", 1}, {"body", "b"}};
  EXPECT_EQ(server.send("POST", server.path + "/comments", replaced.dump()).status, 400) << "the text that is shown names no file";
}

TEST(ReviewRoutes, CommentsAreMadeChangedAndDeleted) {
  Reviewed server;
  const RawResponse made = server.send("POST", server.path + "/comments", kSample);
  ASSERT_EQ(made.status, 201) << made.body;
  test::expect_golden("tests/golden/http/review_comment.json", body_of(made).dump(2) + "\n");
  const std::string at = server.path + "/comments/" + body_of(made).at("id").get<std::string>();
  const RawResponse changed = server.send("PATCH", at, R"({"body": "Why so?", "suggestion": "int z;\n"})");
  EXPECT_EQ(changed.status, 200);
  EXPECT_EQ(body_of(changed).at("body"), "Why so?");
  EXPECT_EQ(body_of(changed).at("suggestion"), "int z;\n");
  EXPECT_TRUE(body_of(server.send("PATCH", at, R"({"suggestion": null})")).at("suggestion").is_null());
  EXPECT_EQ(error_field(server.send("PATCH", at, R"({"draft": true})")), "draft");
  const RawResponse deleted = server.send("DELETE", at, "");
  EXPECT_EQ(deleted.status, 204);
  EXPECT_EQ(server.send("PATCH", at, R"({"body": "x"})").status, 404);
}

TEST(ReviewRoutes, ACommentIsItsAuthorsToChange) {
  Reviewed server;
  const std::string of_ada = server.path + "/comments/" + body_of(server.get(server.path)).at("comments").at(0).at("id").get<std::string>();
  EXPECT_EQ(server.send("PATCH", of_ada, R"({"body": "x"})").status, 403);
  EXPECT_EQ(server.send("DELETE", of_ada, "").status, 403);
}

TEST(ReviewRoutes, ADraftIsItsAuthorsAlone) {
  Reviewed server;
  const std::string draft = R"({"path": "tool.sh", "start_line": 1, "body": "Hm.", "draft": true})";
  EXPECT_EQ(server.send("POST", server.path + "/comments", draft).status, 201);
  EXPECT_EQ(body_of(server.get(server.path)).at("comments").size(), 2U);
  EXPECT_EQ(body_of(server.tcp_get(server.path, server.as(Role::reviewer))).at("comments").size(), 1U);
  EXPECT_EQ(server.edit(R"({"send_drafts": true})").status, 200);
  EXPECT_EQ(body_of(server.tcp_get(server.path, server.as(Role::reviewer))).at("comments").size(), 2U);
}

TEST(ReviewRoutes, ATextAtItsCapPassesHoweverItIsEscaped) {
  Reviewed server;
  const auto commented = [&](std::size_t bytes) {
    const json body{{"path", "tool.sh"}, {"start_line", 1}, {"body", std::string(bytes, '\x01')}};
    return server.send("POST", server.path + "/comments", body.dump()).status;
  };
  EXPECT_EQ(commented(kCommentBytes), 201);
  EXPECT_EQ(commented(kCommentBytes + 1), 400);
  const auto applied = [&](std::size_t bytes) {
    const json body{{"revision", 0}, {"message", std::string(bytes, '\x01')}};
    return server.send("POST", server.path + "/apply", body.dump()).status;
  };
  EXPECT_EQ(applied(kCommitMessageBytes), 412);
  EXPECT_EQ(applied(kCommitMessageBytes + 1), 400);
  const std::string text(512 << 10, ' ');
  EXPECT_EQ(server.send("POST", server.path + "/send-back", text).status, 400);
  EXPECT_EQ(server.send("POST", server.path + "/send-back", text + " ").status, 413);
}

TEST(ReviewRoutes, ApplyMakesACommit) {
  Reviewed server;
  const RawResponse refused = server.send("POST", server.path + "/apply", R"({"revision": 3})");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(error_code(refused), "conflict");
  const std::string body = R"({"revision": 3, "message": "Take some.", "push": false, "confirm_undecided": true})";
  const RawResponse applied = server.send("POST", server.path + "/apply", body, "Idempotency-Key: k1\r\n");
  ASSERT_EQ(applied.status, 201) << applied.body;
  test::expect_golden("tests/golden/http/applied_review.json", body_of(applied).dump(2) + "\n");
  const ApplyRequest wanted = server.reviews.last_apply();
  EXPECT_EQ(wanted.message, "Take some.");
  EXPECT_EQ(wanted.key, "k1");
  EXPECT_FALSE(wanted.push);
  const json review = body_of(server.get(server.path));
  EXPECT_EQ(review.at("status"), "applied");
  EXPECT_EQ(review.at("applied"), body_of(applied));
}

TEST(ReviewRoutes, SendBackQueuesAFollowUp) {
  Reviewed server;
  const RawResponse sent = server.send("POST", server.path + "/send-back", R"({"revision": 3, "note": "Once more."})");
  ASSERT_EQ(sent.status, 201) << sent.body;
  EXPECT_EQ(body_of(sent).at("run").at("number"), 3);
  EXPECT_EQ(body_of(sent).at("run").at("kind"), "follow_up");
  EXPECT_EQ(server.reviews.last_send_back().note, "Once more.");
  EXPECT_EQ(server.reviews.last_send_back().key, "");
  EXPECT_EQ(body_of(server.get(server.path)).at("status"), "changes_requested");
}

TEST(ReviewRoutes, AKeyHas1To200Bytes) {
  Reviewed server;
  for (const char* act : {"/apply", "/send-back"}) {
    const auto sent = [&](const std::string& key) {
      return server.send("POST", server.path + act, R"({"revision": 1})", "Idempotency-Key: " + key + "\r\n").status;
    };
    EXPECT_EQ(sent(std::string(200, 'k')), 412) << "the key is let through";
    EXPECT_EQ(sent(std::string(201, 'k')), 400);
    EXPECT_EQ(sent(""), 400);
  }
}

TEST(ReviewRoutes, DismissPutsItAside) {
  Reviewed server;
  EXPECT_EQ(error_field(server.send("POST", server.path + "/dismiss", "{}")), "revision");
  const RawResponse dismissed = server.send("POST", server.path + "/dismiss", R"({"revision": 3})");
  EXPECT_EQ(dismissed.status, 200);
  EXPECT_EQ(body_of(dismissed).at("status"), "dismissed");
  EXPECT_EQ(dismissed.header("etag"), "\"4\"");
}

TEST(ReviewRoutes, AReviewerDecidesAndAnOperatorApplies) {
  Reviewed server;
  const std::string viewer = server.as(Role::viewer);
  const std::string reviewer = server.as(Role::reviewer);
  const std::string verdict = server.verdict(1, "accept");
  EXPECT_EQ(server.tcp_get(server.path, viewer).status, 200);
  EXPECT_EQ(server.tcp_send("PATCH", server.path, verdict, viewer + "If-Match: 3\r\n").status, 403);
  EXPECT_EQ(server.tcp_send("PATCH", server.path, verdict, reviewer + "If-Match: 3\r\n").status, 200);
  const std::string apply = R"({"revision": 4, "confirm_undecided": true})";
  EXPECT_EQ(server.tcp_send("POST", server.path + "/apply", apply, reviewer).status, 403);
  EXPECT_EQ(server.tcp_send("POST", server.path + "/send-back", R"({"revision": 4})", reviewer).status, 403);
  EXPECT_EQ(server.tcp_send("POST", server.path + "/apply", apply, server.as(Role::operator_)).status, 201);
  EXPECT_EQ(server.tcp_send("POST", server.path + "/dismiss", R"({"revision": 5})", reviewer).status, 200);
}

}  // namespace
}  // namespace forge::http
