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

TEST(MostOutputTokens, AreThoseOfTheNamesThatCountOnThePath) {
  const std::string body = R"({"model": "m", "max_tokens": 5 , "max_output_tokens": 7, "x": {"max_tokens": 9}})";
  EXPECT_EQ(most_output_tokens(body, DoorPath::messages), 5);
  EXPECT_EQ(most_output_tokens(body, DoorPath::chat_completions), 5);
  EXPECT_EQ(most_output_tokens(body, DoorPath::responses), 7);
  EXPECT_EQ(most_output_tokens(R"({"model": "m"})", DoorPath::messages), std::nullopt);
}

// A reservation that is too small would let more pass than the budget.
TEST(MostOutputTokens, AreNeverTooFew) {
  for (const char* body : {R"({"max_tokens": 1, "max_completion_tokens": 30})", R"({"max_tokens": 30, "max_tokens": 1})",
                           R"({"max_tokens": 1, "Max_Tokens": 30})", R"({"max_tokens": 10, "n": 3})",
                           R"({"n": 3, "max_tokens": 10, "n": 1})", R"({"max_completion_tokens": null, "max_tokens": 30})"})
    EXPECT_EQ(most_output_tokens(body, DoorPath::chat_completions), 30) << body;
  for (const char* body : {R"({"max_tokens": 1e5})", R"({"max_tokens": "9"})", R"({"max_tokens": -1})", R"({"max_tokens": 1, "n": 1e2})",
                           R"({"max_tokens": 1000000001})", R"({"max_tokens": 99999999999999999999})", R"({"max_tokens": null})"})
    EXPECT_EQ(most_output_tokens(body, DoorPath::chat_completions), std::nullopt) << body;
  EXPECT_EQ(most_output_tokens(R"({"max_tokens": 1000000000, "n": 1000000000})", DoorPath::chat_completions), 1'000'000'000'000'000'000);
}

}  // namespace
}  // namespace forge::egress
