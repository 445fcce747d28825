#include "tools/occurrences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/support/errors.h"

namespace forge::tools {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::string_view_literals;

TEST(Occurrences, AreFoundAlsoWhereTheyOverlap) {
  EXPECT_THAT(occurrences("aaaa"sv, "aa"sv, {}), ElementsAre(0, 1, 2));
  EXPECT_THAT(occurrences("abababcab"sv, "ababc"sv, {}), ElementsAre(2));
  EXPECT_THAT(occurrences("aabaaabaaac"sv, "aabaaac"sv, {}), ElementsAre(4));
  EXPECT_THAT(occurrences("abc"sv, "abcd"sv, {}), IsEmpty());
  EXPECT_THAT(occurrences(""sv, "a"sv, {}), IsEmpty());
}

TEST(Occurrences, AreThoseThatAPlainSearchFinds) {
  // All texts of 10 letters and all wanted ones of 1 to 4, of an alphabet of two.
  for (unsigned bits = 0; bits < 1U << 10; ++bits) {
    std::string text;
    for (unsigned i = 0; i < 10; ++i) text += (bits >> i & 1U) != 0 ? 'a' : 'b';
    for (unsigned size = 1; size <= 4; ++size) {
      const std::string wanted = text.substr(bits % 7, size);
      std::vector<std::size_t> plain;
      for (auto at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) plain.push_back(at);
      ASSERT_EQ(occurrences(text, wanted, {}), plain) << text << " " << wanted;
    }
  }
}

struct Counted {
  int value = 0;
  long* compared = nullptr;
  friend bool operator==(const Counted& a, const Counted& b) {
    ++*a.compared;
    return a.value == b.value;
  }
};

TEST(Occurrences, CostAFewComparisonsPerElementWhateverTheTextHolds) {
  long compared = 0;
  const std::vector<Counted> text(20'000, {.value = 1, .compared = &compared});
  std::vector<Counted> wanted(10'000, {.value = 1, .compared = &compared});
  EXPECT_EQ(occurrences(text, wanted, {}).size(), 10'001U);
  wanted.back().value = 2;
  EXPECT_THAT(occurrences(text, wanted, {}), IsEmpty());
  EXPECT_LE(compared, 2 * 3 * 30'000) << "two searches";
}

TEST(Occurrences, StopWhenAsked) {
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(test::code_of([&] { occurrences("aaaa"sv, "b"sv, Stop(source.get_token())); }), "cancelled");
}

}  // namespace
}  // namespace forge::tools
