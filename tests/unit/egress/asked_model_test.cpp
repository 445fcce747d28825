#include "orchestrator/egress/asked_model.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace forge::egress {
namespace {

TEST(AskedModel, IsFoundAmongTheOutermostMembersOnly) {
  for (const char* body :
       {R"({"model":"m"})", R"( { "a" : {"model": "no"}, "b": [{"model": "no"}], "model" : "m" } )",
        R"({"text": "\"model\": \"no\" } ]", "model":"m","z":-1.5e3})", R"({"mod\u0065l": "\u006d", "z": null})", "{\"model\": \"m\"}\r\n"})
    EXPECT_EQ(find_model(body).name, "m") << body;
}

TEST(AskedModel, IsReplacedAndNothingElse) {
  const std::string body = R"({ "a" : 1.50,"model" :  "m" , "model_x":"m"})";
  EXPECT_EQ(with_model(body, find_model(body), R"(new "one")"), R"({ "a" : 1.50,"model" :  "new \"one\"" , "model_x":"m"})");
}

// Two readers of one text must find one model: the provider would otherwise answer for another one than was allowed.
TEST(AskedModel, IsRefusedWhereParsersCouldDiffer) {
  for (const char* body : {"",
                           "[]",
                           "null",
                           "{}",
                           R"({"model":"a","model":"b"})",
                           R"({"model":"a","mod\u0065l":"b"})",
                           R"({"model":"a","Model":"b"})",
                           R"({"MODEL":"b","model":"a"})",
                           R"({"model":1})",
                           R"({"model":{"a":"b"}})",
                           R"({"model":"a"} {"model":"b"})",
                           R"({"model":"a")",
                           R"({model:"b","model":"a"})",
                           R"({'model':"b","model":"a"})",
                           R"({"model":"a",,})",
                           R"({"a":1 "model":"a"})",
                           R"({"model":"a" "b"})",
                           "{\"model\":\"a\\",
                           "\xEF\xBB\xBF{\"model\":\"a\"}",
                           R"({/*"model":"b",*/"model":"a"})",
                           R"({"a":]],"model":"b"})",
                           R"({"model":"a\x"})"})
    EXPECT_EQ(test::code_of([&] { find_model(body); }), "invalid_argument") << body;
}

}  // namespace
}  // namespace forge::egress
