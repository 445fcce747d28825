#include "orchestrator/base/numbers.h"

#include <gtest/gtest.h>

namespace forge {
namespace {

TEST(Numbers, AreGroupedForPeople) {
  EXPECT_EQ(grouped_digits(0), "0");
  EXPECT_EQ(grouped_digits(999), "999");
  EXPECT_EQ(grouped_digits(1000), "1,000");
  EXPECT_EQ(grouped_digits(-1234567), "-1,234,567");
}

TEST(Numbers, TakeTheirNounInThePluralUnlessTheyAreOne) {
  EXPECT_EQ(counted(0, "file"), "0 files");
  EXPECT_EQ(counted(1, "file"), "1 file");
  EXPECT_EQ(counted(1234U, "more line"), "1,234 more lines");
}

}  // namespace
}  // namespace forge
