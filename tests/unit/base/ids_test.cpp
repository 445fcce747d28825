#include "orchestrator/base/ids.h"

#include <gtest/gtest.h>

#include <set>
#include <type_traits>

namespace forge {
namespace {

constexpr std::string_view kDigits = "0123456789abcdefghjkmnpqrstvwxyz";

/// The time in an id: the first 48 of 128 bits, which stand after two zero bits.
std::int64_t time_of(const std::string& id) {
  std::int64_t bits = 0;
  for (int i = 0; i < 10; ++i) bits = bits * 32 + static_cast<std::int64_t>(kDigits.find(id[static_cast<std::size_t>(i)]));
  return bits;
}

TEST(Ids, AreTwentySixCharactersOfTheAlphabet) {
  const std::string id = new_id_text(1'800'000'000'000);
  EXPECT_EQ(id.size(), 26u);
  EXPECT_TRUE(is_id_text(id)) << id;
}

TEST(Ids, CarryTheirTime) {
  // Ids never go back in time, so the test starts ahead of whatever the process has used.
  const std::int64_t ahead = time_of(new_id_text(0)) + 1'000'000;
  EXPECT_EQ(time_of(new_id_text(ahead)), ahead);
}

TEST(Ids, GrowAlsoWithinOneMillisecondAndWhenTheClockGoesBack) {
  std::string last = new_id_text(4'100'000'000'000);
  for (int i = 0; i < 10'000; ++i) {
    std::string next = new_id_text(i % 2 == 0 ? 4'100'000'000'000 : 3'000'000'000'000);
    ASSERT_LT(last, next) << i;
    last = std::move(next);
  }
}

TEST(Ids, DifferBeyondTheirTimeAndCounter) {
  std::set<std::string> tails;
  for (int i = 0; i < 100; ++i) tails.insert(new_id_text(4'200'000'000'000).substr(16));
  EXPECT_EQ(tails.size(), 100u);
}

TEST(Ids, AreRecognised) {
  EXPECT_TRUE(is_id_prefix("0123ab"));
  EXPECT_FALSE(is_id_prefix("0123a")) << "five characters are too few";
  EXPECT_FALSE(is_id_prefix("0123il")) << "i and l are not in the alphabet";
  EXPECT_FALSE(is_id_prefix("0123AB"));
  EXPECT_FALSE(is_id_prefix(std::string(27, '0')));
  EXPECT_FALSE(is_id_text("0123ab"));
}

TEST(Ids, OfDifferentThingsDoNotMix) {
  static_assert(!std::is_convertible_v<JobId, RunId>);
  static_assert(!std::is_convertible_v<std::string, JobId>);
  EXPECT_TRUE(JobId().empty());
  EXPECT_EQ(JobId("a"), JobId("a"));
  EXPECT_LT(JobId("a"), JobId("b"));
}

}  // namespace
}  // namespace forge
