#include <gmock/gmock.h>

#include "orchestrator/domain/review_json.h"
#include "tests/support/golden.h"
#include "tests/support/sample_review.h"
#include "tests/unit/cli/fixture.h"

namespace forge::cli {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kJob = std::string("/api/v1/jobs/") + kJobId;
const std::string kRun = kJob + "/runs/1";
const std::string kDiff =
    "diff --git a/src/parser.cpp b/src/parser.cpp\nindex 1..2 100644\n--- a/src/parser.cpp\n+++ b/src/parser.cpp\n"
    "@@ -10,6 +10,9 @@ int main() {\n ten\n+\x1b[31mnew\n"
    "@@ -40,3 +43,9 @@\n--- a list\n+++ a list\n"
    "diff --git a/tool b/tool.sh\nold mode 100644\nnew mode 100755\nsimilarity index 100%\nrename from tool\nrename to tool.sh\n"
    "diff --git \"a/docs/caf\\351.txt\" \"b/docs/caf\\351.txt\"\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 "
    "@@\n+one\n";

std::string answer_of(const Review& review) { return test::http_answer(200, json(to_json(review)).dump()); }
std::string refusal(int status, const char* code, const char* message) {
  return test::http_answer(status, json{{"error", {{"code", code}, {"message", message}}}}.dump());
}

/// A review of four hunks at revision 3: 1 is accepted by ada; 1 and 2 are of src/parser.cpp.
class ReviewTest : public CliTest {
 protected:
  ReviewTest() { show(sample); }
  void show(const Review& review) {
    script.answers["GET " + kJob + "/review"] = answer_of(review);
    script.answers["GET " + kRun + "/diff"] = test::http_answer(200, kDiff);
  }
  /// What a PATCH answers: the review with another revision.
  void accept_edits() {
    Review edited = sample;
    edited.revision = 4;
    for (ReviewedFile& file : edited.files)
      for (ReviewedHunk& hunk : file.hunks)
        hunk.mark = HunkMark{.hunk_id = hunk.id, .verdict = HunkVerdict::accept, .reason = {}, .by = "local"};
    script.answers["PATCH " + kRun + "/review"] = answer_of(edited);
  }
  /// Verdicts of the last PATCH, by the first two digits of the hunk.
  std::map<std::string, std::string> sent() {
    std::map<std::string, std::string> marks;
    const json body = body_of("PATCH " + kRun + "/review");
    for (const json& mark : body.at("verdicts"))
      marks[mark.at("hunk_id").get<std::string>().substr(0, 2)] =
          (mark.at("verdict").is_null() ? "null" : mark.at("verdict").get<std::string>()) + mark.value("reason", "");
    return marks;
  }
  json body_of(const std::string& request) { return json::parse(forge().last(request).body); }
  using Marks = std::map<std::string, std::string>;

  const Review sample = test::sample_review(JobId(kJobId));
};

TEST_F(ReviewTest, ListsFilesHunksAndComments) {
  EXPECT_EQ(run({"review", kJobId}), 0);
  EXPECT_EQ(services.used, EngineUse::look);
  test::expect_golden("tests/unit/cli/golden/review.txt", out);
}

TEST_F(ReviewTest, ShowsTheLinesOfEachHunk) {
  EXPECT_EQ(run({"review", kJobId, "--diff"}), 0);
  EXPECT_THAT(forge().requests(), Contains("GET " + kRun + "/diff")) << "of the run that the review is of";
  test::expect_golden("tests/unit/cli/golden/review_diff.txt", out);
}

TEST_F(ReviewTest, LeavesTheLinesOutWhereTheDiffIsAnother) {
  script.answers["GET " + kRun + "/diff"] = test::http_answer(200, kDiff.substr(kDiff.find("diff --git a/tool")));
  EXPECT_EQ(run({"review", kJobId, "--diff"}), 0);
  EXPECT_THAT(err, HasSubstr("the diff is not that of the review"));
  EXPECT_THAT(out, HasSubstr("a1b2c3d4"));
}

TEST_F(ReviewTest, IsOfTheRunThatIsNamed) {
  script.answers["GET " + kJob + "/runs/7/review"] = answer_of(test::sample_review(JobId(kJobId), 7));
  EXPECT_EQ(run({"review", kJobId, "--run", "7", "--json"}), 0);
  EXPECT_EQ(json::parse(out).at("run"), 7);
}

TEST_F(ReviewTest, PrintsTheReviewOfTheApiAsJson) {
  EXPECT_EQ(run({"review", kJobId, "--json"}), 0);
  EXPECT_EQ(json::parse(out), json(to_json(sample)));
}

TEST_F(ReviewTest, HunksAreNamedByNumberIdFileOrAll) {
  accept_edits();
  EXPECT_EQ(run({"review", kJobId, "--accept", "2", "--accept", "c3d4e5", "--reject", test::kLatinPath, "--reason", "No."}), 0);
  EXPECT_EQ(sent(), (Marks{{"b2", "accept"}, {"c3", "accept"}, {"d4", "rejectNo."}}));
  EXPECT_EQ(forge().last("PATCH " + kRun).header("if-match"), "\"3\"");
  EXPECT_EQ(out, "revision 4: 4 accepted, 0 rejected, 0 undecided\n");
  EXPECT_EQ(run({"review", kJobId, "--reject", "all"}), 0);
  EXPECT_EQ(sent(), (Marks{{"a1", "reject"}, {"b2", "reject"}, {"c3", "reject"}, {"d4", "reject"}}));
  EXPECT_EQ(run({"review", kJobId, "--reject", "./tool.sh"}), 0);
  EXPECT_EQ(sent(), (Marks{{"c3", "reject"}}));
}

TEST_F(ReviewTest, TheCloserNameCounts) {
  accept_edits();
  EXPECT_EQ(run({"review", kJobId, "--reject", "2", "--accept", "src/parser.cpp", "--undecide", "all"}), 0);
  EXPECT_EQ(sent(), (Marks{{"b2", "reject"}, {"d4", "null"}})) << "1 is accepted and 3 undecided already";
}

TEST_F(ReviewTest, AVerdictThatIsThereKeepsItsAuthor) {
  EXPECT_EQ(run({"review", kJobId, "--accept", "1"}), 0);
  EXPECT_EQ(out, "nothing to change: the verdicts are there already\n");
  EXPECT_THAT(forge().requests(), Not(Contains(StartsWith("PATCH"))));
}

TEST_F(ReviewTest, RefusesNamesThatAreNone) {
  EXPECT_EQ(run({"review", kJobId, "--accept", "5"}), 2);
  EXPECT_EQ(err, "forge: the review has no hunk or file \"5\"\n  a number from 1 to 4, the beginning of an id, a file, or all\n");
  EXPECT_EQ(run({"review", kJobId, "--accept", "0"}), 2);
  EXPECT_EQ(run({"review", kJobId, "--accept", "a1b2c"}), 2) << "too short to be an id";
  EXPECT_EQ(run({"review", kJobId, "--accept", "2", "--reject", "b2c3d4e5"}), 2);
  EXPECT_EQ(err, "forge: hunk 2 cannot be two things at once: \"b2c3d4e5\" names it again\n");
}

TEST_F(ReviewTest, RefusesAPrefixOfSeveralHunks) {
  Review twins = sample;
  twins.files[0].hunks[1].id = twins.files[0].hunks[0].id.substr(0, 10) + std::string(22, 'f');
  show(twins);
  EXPECT_EQ(run({"review", kJobId, "--accept", "a1b2c3d4"}), 2);
  EXPECT_EQ(err, "forge: \"a1b2c3d4\" begins the ids of several hunks\n  give more digits, or the number\n");
}

TEST_F(ReviewTest, SaysWhatOthersDidWhenTheyWereFirst) {
  Review now = sample;
  now.revision = 5;
  now.summary = "Well.";
  now.files[0].hunks[0].mark.reset();
  now.files[0].hunks[1].mark = HunkMark{.hunk_id = "x", .verdict = HunkVerdict::reject, .reason = {}, .by = "bob"};
  now.comments[0].id = CommentId("01jd0000000000000000000c02");
  now.comments[0].author = "bob";
  script.answers["PATCH " + kRun + "/review"] = refusal(412, "precondition_failed", "somebody changed the review meanwhile");
  script.answers["GET " + kRun + "/review"] = answer_of(now);
  EXPECT_EQ(run({"review", kJobId, "--accept", "all", "--apply"}), 1);
  EXPECT_EQ(err,
            "forge: somebody was first: the review was at revision 3 and is at 5\n"
            "  its summary changed\n"
            "  hunk 1 (src/parser.cpp) is undecided again\n"
            "  hunk 2 (src/parser.cpp) is rejected by bob\n"
            "  bob commented on src/parser.cpp:12-13\n"
            "  the comment of ada on src/parser.cpp:12-13 is gone\n"
            "  look at it, then give the command again\n");
  EXPECT_EQ(out, "");
  EXPECT_THAT(forge().requests(), Not(Contains(HasSubstr("apply")))) << "nothing follows what did not happen";
}

TEST_F(ReviewTest, CommentsOnLines) {
  script.answers["POST " + kRun + "/review/comments"] = test::http_answer(201, json(to_json(sample.comments[0])).dump());
  EXPECT_EQ(run({"review", kJobId, "--comment", "./a:b.c:12-14", "--body", "Why?", "--suggest", "x;\n"}), 0);
  EXPECT_EQ(body_of("POST " + kRun + "/review/comments"), (json{{"path", "a:b.c"},
                                                                {"side", "head"},
                                                                {"start_line", 12},
                                                                {"end_line", 14},
                                                                {"body", "Why?"},
                                                                {"suggestion", "x;\n"},
                                                                {"draft", false}}));
  EXPECT_EQ(out, "commented on ./a:b.c:12-14\n");
  EXPECT_EQ(run({"review", kJobId, "--comment", test::kLatinPath + ":1", "--body", "b"}), 0);
  EXPECT_EQ(body_of("POST " + kRun + "/review/comments").at("path_base64"), "ZG9jcy9jYWbpLnR4dA==");
}

TEST_F(ReviewTest, AppliesWithTheRevisionThatItsVerdictsMade) {
  accept_edits();
  AppliedReview applied{
      .commit = std::string(40, 'c'), .branch = "forge/06f3m2k9qa-1-accepted", .accepted = 4, .pushed = true, .by = "local"};
  script.answers["POST " + kRun + "/review/apply"] = test::http_answer(201, json(to_json(applied)).dump());
  EXPECT_EQ(run({"review", kJobId, "--accept", "all", "--apply", "--message", "Take it."}), 0);
  EXPECT_EQ(body_of("POST " + kRun + "/review/apply"),
            (json{{"revision", 4}, {"message", "Take it."}, {"push", true}, {"confirm_undecided", false}}));
  EXPECT_THAT(out, HasSubstr("commit cccccccccc on forge/06f3m2k9qa-1-accepted, pushed: 4 accepted, 0 rejected, 0 undecided\n"));
  EXPECT_EQ(run({"review", kJobId, "--accept", "all", "--apply", "--no-push", "--json"}), 0);
  EXPECT_EQ(json::parse(out), json(to_json(applied))) << "one object, and nothing else";
  EXPECT_EQ(body_of("POST " + kRun + "/review/apply").at("push"), false);
}

TEST_F(ReviewTest, AppliesWithTheRevisionThatItsCommentMade) {
  Review commented = sample;
  commented.revision = 4;
  script.answers["POST " + kRun + "/review/comments"] = test::http_answer(201, json(to_json(sample.comments[0])).dump());
  script.answers["GET " + kRun + "/review"] = answer_of(commented);
  script.answers["POST " + kRun + "/review/dismiss"] = answer_of(commented);
  EXPECT_EQ(run({"review", kJobId, "--comment", "tool.sh:1", "--body", "No.", "--dismiss"}), 0);
  EXPECT_EQ(body_of("POST " + kRun + "/review/dismiss").at("revision"), 4);
  EXPECT_EQ(out, "commented on tool.sh:1\nthe review is dismissed\n");
}

TEST_F(ReviewTest, AnApplyConfirmsWhatIsUndecided) {
  script.answers["POST " + kRun + "/review/apply"] = refusal(409, "conflict", "hunk 2 cannot stand without hunk 1");
  EXPECT_EQ(run({"review", kJobId, "--apply"}), 1);
  EXPECT_EQ(err,
            "forge: 3 of the hunks are undecided, and an apply leaves these out\n"
            "  decide them first, or add --confirm-undecided\n");
  EXPECT_EQ(run({"review", kJobId, "--apply", "--confirm-undecided"}), 1);
  EXPECT_EQ(err, "forge: hunk 2 cannot stand without hunk 1\n");
}

TEST_F(ReviewTest, AnApplyOfADismissedReviewAsksForNoDecisions) {
  Review dismissed = sample;
  dismissed.status = ReviewStatus::dismissed;
  show(dismissed);
  script.answers["POST " + kRun + "/review/apply"] = refusal(409, "conflict", "the review was dismissed");
  EXPECT_EQ(run({"review", kJobId, "--apply"}), 1);
  EXPECT_EQ(err, "forge: the review was dismissed\n");
}

TEST_F(ReviewTest, SendsBackAndWatchesTheFollowUp) {
  forge::Run next = *sample_job().last_run;
  next.number = 2;
  script.job.last_run->number = 2;
  script.answers["POST " + kRun + "/review/send-back"] = test::http_answer(201, json{{"run", json(to_json(next))}}.dump());
  EXPECT_EQ(run({"review", kJobId, "--send-back", "--note", "A test, too."}), 0);
  EXPECT_EQ(services.used, EngineUse::work);
  EXPECT_EQ(body_of("POST " + kRun + "/review/send-back"), (json{{"revision", 3}, {"note", "A test, too."}}));
  EXPECT_THAT(forge().requests(), Contains("GET " + kJob + "/runs/2/events"));
  EXPECT_THAT(out, HasSubstr("run 2 succeeded"));
}

TEST_F(ReviewTest, PrintsThePatchByteByByte) {
  script.answers["GET " + kJob + "/patch?part=all"] = test::http_answer(200, "all\xe9\r\n");
  script.answers["GET " + kRun + "/patch?part=accepted"] = test::http_answer(200, "some\n");
  EXPECT_EQ(run({"review", kJobId, "--patch"}), 0);
  EXPECT_EQ(out, "all\xe9\r\n");
  EXPECT_EQ(run({"review", kJobId, "--patch", "--accepted", "--run", "1"}), 0);
  EXPECT_EQ(out, "some\n");
}

TEST_F(ReviewTest, RefusesOptionsThatDoNotFit) {
  struct Bad {
    std::vector<std::string> args;
    const char* says;
  };
  const Bad bad[] = {{{"--reason", "x"}, "--reason goes with --reject"},
                     {{"--accepted"}, "--accepted goes with --patch"},
                     {{"--body", "x"}, "--body goes with --comment"},
                     {{"--no-push", "--dismiss"}, "--no-push goes with --apply"},
                     {{"--note", "x"}, "--note goes with --send-back"},
                     {{"--diff", "--json"}, "--diff, --patch and --json exclude each other\n  choose one"},
                     {{"--apply", "--dismiss"}, "--apply, --send-back and --dismiss exclude each other\n  choose one"},
                     {{"--diff", "--accept", "1"}, "--diff and --patch only show\n  leave them out, or the options that change"},
                     {{"--comment", ""}, "--comment is empty\n  PATH:LINE[-LINE]"},
                     {{"--comment", "", "--body", "b"}, "--comment is empty\n  PATH:LINE[-LINE]"},
                     {{"--comment", "a:1"}, "--comment needs a text\n  --body TEXT, or --suggest TEXT"},
                     {{"--comment", "a", "--body", "b"}, "--comment a does not name lines\n  PATH:LINE or PATH:FIRST-LAST"},
                     {{"--comment", "a:0", "--body", "b"}, "--comment a:0 does not name lines\n  PATH:LINE or PATH:FIRST-LAST"},
                     {{"--comment", "a:3-2", "--body", "b"}, "--comment a:3-2 ends before it begins"}};
  for (const Bad& one : bad) {
    std::vector<std::string> args{"review", kJobId};
    args.insert(args.end(), one.args.begin(), one.args.end());
    EXPECT_EQ(run(args), 2) << one.says;
    EXPECT_EQ(err, std::string("forge: ") + one.says + "\n");
  }
  EXPECT_TRUE(forge().requests().empty());
}

TEST_F(ReviewTest, SaysWhyThereIsNone) {
  script.answers["GET " + kJob + "/review"] = refusal(409, "conflict", "the run left no changes");
  EXPECT_EQ(run({"review", kJobId}), 1);
  EXPECT_EQ(err, "forge: the run left no changes\n");
}

TEST_F(CliTest, RetryGoesOnFromAnEarlierResult) {
  script.job.last_run->number = 3;
  const auto wanted = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"retry", kJobId});
    EXPECT_EQ(run(args), 0) << err;
    return json::parse(forge().last("POST " + kJob + "/run").body);
  };
  EXPECT_EQ(wanted({"--follow-up", "--note", "Also the docs."}), (json{{"kind", "follow_up"}, {"note", "Also the docs."}}));
  EXPECT_EQ(wanted({"--fork", "--from-run", "2"}), (json{{"kind", "fork"}, {"from_run", 2}}));
  EXPECT_EQ(wanted({"--note", "Mind the tests."}), (json{{"note", "Mind the tests."}}));
  EXPECT_EQ(wanted({}), json::object());
}

TEST_F(CliTest, RetryRefusesOptionsThatDoNotFit) {
  EXPECT_EQ(run({"retry", kJobId, "--follow-up", "--fork"}), 2);
  EXPECT_EQ(run({"retry", kJobId, "--from-run", "1"}), 2);
  EXPECT_EQ(err, "forge: --from-run goes with --follow-up or --fork\n  a retry starts from the job's base\n");
  EXPECT_EQ(run({"retry", kJobId, "--follow-up"}), 2);
  EXPECT_EQ(err, "forge: --follow-up needs a note\n  --note TEXT: what is to be done now\n");
}

}  // namespace
}  // namespace forge::cli
