#include "tests/unit/git/review_fixture.h"

namespace forge::git {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Suggestions : public ReviewTest {
 protected:
  static Suggestion suggest(const std::string& path, int start, int end, const std::string& text) {
    return {.comment = "c", .path = path, .start_line = start, .end_line = end, .text = text};
  }
  void expect_conflict(const std::vector<std::string>& hunks, const std::vector<Suggestion>& suggestions, const std::string& words) {
    const auto error = refusal(hunks, suggestions);
    ASSERT_TRUE(error) << words;
    EXPECT_EQ(error->code(), ErrorCode::conflict);
    EXPECT_THAT(error->client_text(), HasSubstr(words));
  }
  void expect_bad(const Suggestion& suggestion, const std::string& words) {
    const auto error = refusal(all_ids(compare()), {suggestion});
    ASSERT_TRUE(error) << words;
    EXPECT_EQ(error->code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error->field(), "suggestions");
    EXPECT_THAT(error->client_text(), AllOf(HasSubstr("'" + suggestion.path + "'"), HasSubstr(words)));
  }
};

TEST_F(Suggestions, ReplaceLinesOfTheHeadInsideAndBesideAHunk) {
  change("f", lines(10), lines(10, {{5, "five\nmore"}}));
  const auto made = accept(all_ids(compare()), {suggest("f", 11, 11, ""), suggest("f", 6, 7, "a\nb\nc\n"), suggest("f", 1, 1, "one")});
  EXPECT_EQ(content(made.commit, "f"), "one\n2\n3\n4\nfive\na\nb\nc\n7\n8\n9\n");
}

TEST_F(Suggestions, AreMovedWithWhatIsNotAccepted) {
  change("f", lines(40), lines(40, {{5, "five\nmore\nlines"}, {30, "thirty"}}));
  const auto made = accept({id("f", 1)}, {suggest("f", 32, 32, "THIRTY"), suggest("f", 22, 22, "twenty")});
  EXPECT_EQ(content(made.commit, "f"), lines(40, {{20, "twenty"}, {30, "THIRTY"}}));
}

TEST_F(Suggestions, ForAFileThatTheRunDidNotChangeStandAlone) {
  repo_.write("same", lines(5));
  change("f", "1\n", "2\n");
  const auto made = accept({}, {suggest("same", 2, 3, "x")});
  EXPECT_EQ(content(made.commit, "same"), "1\nx\n4\n5\n");
  EXPECT_EQ(content(made.commit, "f"), "1\n");
}

TEST_F(Suggestions, FollowAFileToTheNameItHasInTheResult) {
  repo_.write("old", lines(40));
  be_base();
  repo_.remove("old");
  repo_.write("new", lines(40, {{20, "edited"}}));
  be_head();
  const Suggestion one = suggest("new", 3, 3, "three");
  EXPECT_EQ(content(accept({}, {one}).commit, "old"), lines(40, {{3, "three"}}));
  EXPECT_EQ(content(accept({id("new", 0)}, {one}).commit, "new"), lines(40, {{3, "three"}}));
}

TEST_F(Suggestions, GoIntoANewFile) {
  repo_.write("keep", "");
  be_base();
  repo_.write("new", "one\ntwo");
  be_head();
  EXPECT_EQ(content(accept({id("new")}, {suggest("new", 2, 2, "TWO\nthree\n")}).commit, "new"), "one\nTWO\nthree");
  expect_conflict({}, {suggest("new", 2, 2, "x")},
                  "the suggestion for 'new', line 2, cannot be put in place: it is for a file whose change");
}

TEST_F(Suggestions, EndTheirLinesAsThoseThatTheyReplace) {
  change("f", "a\r\nb\r\nc", "a\r\nB\r\nc");
  EXPECT_EQ(content(accept(all_ids(compare()), {suggest("f", 2, 2, "x\ny")}).commit, "f"), "a\r\nx\r\ny\r\nc");
  EXPECT_EQ(content(accept(all_ids(compare()), {suggest("f", 3, 3, "x\ny\n")}).commit, "f"), "a\r\nB\r\nx\r\ny");
}

TEST_F(Suggestions, LoseReturnsInAFileThatHasNone) {
  change("f", "a\nb\n", "a\nB\n");
  EXPECT_EQ(content(accept(all_ids(compare()), {suggest("f", 2, 2, "x\r\ny\r\n")}).commit, "f"), "a\nx\ny\n");
}

TEST_F(Suggestions, CannotStandOnAHunkThatIsNotAccepted) {
  change("f", lines(40), lines(40, {{5, "five"}, {30, "thirty"}}));
  expect_conflict({id("f", 1)}, {suggest("f", 4, 6, "x")},
                  "the suggestion for 'f', lines 4-6, cannot be put in place: it stands on line 5, which is part of a hunk");
}

TEST_F(Suggestions, CannotReachOverLinesThatTheResultKeeps) {
  change("f", lines(9), "1\n2\n3\n4\n6\n7\n8\n9\n");
  expect_conflict({}, {suggest("f", 4, 5, "x")}, "reaches over a hunk that is not accepted");
  EXPECT_EQ(content(accept({}, {suggest("f", 5, 5, "x")}).commit, "f"), lines(9, {{6, "x"}}));
}

TEST_F(Suggestions, CannotOverlap) {
  change("f", lines(9), lines(9, {{5, "five"}}));
  expect_conflict(all_ids(compare()), {suggest("f", 3, 4, "x"), suggest("f", 2, 3, "y")},
                  "'f', lines 3-4, cannot be put in place: it overlaps");
  EXPECT_NO_THROW(accept(all_ids(compare()), {suggest("f", 3, 4, "x"), suggest("f", 5, 5, "y")}));
}

TEST_F(Suggestions, NeedLinesThatTheHeadHas) {
  repo_.write("gone", lines(3));
  repo_.write("bin", std::string("a\0b\n", 4));
  link("gone", "link");
  change("f", lines(3), lines(4));
  repo_.remove("gone");
  be_head();
  expect_bad(suggest("f", 5, 5, "x"), "names lines that the file does not have; it has 4");
  expect_bad(suggest("f", 0, 1, "x"), "names lines that the file does not have");
  expect_bad(suggest("f", 3, 2, "x"), "names lines that the file does not have");
  expect_bad(suggest("gone", 1, 1, "x"), "the run's result does not have");
  expect_bad(suggest("none", 1, 1, "x"), "the run's result does not have");
  expect_bad(suggest("bin", 1, 1, "x"), "binary");
  expect_bad(suggest("link", 1, 1, "x"), "has no lines");
  EXPECT_NO_THROW(accept(all_ids(compare()), {suggest("f", 4, 4, "x")}));
}

}  // namespace
}  // namespace forge::git
