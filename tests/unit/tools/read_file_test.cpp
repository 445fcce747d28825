#include "tools/read_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tools/tool_call.h"
#include "tools/excerpt.h"
#include "tools/workspace_file.h"

namespace forge::tools {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ReadFile, ShowsASmallFileAsItIs) {
  Bench bench;
  bench.put("src/a.txt", "one\n  two\nthree");
  for (const char* path : {"src/a.txt", "/workspace/src/a.txt", "./src/../src/a.txt"}) {
    const ToolOutcome outcome = bench.call("read_file", {{"path", path}});
    EXPECT_TRUE(outcome.ok);
    EXPECT_EQ(outcome.text, "one\n  two\nthree");
    EXPECT_EQ(outcome.bytes, 15);
    EXPECT_FALSE(outcome.truncated);
  }
}

TEST(ReadFile, ShowsTheLimitOfLinesAndNamesTheNextOffsetAboveIt) {
  Bench bench;
  bench.put("at", numbered_lines(2000));
  EXPECT_EQ(bench.call("read_file", {{"path", "at"}}).text, numbered_lines(2000));
  bench.put("above", numbered_lines(2001));
  const ToolOutcome outcome = bench.call("read_file", {{"path", "above"}});
  EXPECT_TRUE(outcome.truncated);
  EXPECT_EQ(outcome.text, numbered_lines(2000) + "[lines 1-2000 of 2001; go on with offset 2001]\n");
  EXPECT_EQ(bench.call("read_file", {{"path", "above"}, {"offset", 2001}}).text, "2001\n[lines 2001-2001 of 2001]\n");
}

TEST(ReadFile, ShowsTheLimitOfBytesAndStopsBeforeTheLineAboveIt) {
  Bench bench;
  const std::string line = std::string(1023, 'x') + "\n";
  std::string fits;
  for (std::size_t i = 0; i < kMaxShownBytes / 1024; ++i) fits += line;
  bench.put("at", fits);
  EXPECT_EQ(bench.call("read_file", {{"path", "at"}}).text, fits);
  bench.put("above", fits + "y");
  EXPECT_EQ(bench.call("read_file", {{"path", "above"}}).text, fits + "[lines 1-50 of 51; go on with offset 51]\n");
}

TEST(ReadFile, SaysHowToSliceALineThatIsTooLong) {
  Bench bench;
  bench.put("it's", std::string(kMaxShownBytes, 'x'));
  EXPECT_TRUE(bench.call("read_file", {{"path", "it's"}}).ok);
  bench.put("it's", std::string(kMaxShownBytes, 'x') + "\n");
  const ToolOutcome outcome = bench.call("read_file", {{"path", "it's"}});
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.text, HasSubstr("Line 1 alone"));
  EXPECT_THAT(outcome.text, HasSubstr(R"(sed -n 1p 'it'\''s' | cut -c 1-2000)"));
  EXPECT_TRUE(bench.call("bash", {{"command", outcome.text.substr(outcome.text.find("sed"))}}).ok);
}

TEST(ReadFile, TakesOffsetAndLimit) {
  Bench bench;
  bench.put("a", numbered_lines(10));
  EXPECT_EQ(bench.call("read_file", {{"path", "a"}, {"offset", 4}, {"limit", 2}}).text, "4\n5\n[lines 4-5 of 10; go on with offset 6]\n");
  EXPECT_EQ(bench.call("read_file", {{"path", "a"}, {"limit", 1}}).text, "1\n[lines 1-1 of 10; go on with offset 2]\n");
}

TEST(ReadFile, SaysHowManyLinesThereAreWhenTheOffsetIsPastTheEnd) {
  Bench bench;
  bench.put("a", "1\n2\n");
  EXPECT_TRUE(bench.call("read_file", {{"path", "a"}, {"offset", 2}}).ok);
  const ToolOutcome outcome = bench.call("read_file", {{"path", "a"}, {"offset", 3}});
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.text, "'a' has 2 lines: there is no line 3.");
}

TEST(ReadFile, ShowsAnEmptyFileAsEmpty) {
  Bench bench;
  bench.put("a", "");
  EXPECT_EQ(bench.call("read_file", {{"path", "a"}}).text, "(an empty file)");
}

TEST(ReadFile, DoesNotShowBinaryFiles) {
  Bench bench;
  bench.put("nul", std::string("text\0text", 9));
  EXPECT_THAT(bench.call("read_file", {{"path", "nul"}}).text, HasSubstr("a binary file of 9 bytes"));
  bench.put("noise", "\xff\xfe\xfd\xfc text");
  EXPECT_THAT(bench.call("read_file", {{"path", "noise"}}).text, HasSubstr("a binary file of 9 bytes"));
}

TEST(ReadFile, ShowsLatin1WithReplacementsAndSaysSo) {
  Bench bench;
  bench.put("latin", "caf\xe9 and much more text around it\n");
  EXPECT_EQ(bench.call("read_file", {{"path", "latin"}}).text,
            "caf\xEF\xBF\xBD and much more text around it\n[1 bytes are not UTF-8 text and are shown as \xEF\xBF\xBD]\n");
}

TEST(ReadFile, ShowsWindowsLinesAsLinesAndDropsTheByteOrderMark) {
  Bench bench;
  bench.put("dos", "\xEF\xBB\xBFone\r\ntwo");
  EXPECT_EQ(bench.call("read_file", {{"path", "dos"}}).text, "one\ntwo\n[lines of this file end in CRLF; edit_file takes care of that]\n");
}

TEST(ReadFile, SaysWhatIsWrongWithAPath) {
  Bench bench;
  bench.call("bash", {{"command", "mkdir d"}});
  EXPECT_THAT(bench.call("read_file", {{"path", "none"}}).text, StartsWith("There is no file 'none'"));
  EXPECT_THAT(bench.call("read_file", {{"path", "d"}}).text, HasSubstr("not a regular file"));
  EXPECT_THAT(bench.call("read_file", {{"path", std::string(kMaxPathBytes + 1, 'x')}}).text, HasSubstr("longer than 4096"));
  EXPECT_THAT(bench.call("read_file", {{"path", std::string("a\0b", 3)}}).text, HasSubstr("NUL"));
}

TEST(ReadFile, SaysHowToReadAFileThatIsTooLarge) {
  Bench bench;
  bench.call("bash", {{"command", "yes 123456789abcdef | head -c 10485760 > at; (cat at; echo) > above"}});
  EXPECT_TRUE(bench.call("read_file", {{"path", "at"}}).ok);
  EXPECT_THAT(bench.call("read_file", {{"path", "above"}}).text, HasSubstr("larger than 10485760 bytes: take a part of it"));
}

TEST(ReadFile, EndsTheRunWhenTheSandboxIsGone) {
  Bench bench;
  bench.sandbox.failures.read_file = ErrorCode::unavailable;
  EXPECT_THROW(bench.call("read_file", {{"path", "a"}}), Error);
}

TEST(WriteFile, MakesParentsAndReportsBytes) {
  Bench bench;
  const ToolOutcome outcome = bench.call("write_file", {{"path", "a/b/c.txt"}, {"content", "héllo\n"}});
  EXPECT_TRUE(outcome.ok);
  EXPECT_EQ(outcome.text, "Wrote 7 bytes to a/b/c.txt.");
  EXPECT_EQ(bench.get("a/b/c.txt"), "héllo\n");
  bench.call("write_file", {{"path", "/workspace/a/b/c.txt"}, {"content", ""}});
  EXPECT_EQ(bench.get("a/b/c.txt"), "");
}

TEST(WriteFile, RefusesOneByteAboveTheLimit) {
  Bench bench;
  std::string content(kMaxFileBytes, 'x');
  EXPECT_TRUE(bench.call("write_file", {{"path", "a"}, {"content", content}}).ok);
  content += 'x';
  EXPECT_FALSE(bench.call("write_file", {{"path", "b"}, {"content", content}}).ok);
}

TEST(WriteFile, SaysWhatStandsInTheWay) {
  Bench bench;
  bench.call("bash", {{"command", "mkdir d"}});
  EXPECT_THAT(bench.call("write_file", {{"path", "d"}, {"content", ""}}).text, HasSubstr("not a regular file"));
  EXPECT_THAT(bench.call("write_file", {{"path", "/etc/passwd"}, {"content", ""}}).text, HasSubstr("may not be read or written"));
}

}  // namespace
}  // namespace forge::tools
