#include "adapters/pi/stuck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forge::adapters::pi {
namespace {

using Verdict = StuckDetector::Verdict;
using testing::HasSubstr;

/// The verdict on the last of `times` equal calls.
Verdict repeat(StuckDetector& detector, int times, const std::string& arguments, const std::string& outcome, bool ok) {
  Verdict verdict = Verdict::fine;
  for (int i = 0; i < times; ++i) {
    EXPECT_EQ(verdict, Verdict::fine) << "before the last call";
    verdict = detector.called("bash", arguments, outcome, ok);
  }
  return verdict;
}

TEST(StuckDetector, NudgesAtTheFourthEqualCallAndNotBefore) {
  StuckDetector detector;
  EXPECT_EQ(repeat(detector, 3, R"({"command":"ls"})", "a b", true), Verdict::fine);
  EXPECT_EQ(repeat(detector, 1, R"({"command":"ls"})", "a b", true), Verdict::nudge);
  EXPECT_EQ(detector.why(), "bash was called 4 times in a row with the same outcome");
}

TEST(StuckDetector, NudgesAtTheThirdEqualFailure) {
  StuckDetector detector;
  EXPECT_EQ(repeat(detector, 2, R"({"command":"make"})", "error", false), Verdict::fine);
  EXPECT_EQ(repeat(detector, 1, R"({"command":"make"})", "error", false), Verdict::nudge);
  EXPECT_THAT(detector.why(), HasSubstr("failed 3 times"));
}

TEST(StuckDetector, StopsAtTheNextCircleAfterANudge) {
  StuckDetector detector;
  EXPECT_EQ(repeat(detector, 4, R"({"command":"ls"})", "a", true), Verdict::nudge);
  EXPECT_EQ(repeat(detector, 3, R"({"command":"make"})", "error", false), Verdict::stop);
}

TEST(StuckDetector, ForgetsANudgeAfterTwentyGoodCalls) {
  for (const int calls : {16, 17}) {
    StuckDetector detector;
    repeat(detector, 4, R"({"command":"ls"})", "a", true);
    for (int i = 0; i < calls; ++i) EXPECT_EQ(detector.called("bash", "{}", std::to_string(i) + " lines", true), Verdict::fine);
    // The circle's own calls count too: its last one is call 20 or 21 after the nudge.
    EXPECT_EQ(repeat(detector, 3, R"({"command":"make"})", "error", false), calls == 16 ? Verdict::stop : Verdict::nudge);
  }
}

TEST(StuckDetector, SeesTwoCallsThatAlternate) {
  StuckDetector detector;
  Verdict verdict = Verdict::fine;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(verdict, Verdict::fine);
    verdict = detector.called(i % 2 == 0 ? "read_file" : "bash", "{}", "same", true);
  }
  EXPECT_EQ(verdict, Verdict::nudge);
  EXPECT_EQ(detector.why(), "two calls (read_file and bash) alternate with the same outcomes");
}

TEST(StuckDetector, ComparesArgumentsByMeaning) {
  StuckDetector detector;
  detector.called("t", R"({"a":1,"b":2})", "x", false);
  detector.called("t", R"({ "b" : 2, "a" : 1 })", "x", false);
  EXPECT_EQ(detector.called("t", R"({"a":1, "b":2})", "x", false), Verdict::nudge);
  StuckDetector other;
  other.called("t", R"({"a":1})", "x", false);
  other.called("t", R"({"a":2})", "x", false);
  EXPECT_EQ(other.called("t", R"({"a":3})", "x", false), Verdict::fine);
}

TEST(StuckDetector, IgnoresTimesAndDurationsAndNamesOfTemporaryFiles) {
  StuckDetector detector;
  detector.called("bash", "{}", "FAILED in 0.12s at 12:00:01, log in /tmp/output-17.txt", false);
  detector.called("bash", "{}", "FAILED in 1.5 s  at 12:00:02, log in /tmp/output-18.txt", false);
  EXPECT_EQ(detector.called("bash", "{}", "FAILED in 20 seconds at 12:10:03, log in /tmp/output-19.txt", false), Verdict::nudge);
}

TEST(StuckDetector, LetsAnOutcomeThatChangesPass) {
  StuckDetector detector;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(detector.called("bash", "{}", std::to_string(i) + " of 100 done", true), Verdict::fine);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(detector.called("bash", "{}", std::to_string(i) + " tests failed", false), Verdict::fine);
}

TEST(StuckDetector, LetsWaitingPass) {
  StuckDetector detector;
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(detector.called("bash", R"({"command":"sleep 5; curl localhost"})", "refused", false), Verdict::fine);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(detector.called("bash", R"({"command":"wait"})", "", true), Verdict::fine);
  StuckDetector other;  // these only look like it
  EXPECT_EQ(repeat(other, 3, R"({"command":"python3 await.py --asleep"})", "no", false), Verdict::nudge);
}

TEST(StuckDetector, SeesAFailingEditOfATextThatSpeaksOfWaiting) {
  StuckDetector detector;
  const std::string edit = R"({"path":"a.js","edits":[{"old_text":"// wait for it","new_text":"sleep"}]})";
  EXPECT_EQ(detector.called("edit_file", edit, "old_text is not in the file.", false), Verdict::fine);
  EXPECT_EQ(detector.called("edit_file", edit, "old_text is not in the file.", false), Verdict::fine);
  EXPECT_EQ(detector.called("edit_file", edit, "old_text is not in the file.", false), Verdict::nudge);
}

TEST(StuckDetector, StopsAtTheThirdResponseWithoutACall) {
  StuckDetector detector;
  EXPECT_EQ(detector.talked(), Verdict::fine);
  EXPECT_EQ(detector.talked(), Verdict::fine);
  detector.called("bash", "{}", "x", true);
  EXPECT_EQ(detector.talked(), Verdict::fine);
  EXPECT_EQ(detector.talked(), Verdict::fine);
  EXPECT_EQ(detector.talked(), Verdict::stop);
}

TEST(StuckDetector, TakesArgumentsThatAreNoJson) {
  StuckDetector detector;
  EXPECT_EQ(repeat(detector, 3, R"({"command": "ec)", "not run", false), Verdict::nudge);
}

}  // namespace
}  // namespace forge::adapters::pi
