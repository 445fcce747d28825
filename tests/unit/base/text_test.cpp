#include "orchestrator/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Utf8Case {
  std::string_view bytes;
  std::string_view text;  // with '?' for U+FFFD
};

std::string with_marks(std::string text) {
  for (auto at = text.find("\xEF\xBF\xBD"); at != std::string::npos; at = text.find("\xEF\xBF\xBD")) text.replace(at, 3, "?");
  return text;
}

TEST(CleanTexts, ReplaceEachBrokenSequenceOnce) {
  const Utf8Case cases[] = {
      {"plain", "plain"},
      {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"a\xff"
       "b",
       "a?b"},
      {"\x80\x80", "??"},            // tails without a lead
      {"\xc0\xaf", "??"},            // overlong
      {"\xe0\x80\xaf", "???"},       // overlong
      {"\xed\xa0\x80", "???"},       // a surrogate
      {"\xf4\x90\x80\x80", "????"},  // above U+10FFFF
      {"\xf5", "?"},                 // no lead at all
      {"\xe2\x82", "?"},             // cut off at the end: one sequence
      {"\xf0\x9f\x98x", "?x"},       // cut off in the middle
      {"\xe2\x82\xe2\x82\xac", "?\xe2\x82\xac"},
      {std::string_view("a\0b", 3), "a?b"},
  };
  for (const auto& [bytes, text] : cases) {
    const CleanText clean = to_utf8(bytes);
    EXPECT_EQ(with_marks(clean.text), text);
    EXPECT_EQ(clean.replaced, static_cast<std::size_t>(std::count(text.begin(), text.end(), '?')));
    EXPECT_TRUE(is_utf8(clean.text));
    EXPECT_EQ(is_utf8(bytes), clean.replaced == 0 || bytes.find('\0') != std::string_view::npos) << text;
  }
}

TEST(Harmless, ShowsControlCharactersInsteadOfObeyingThem) {
  EXPECT_EQ(harmless("plain\ttext\nünï"), "plain\ttext\nünï");
  EXPECT_EQ(harmless("\x1b[31m"), "^[[31m");
  EXPECT_EQ(harmless("a\rb\r\nc"), "a^Mb\nc");
  EXPECT_EQ(harmless(std::string("\0\x7f", 2)), "\xef\xbf\xbd^?");
  EXPECT_EQ(harmless("\xc2\x9b"
                     "31m"),
            "?31m")
      << "the 8-bit form of ESC [";
  EXPECT_EQ(harmless("\xff"), "\xef\xbf\xbd");
}

TEST(Harmless, ShowsTextInTheOrderInWhichItStands) {
  EXPECT_EQ(harmless("if (\u202e eman \u2066x\u2069) \u202a\u202b\u202c\u202d\u2067\u2068"), "if (? eman ?x?) ??????");
  EXPECT_EQ(harmless("\u2026 \u202f\u2065 \u05d0"), "\u2026 \u202f\u2065 \u05d0");
}

TEST(CuttingTheMiddle, LeavesAloneWhatFits) {
  const HeadTail whole = cut_middle("a\nb\n", 4, 2, 20);
  EXPECT_EQ(whole.head, "a\nb\n");
  EXPECT_EQ(whole.tail, "");
  EXPECT_EQ(whole.cut_bytes, 0u);
  EXPECT_EQ(whole.cut_lines, 0u);
}

TEST(CuttingTheMiddle, KeepsWholeLinesOnBothSides) {
  const HeadTail cut = cut_middle("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", 1000, 5, 40);
  EXPECT_EQ(cut.head, "1\n2\n");
  EXPECT_EQ(cut.tail, "8\n9\n10\n");
  EXPECT_EQ(cut.cut_lines, 5u);
  EXPECT_EQ(cut.cut_bytes, 10u);
}

TEST(CuttingTheMiddle, HoldsTheByteLimitAtLineBorders) {
  const HeadTail cut = cut_middle("aaaa\nbbbb\ncccc\ndddd\n", 13, 100, 50);
  EXPECT_EQ(cut.head, "aaaa\n");
  EXPECT_EQ(cut.tail, "dddd\n");
  EXPECT_EQ(cut.cut_lines, 2u);
}

TEST(CuttingTheMiddle, CutsInsideALineThatIsTooLong) {
  const HeadTail cut = cut_middle(std::string(50, 'a') + std::string(50, 'b'), 10, 100, 20);
  EXPECT_EQ(cut.head, "aa");
  EXPECT_EQ(cut.tail, "bbbbbbbb");
  EXPECT_EQ(cut.cut_bytes, 90u);
  EXPECT_EQ(cut.cut_lines, 1u);
}

TEST(CuttingTheMiddle, NeverCutsInsideACharacter) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\xe2\x82\xac";
  for (std::size_t bytes = 0; bytes < 30; ++bytes) {
    const HeadTail cut = cut_middle(text, bytes, 100, 50);
    EXPECT_TRUE(is_utf8(cut.head) && is_utf8(cut.tail)) << bytes;
    EXPECT_LE(cut.head.size() + cut.tail.size(), bytes);
    EXPECT_EQ(cut.head.size() + cut.tail.size() + cut.cut_bytes, text.size());
  }
}

TEST(CuttingTheMiddle, NeitherLosesNorRepeatsABytes) {
  const std::string text = "one\n\n\nfour\nfive is longer\nsix\n\n\xc3\xa4\n" + std::string(40, 'x') + "\nlast";
  for (std::size_t bytes = 0; bytes <= text.size(); ++bytes) {
    for (std::size_t lines = 0; lines < 12; ++lines) {
      for (const int share : {0, 20, 50, 100}) {
        const HeadTail cut = cut_middle(text, bytes, lines, share);
        ASSERT_EQ(cut.head.size() + cut.cut_bytes + cut.tail.size(), text.size());
        ASSERT_TRUE(text.starts_with(cut.head) && text.ends_with(cut.tail));
        ASSERT_LE(cut.head.size() + cut.tail.size(), bytes);
        ASSERT_LE(split_lines(cut.head).size() + split_lines(cut.tail).size(), lines);
      }
    }
  }
}

TEST(CuttingTheMiddle, KeepsOnlyTheEndWhenTheHeadHasNoShare) {
  const HeadTail cut = cut_middle("1\n2\n3\n", 100, 1, 0);
  EXPECT_EQ(cut.head, "");
  EXPECT_EQ(cut.tail, "3\n");
}

template <typename Text>
concept Splittable = requires(Text text) {
  split_lines(std::forward<Text>(text));
};
static_assert(Splittable<const std::string&>);
static_assert(Splittable<std::string_view>);
static_assert(!Splittable<std::string>, "the lines of a temporary would be dead before the first is read");

TEST(Splitting, TakesLines) {
  EXPECT_THAT(split_lines("a\n\nb"), ElementsAre("a", "", "b"));
  EXPECT_THAT(split_lines("a\n"), ElementsAre("a"));
  EXPECT_THAT(split_lines("\n"), ElementsAre(""));
  EXPECT_THAT(split_lines(""), IsEmpty());
}

TEST(Splitting, KeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), IsEmpty());
}

TEST(Texts, AreTrimmedAndLowered) {
  EXPECT_EQ(trim(" \t\r\n a b \n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(lower_ascii("AbC-\xc3\x84"), "abc-\xc3\x84") << "only ASCII";
}

TEST(Numbers, AreWrittenForPeople) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1.0 KiB");
  EXPECT_EQ(human_bytes(1258291), "1.2 MiB");
  EXPECT_EQ(human_bytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(human_bytes(static_cast<std::size_t>(-1)), "16384.0 PiB");
  EXPECT_EQ(human_duration_ms(230), "230 ms");
  EXPECT_EQ(human_duration_ms(12'345), "12.3 s");
  EXPECT_EQ(human_duration_ms(59'999), "59.9 s");
  EXPECT_EQ(human_duration_ms(245'000), "4 min 5 s");
  EXPECT_EQ(human_duration_ms(7'380'000), "2 h 3 min");
}

TEST(Encodings, MatchTheirStandards) {
  const std::pair<std::string_view, std::string_view> rfc4648[] = {{"", ""},
                                                                   {"f", "Zg=="},
                                                                   {"fo", "Zm8="},
                                                                   {"foo", "Zm9v"},
                                                                   {"foob", "Zm9vYg=="},
                                                                   {"fooba", "Zm9vYmE="},
                                                                   {"foobar", "Zm9vYmFy"},
                                                                   {"\xff\xfe\xfd", "//79"}};
  for (const auto& [bytes, text] : rfc4648) EXPECT_EQ(base64(bytes), text);
  EXPECT_EQ(hex(std::string_view("\x00\x9f\xff", 3)), "009fff");
}

TEST(TheNearestWord, IsFoundWithinAThirdOfTheLength) {
  const std::vector<std::string> known{"repository", "max_turns", "task"};
  EXPECT_EQ(nearest("repositry", known), "repository");
  EXPECT_EQ(nearest("max_turn", known), "max_turns");
  EXPECT_EQ(nearest("tusk", known), "task");
  EXPECT_EQ(nearest("tosh", known), "") << "two edits in four letters";
  EXPECT_EQ(nearest("zebra", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest("task", known), "task");
}

// Comparing it letter by letter would take longer than a test may: a request's field may be as long as its body.
TEST(TheNearestWord, OfAnEndlessWordIsFoundMissingAtOnce) {
  const std::vector<std::string> known(64, std::string(60, 'k'));
  EXPECT_EQ(nearest(std::string(64 << 20, 'k'), known), "");
}

}  // namespace
}  // namespace forge
