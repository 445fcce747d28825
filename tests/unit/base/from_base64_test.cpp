#include "orchestrator/base/from_base64.h"

#include <gtest/gtest.h>

#include "orchestrator/base/text.h"

namespace forge {
namespace {

TEST(FromBase64, IsTheWayBack) {
  for (const std::string& bytes :
       {std::string(), std::string("f"), std::string("fo"), std::string("foo"), std::string("foob"), std::string("\0\xff\x80 \n", 5)})
    EXPECT_EQ(from_base64(base64(bytes)), bytes);
}

TEST(FromBase64, TakesNothingElse) {
  for (const char* text : {"Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zm 9v", "Zg==Zg==", "Zm9*", "Zg=a"})
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace forge
