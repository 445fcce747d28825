#include "orchestrator/domain/review_json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"
#include "orchestrator/domain/job_control.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"
#include "tests/support/sample_review.h"

namespace forge {
namespace {

using nlohmann::json;
using test::kLatinPath;
using test::sample_review;

Review applied_review() {
  Review review = sample_review();
  review.status = ReviewStatus::applied;
  review.applied = AppliedReview{.commit = std::string(40, 'a'),
                                 .branch = "forge/01jd000001-1-accepted",
                                 .accepted = 1,
                                 .rejected = 0,
                                 .undecided = 3,
                                 .pushed = true,
                                 .by = "ada",
                                 .at_ms = 1'700'000'004'000};
  return review;
}

TEST(ReviewJson, AReviewHasTheShapeOfTheGoldenFile) {
  test::expect_golden("tests/golden/domain/review.json", json(to_json(applied_review())).dump(2) + "\n");
}

TEST(ReviewJson, AReviewComesBackAsItWas) {
  const json written = to_json(applied_review());
  const Review read = review_from_json(json::parse(dump_json(written)));
  EXPECT_EQ(json(to_json(read)), written);
  ASSERT_EQ(read.files.size(), 3U);
  EXPECT_EQ(read.files[0].hunks.size(), 2U);
  EXPECT_EQ(read.files[2].path, kLatinPath) << "byte by byte";
  EXPECT_TRUE(read.files[2].hunks[0].mark->stale);
  EXPECT_EQ(read.files[2].hunks[0].mark->reason, "Not needed.");
}

TEST(ReviewJson, AStaleVerdictIsNone) {
  const json hunk = json(to_json(sample_review())).at("hunks").at(3);
  EXPECT_TRUE(hunk.at("verdict").is_null());
  EXPECT_TRUE(hunk.at("by").is_null());
  EXPECT_EQ(hunk.at("earlier").at("verdict"), "reject");
  EXPECT_EQ(hunk.at("earlier").at("run"), 1);
}

TEST(ReviewJson, CountsStaleHunksAsUndecidedToo) {
  const json counts = json(to_json(sample_review())).at("counts");
  EXPECT_EQ(counts, (json{{"accepted", 1}, {"rejected", 0}, {"undecided", 3}, {"stale", 1}}));
}

TEST(ReviewJson, APathThatIsNotUtf8HasItsBytesBesideIt) {
  const json review = to_json(sample_review());
  const json& latin = review.at("files").at(2);
  EXPECT_EQ(latin.at("path"), "docs/caf\xef\xbf\xbd.txt");
  EXPECT_EQ(latin.at("path_base64"), base64(kLatinPath));
  EXPECT_EQ(review.at("hunks").at(3).at("path_base64"), base64(kLatinPath));
  EXPECT_FALSE(review.at("files").at(0).contains("path_base64"));
}

TEST(ReviewJson, WhatAServerSaysWronglyIsCorrupt) {
  json review = to_json(sample_review());
  const auto code = [](const json& value) { return test::code_of([&] { review_from_json(value); }); };
  json other = review;
  other["status"] = "dancing";
  EXPECT_EQ(code(other), "corrupt");
  other = review;
  other["hunks"][0]["path"] = "nowhere";
  EXPECT_EQ(code(other), "corrupt");
  other = review;
  other["files"][2]["path_base64"] = "?";
  EXPECT_EQ(code(other), "corrupt");
  other = review;
  other.erase("comments");
  EXPECT_EQ(code(other), "corrupt");
  other = review;
  other["news"] = 1;
  EXPECT_EQ(code(other), "none") << "a newer server says more";
}

/// The field that an error names; "none" where there is no error.
template <typename Read>
std::string refused(Read&& read, const json& body) {
  try {
    read(body);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.field();
  }
  return "none";
}

TEST(ReviewRequest, AnEditSaysAllOfIt) {
  const ReviewEdit edit = review_edit_from_json(json::parse(R"({
    "summary": "", "send_drafts": true,
    "verdicts": [{"hunk_id": "a", "verdict": "reject", "reason": "no"}, {"hunk_id": "b", "verdict": null}],
    "suggestions": [{"comment": "c", "accepted": false}],
    "viewed": [{"path": "x", "viewed": true}, {"path_base64": "Y2Fm6Q==", "viewed": false}]})"));
  EXPECT_EQ(edit.summary, "");
  EXPECT_TRUE(edit.send_drafts);
  ASSERT_EQ(edit.marks.size(), 2U);
  EXPECT_EQ(edit.marks[0].verdict, HunkVerdict::reject);
  EXPECT_EQ(edit.marks[0].reason, "no");
  EXPECT_EQ(edit.marks[1].verdict, std::nullopt);
  EXPECT_FALSE(edit.suggestions.at(0).accepted);
  EXPECT_EQ(edit.viewed.at(1).path, "caf\xe9");
  EXPECT_EQ(json(to_json(review_edit_from_json(to_json(edit)))), json(to_json(edit)));
}

TEST(ReviewRequest, AnEditNamesWhatIsWrong) {
  const auto field = [](const char* body) { return refused(review_edit_from_json, json::parse(body)); };
  EXPECT_EQ(field(R"({"verdicts": {}})"), "verdicts");
  EXPECT_EQ(field(R"({"verdicts": [1]})"), "verdicts[0]");
  EXPECT_EQ(field(R"({"verdicts": [{"verdict": "accept"}]})"), "verdicts[0].hunk_id");
  EXPECT_EQ(field(R"({"verdicts": [{"hunk_id": "a"}]})"), "verdicts[0].verdict");
  EXPECT_EQ(field(R"({"verdicts": [{"hunk_id": "a", "verdict": "maybe"}]})"), "verdicts[0].verdict");
  EXPECT_EQ(field(R"({"verdicts": [{"hunk_id": "a", "verdict": null, "why": "x"}]})"), "verdicts[0].why");
  EXPECT_EQ(field(R"({"suggestions": [{"comment": "c"}]})"), "suggestions[0].accepted");
  EXPECT_EQ(field(R"({"viewed": [{"viewed": true}]})"), "viewed[0].path");
  EXPECT_EQ(field(R"({"viewed": [{"path": "", "viewed": true}]})"), "viewed[0].path");
  EXPECT_EQ(field(R"({"viewed": [{"path": "x", "path_base64": "eA==", "viewed": true}]})"), "viewed[0].path_base64");
  EXPECT_EQ(field(R"({"viewed": [{"path_base64": "eA", "viewed": true}]})"), "viewed[0].path_base64");
  EXPECT_EQ(field(R"({"viewed": [{"path_base64": "AA==", "viewed": true}]})"), "viewed[0].path_base64");
  EXPECT_EQ(field(R"({"summary": "a\u0000b"})"), "summary");
  EXPECT_EQ(field(R"({"verdict": []})"), "verdict");
}

TEST(ReviewRequest, CapsHoldAtTheLimitAndOneAbove) {
  const auto edit = [](const json& body) { return refused(review_edit_from_json, body); };
  const auto mark = [](std::size_t bytes) {
    return json{{"verdicts", {{{"hunk_id", "a"}, {"verdict", "reject"}, {"reason", std::string(bytes, 'x')}}}}};
  };
  EXPECT_EQ(edit(mark(kReasonBytes)), "none");
  EXPECT_EQ(edit(mark(kReasonBytes + 1)), "verdicts[0].reason");
  EXPECT_EQ(edit({{"summary", std::string(kReviewSummaryBytes, 'x')}}), "none");
  EXPECT_EQ(edit({{"summary", std::string(kReviewSummaryBytes + 1, 'x')}}), "summary");
  json many = json::array();
  for (std::size_t i = 0; i < kMarksPerEdit; ++i) many.push_back({{"hunk_id", "a"}, {"verdict", nullptr}});
  EXPECT_EQ(edit({{"verdicts", many}}), "none");
  many.push_back(many.back());
  EXPECT_EQ(edit({{"verdicts", many}}), "verdicts");
  for (const char* key : {"body", "quote", "suggestion"}) {
    json comment{{"path", "x"}, {"start_line", 1}, {"body", "b"}};
    comment[key] = std::string(kCommentBytes, 'x');
    EXPECT_EQ(refused(new_comment_from_json, comment), "none");
    comment[key] = std::string(kCommentBytes + 1, 'x');
    EXPECT_EQ(refused(new_comment_from_json, comment), key);
  }
  EXPECT_EQ(refused(apply_request_from_json, {{"revision", 1}, {"message", std::string(kCommitMessageBytes, 'x')}}), "none");
  EXPECT_EQ(refused(apply_request_from_json, {{"revision", 1}, {"message", std::string(kCommitMessageBytes + 1, 'x')}}), "message");
  EXPECT_EQ(refused(send_back_request_from_json, {{"revision", 1}, {"note", std::string(kNoteBytes, 'x')}}), "none");
  EXPECT_EQ(refused(send_back_request_from_json, {{"revision", 1}, {"note", std::string(kNoteBytes + 1, 'x')}}), "note");
}

TEST(ReviewRequest, ACommentIsOfOneLineOnTheHeadUnlessSaid) {
  const NewComment comment = new_comment_from_json(json::parse(R"({"path": "a", "start_line": 7, "body": "b"})"));
  EXPECT_EQ(comment.side, DiffSide::head);
  EXPECT_EQ(comment.end_line, 7);
  EXPECT_FALSE(comment.draft);
  EXPECT_EQ(json(to_json(new_comment_from_json(to_json(comment)))), json(to_json(comment)));
  const NewComment latin{
      .path = kLatinPath, .side = DiffSide::base, .start_line = 1, .end_line = 2, .quote = "q", .body = "b", .draft = true};
  EXPECT_EQ(new_comment_from_json(to_json(latin)).path, kLatinPath);
}

TEST(ReviewRequest, ACommentNamesWhatIsWrong) {
  const auto field = [](const char* body) { return refused(new_comment_from_json, json::parse(body)); };
  EXPECT_EQ(field(R"({"start_line": 1, "body": "b"})"), "path");
  EXPECT_EQ(field(R"({"path": "a", "body": "b"})"), "start_line");
  EXPECT_EQ(field(R"({"path": "a", "start_line": 0, "body": "b"})"), "start_line");
  EXPECT_EQ(field(R"({"path": "a", "start_line": 5, "end_line": 4, "body": "b"})"), "end_line");
  EXPECT_EQ(field(R"({"path": "a", "start_line": 1, "side": "left", "body": "b"})"), "side");
  EXPECT_EQ(field(R"({"path": "a", "start_line": 1, "body": "  "})"), "body");
  EXPECT_EQ(field(R"({"path": "a", "start_line": 1, "suggestion": ""})"), "none") << "taking the lines away says enough";
  EXPECT_EQ(field(R"({"path": "a", "start_line": 1, "side": "base", "body": "b", "suggestion": "x"})"), "suggestion");
}

TEST(ReviewRequest, ACommentIsEditedInParts) {
  const CommentEdit taken = comment_edit_from_json(json::parse(R"({"suggestion": null})"));
  ASSERT_TRUE(taken.suggestion.has_value());
  EXPECT_FALSE(taken.suggestion->has_value());
  EXPECT_FALSE(taken.body.has_value());
  const CommentEdit sent = comment_edit_from_json(json::parse(R"({"draft": false, "body": "b"})"));
  EXPECT_EQ(sent.draft, false);
  EXPECT_FALSE(sent.suggestion.has_value());
  EXPECT_EQ(refused(comment_edit_from_json, json::parse(R"({"draft": true})")), "draft");
  EXPECT_EQ(refused(comment_edit_from_json, json::parse(R"({})")), "");
  EXPECT_EQ(refused(comment_edit_from_json, json::parse(R"({"text": "b"})")), "text");
}

TEST(ReviewRequest, AnApplyPushesUnlessSaid) {
  const ApplyRequest request = apply_request_from_json(json::parse(R"({"revision": 4})"));
  EXPECT_EQ(request.revision, 4);
  EXPECT_TRUE(request.push);
  EXPECT_FALSE(request.confirm_undecided);
  const ApplyRequest other{.revision = 4, .message = "m", .push = false, .confirm_undecided = true, .key = {}};
  EXPECT_EQ(json(to_json(apply_request_from_json(to_json(other)))), json(to_json(other)));
  EXPECT_EQ(refused(apply_request_from_json, json::object()), "revision");
  EXPECT_EQ(refused(send_back_request_from_json, json::object()), "revision");
  EXPECT_EQ(refused(revision_from_json, {{"revision", -1}}), "revision");
  const SendBackRequest back{.revision = 5, .note = "n", .key = {}};
  EXPECT_EQ(json(to_json(send_back_request_from_json(to_json(back)))), json(to_json(back)));
}

}  // namespace
}  // namespace forge
