#include "tools/text_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace forge::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string edited(std::string_view original, const std::vector<Edit>& edits) {
  const Edited result = apply_edits(original, edits, {});
  EXPECT_EQ(result.problem, "");
  return result.content;
}

std::string problem(std::string_view original, const std::vector<Edit>& edits) {
  const Edited result = apply_edits(original, edits, {});
  EXPECT_EQ(result.content, "");
  return result.problem;
}

TEST(TextEdit, ReplacesTheOnePlace) {
  const Edited result = apply_edits("a\nb\nc\n", {{"b", "B\nB2"}}, {});
  EXPECT_EQ(result.content, "a\nB\nB2\nc\n");
  EXPECT_EQ(result.first_line, 2U);
}

TEST(TextEdit, MatchesEveryEditAgainstTheOriginal) {
  EXPECT_EQ(edited("one two\n", {{"two", "one"}, {"one ", "two "}}), "two one\n");
  EXPECT_EQ(edited("abcd", {{"ab", "X"}, {"cd", "Y"}}), "XY");  // neighbours do not overlap
}

TEST(TextEdit, DeletesAndChangesTheVeryBeginningAndEnd) {
  EXPECT_EQ(edited("abc", {{"abc", ""}}), "");
  EXPECT_EQ(edited("a\nb", {{"a\n", ""}}), "b");
  EXPECT_EQ(edited("a\nb", {{"b", "b\n"}}), "a\nb\n");
  EXPECT_EQ(apply_edits("a\nb", {{"b", "b\n"}}, {}).first_line, 2U);
}

TEST(TextEdit, RefusesAnEmptyOldText) { EXPECT_THAT(problem("a", {{"", "x"}}), HasSubstr("edits[0]: old_text is empty")); }

TEST(TextEdit, RefusesAnEditThatChangesNothing) {
  EXPECT_THAT(problem("a\nb", {{"a", "A"}, {"b", "b"}}), HasSubstr("edits[1]: old_text and new_text are the same"));
  EXPECT_THAT(problem("a\r\nb", {{"a\r\n", "a\n"}}), HasSubstr("the same"));
}

TEST(TextEdit, RefusesOverlappingEdits) {
  EXPECT_THAT(problem("x\nabc\n", {{"bc", "1"}, {"ab", "2"}}), HasSubstr("edits[0] and edits[1] overlap at line 2"));
  EXPECT_THAT(problem("abc", {{"abc", "1"}, {"b", "2"}}), HasSubstr("overlap"));
}

TEST(TextEdit, NamesTheLinesOfSeveralMatches) {
  EXPECT_THAT(problem("x\ny\nx\nx\n", {{"x", "z"}}), HasSubstr("stands in the file 3 times, at lines 1, 3, 4."));
  EXPECT_THAT(problem("aaa", {{"aa", "b"}}), HasSubstr("2 times"));  // also where matches overlap
  std::string many;
  for (int i = 0; i < 10; ++i) many += "x\n";
  EXPECT_THAT(problem(many, {{"x", "z"}}), HasSubstr("8, 9, 10."));
  EXPECT_THAT(problem(many + "x\n", {{"x", "z"}}), HasSubstr("8, 9, 10 ...."));
}

TEST(TextEdit, ShowsLinesThatAgreeButForBlanks) {
  const std::string text = "int f() {\n\treturn 1;\n}\n";
  EXPECT_EQ(problem(text, {{"int f() {\n    return 1;\n}", "x"}}),
            "edits[0]: old_text is not in the file. Lines 1-3 agree but for blanks at the beginning or end of lines:\n"
            "1: int f() {\n2: \treturn 1;\n3: }");
  EXPECT_THAT(problem(text, {{"\n  return 1;  ", "x"}}), HasSubstr("Line 2 agrees but for blanks"));
}

TEST(TextEdit, ShowsTheNearestLines) {
  const std::string text = "alpha = 1\nbeta_value = compute(alpha)\ngamma = 3\n";
  EXPECT_THAT(problem(text, {{"beta_value = compute(beta)", "x"}}), HasSubstr("The nearest lines are:\n2: beta_value = compute(alpha)"));
  EXPECT_THAT(problem(text, {{"zzzzzz qqqq", "x"}}), HasSubstr("No line resembles it"));
  EXPECT_THAT(problem(text, {{"\n\n\n", "x"}}), HasSubstr("only blanks"));
  EXPECT_THAT(problem("", {{"a", "x"}}), HasSubstr("not in the file"));
}

TEST(TextEdit, ShowsAtMostThreeNearestLines) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "value number " + std::to_string(i) + "\n";
  const std::string shown = problem(text, {{"value numbers", "x"}});
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 3);
}

TEST(TextEdit, KeepsWindowsLineEnds) {
  EXPECT_EQ(edited("one\r\ntwo\r\nthree\r\n", {{"two\n", "2\nzwei\n"}}), "one\r\n2\r\nzwei\r\nthree\r\n");
  EXPECT_EQ(edited("one\r\ntwo\r\n", {{"one\r\ntwo", "one\r\nand\r\ntwo"}}), "one\r\nand\r\ntwo\r\n");
  EXPECT_EQ(edited("one\r\ntwo", {{"two", "two\nthree"}}), "one\r\ntwo\r\nthree");
}

TEST(TextEdit, LeavesMixedLineEndsOfUntouchedLinesAlone) {
  const std::string mixed = "a\r\nb\nc\r\nd\n";
  EXPECT_EQ(edited(mixed, {{"c", "C"}}), "a\r\nb\nC\r\nd\n");
  EXPECT_EQ(edited(mixed, {{"a\nb\nc\nd\n", "a\nb\nX\nc\nd\n"}}), "a\r\nb\nX\r\nc\r\nd\n");  // context lines inside the edit too
  EXPECT_EQ(edited(mixed, {{"d\n", "d\ne\n"}}), "a\r\nb\nc\r\nd\ne\n");
}

TEST(TextEdit, LeavesLoneCarriageReturnsAlone) { EXPECT_EQ(edited("a\rb\nc\r\r\n", {{"b", "B"}}), "a\rB\nc\r\r\n"); }

TEST(TextEdit, JoinsWindowsLines) { EXPECT_EQ(edited("a\r\nb\r\nc", {{"a\nb", "ab"}}), "ab\r\nc"); }

TEST(TextEdit, KeepsTheByteOrderMark) {
  EXPECT_EQ(edited("\xEF\xBB\xBF"
                   "a\n",
                   {{"a", "b"}}),
            "\xEF\xBB\xBF"
            "b\n");
  EXPECT_EQ(edited("\xEF\xBB\xBF"
                   "a\n",
                   {{"\xEF\xBB\xBF"
                     "a",
                     "\xEF\xBB\xBF"
                     "b"}}),
            "\xEF\xBB\xBF"
            "b\n");
}

TEST(TextEdit, KeepsBytesThatAreNoText) {
  const std::string latin("caf\xe9\0\xff one\n", 11);
  EXPECT_EQ(edited(latin, {{"one", "two"}}), std::string("caf\xe9\0\xff two\n", 11));
  EXPECT_THAT(problem(latin, {{"caf\xEF\xBF\xBD", "x"}}), HasSubstr("U+FFFD in old_text stands for bytes"));
}

TEST(TextEdit, KeepsQuotesAndBlanksOfOtherLines) {
  const std::string text = "\xE2\x80\x9Cquoted\xE2\x80\x9D  \n\xC2\xA0x\t\nchange me\n";
  EXPECT_EQ(edited(text, {{"change me", "changed"}}), "\xE2\x80\x9Cquoted\xE2\x80\x9D  \n\xC2\xA0x\t\nchanged\n");
}

TEST(TextEdit, StaysFastOnALargeFileWithoutAMatch) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "some line of an ordinary file " + std::to_string(i) + "\n";
  EXPECT_THAT(problem(text, {{"some line of an ordinary house", "x"}}), HasSubstr("nearest lines"));
}

TEST(TextEdit, StopsWhenAsked) {
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(test::code_of([&] { apply_edits("a\nb\n", {{"b", "c"}}, Stop(source.get_token())); }), "cancelled");
}

}  // namespace
}  // namespace forge::tools
