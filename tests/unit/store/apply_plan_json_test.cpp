#include "orchestrator/store/apply_plan_json.h"

#include "tests/unit/store/store_fixture.h"

namespace forge::store {
namespace {

using testing::StartsWith;

TEST(StoredPlan, NamesItsPartsAndHoldsBytesAsBase64) {
  const ApplyPlan plan{.hunks = {"h1"},
                       .suggestions = {{.comment = CommentId("c"), .path = "\xff", .start_line = 2, .end_line = 3, .text = "x\n"}},
                       .message = "m"};
  EXPECT_EQ(plan_to_json(plan), R"({"hunks":["h1"],"message":"m","push":true,"suggestions":[)"
                                R"({"comment":"c","end_line":3,"path":"/w==","start_line":2,"text":"eAo="}]})");
}

TEST(StoredPlan, ThatIsDamagedIsCorrupt) {
  EXPECT_EQ(plan_from_json(R"({"hunks":[],"message":"","push":true,"suggestions":[]})").message, "");
  const std::string no_base64 = R"({"hunks":[],"message":"","push":true,"suggestions":[)"
                                R"({"comment":"c","end_line":1,"path":"no base64","start_line":1,"text":""}]})";
  for (const std::string& text :
       {std::string("{"), std::string("{}"), std::string(R"({"hunks":[1],"message":"","push":true,"suggestions":[]})"),
        std::string(R"({"hunks":[],"message":"","push":1,"suggestions":[]})"),
        std::string(R"({"hunks":[],"message":"","push":true,"suggestions":[{}]})"), no_base64})
    EXPECT_THAT(error_of([&] { plan_from_json(text); }), StartsWith("corrupt")) << text;
}

}  // namespace
}  // namespace forge::store
