#include "orchestrator/sandbox/local/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/sandbox/local/capture.h"

namespace forge::sandbox::local {
namespace {

TEST(Wire, CarriesAnyBytes) {
  const std::vector<std::string> fields{"", std::string("a\0b", 3), "\xff\n", std::string(100'000, 'x')};
  const auto packet = unpack(pack(message::kRun, fields));
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->type, message::kRun);
  EXPECT_EQ(packet->fields, fields);
}

TEST(Wire, BelievesNoLengthThatLies) {
  EXPECT_FALSE(unpack(""));
  EXPECT_TRUE(unpack("K"));
  EXPECT_FALSE(unpack(std::string("X\x01\x00", 3)));
  EXPECT_FALSE(
      unpack(std::string("X\xff\xff\xff\xff"
                         "abc",
                         8)));
  EXPECT_FALSE(unpack(pack('X', {"whole"}).substr(0, 8)));
}

TEST(Wire, TakesOnlyWholeNumbers) {
  EXPECT_EQ(number_in("-12"), -12);
  EXPECT_EQ(number_in("0"), 0);
  for (const char* bad : {"", "1x", " 1", "x", "99999999999999999999"}) EXPECT_FALSE(number_in(bad)) << bad;
}

TEST(Capture, KeepsAShortStreamWhole) {
  Capture capture(10);
  capture.add("12345");
  capture.add("67890");
  EXPECT_FALSE(capture.cut());
  const Captured captured = std::move(capture).take();
  EXPECT_EQ(captured.head, "1234567890");
  EXPECT_EQ(captured.tail, "");
  EXPECT_EQ(captured.cut_bytes, 0);
}

TEST(Capture, CutsTheMiddleOneByteAboveTheLimit) {
  Capture capture(10);
  capture.add("1234567890");
  capture.add("A");
  EXPECT_TRUE(capture.cut());
  const Captured captured = std::move(capture).take();
  EXPECT_EQ(captured.head, "12");
  EXPECT_EQ(captured.tail, "4567890A");
  EXPECT_EQ(captured.bytes, 11);
  EXPECT_EQ(captured.cut_bytes, 1);
  EXPECT_EQ(captured.text(), "12\n[... 1 bytes left out ...]\n4567890A");
}

TEST(Capture, TakesPiecesOfAnySize) {
  std::string whole;
  for (int i = 0; i < 5000; ++i) whole += std::to_string(i);
  for (const std::size_t size : {1U, 7U, 99U, 4000U, 100'000U}) {
    Capture capture(100);
    for (std::size_t at = 0; at < whole.size(); at += size) capture.add(std::string_view(whole).substr(at, size));
    const Captured captured = std::move(capture).take();
    EXPECT_EQ(captured.head, whole.substr(0, 20));
    EXPECT_EQ(captured.tail, whole.substr(whole.size() - 80));
    EXPECT_EQ(captured.cut_bytes, static_cast<std::int64_t>(whole.size()) - 100);
  }
}

TEST(Capture, OfNothingKeepsNothing) {
  Capture capture(0);
  capture.add("abc");
  EXPECT_EQ(std::move(capture).take().cut_bytes, 3);
}

}  // namespace
}  // namespace forge::sandbox::local
