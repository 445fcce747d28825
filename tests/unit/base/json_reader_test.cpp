#include "orchestrator/base/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/errors.h"

namespace forge {
namespace {

using nlohmann::json;
using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// "field: message" of the error that `body` throws.
template <typename Body>
std::string complaint(Body&& body) {
  const auto error = error_of(std::forward<Body>(body));
  if (!error) return {};
  EXPECT_EQ(error->code(), ErrorCode::invalid_argument);
  return error->what();
}

TEST(AJsonReader, ReadsEveryKindOfField) {
  const json object = {{"text", "t"},        {"count", 5},      {"share", 0.5},      {"flag", true},
                       {"list", {"a", "b"}}, {"null", nullptr}, {"deep", {{"x", 1}}}};
  JsonReader reader(object);
  EXPECT_EQ(reader.text("text"), "t");
  EXPECT_EQ(reader.integer("count", 1, 5), 5);
  EXPECT_EQ(reader.optional_number("share"), 0.5);
  EXPECT_EQ(reader.optional_flag("flag"), true);
  EXPECT_THAT(reader.texts("list", 2), ElementsAre("a", "b"));
  EXPECT_EQ(reader.optional_text("null"), std::nullopt);
  EXPECT_EQ(reader.optional_integer("absent", 0, 1), std::nullopt);
  EXPECT_EQ(reader.optional_flag("absent"), std::nullopt);
  EXPECT_EQ(reader.optional_number("absent"), std::nullopt);
  EXPECT_THAT(reader.texts("absent", 2), IsEmpty());
  ASSERT_NE(reader.find("deep"), nullptr);
  EXPECT_EQ(JsonReader(*reader.find("deep"), reader.path_of("deep")).integer("x", 0, 9), 1);
  reader.finish();
}

TEST(AJsonReader, SaysWhereWhatWasExpectedAndFound) {
  const json object = {{"turns", "many"}, {"name", 5}, {"flag", 1}, {"list", {"a", 1}}, {"ratio", 1.5}, {"number", false}};
  JsonReader reader(object, "limits");
  EXPECT_EQ(complaint([&] { reader.integer("turns", 1, 9); }), "limits.turns: expected an integer from 1 to 9, found a string");
  EXPECT_EQ(complaint([&] { reader.text("name"); }), "limits.name: expected a string, found an integer");
  EXPECT_EQ(complaint([&] { reader.text("none"); }), "limits.none: expected a string, found nothing");
  EXPECT_EQ(complaint([&] { reader.integer("none", 0, 1); }), "limits.none: expected an integer from 0 to 1, found nothing");
  EXPECT_EQ(complaint([&] { reader.optional_flag("flag"); }), "limits.flag: expected true or false, found an integer");
  EXPECT_EQ(complaint([&] { reader.texts("list", 5); }), "limits.list[1]: expected a string, found an integer");
  EXPECT_EQ(complaint([&] { reader.texts("list", 1); }), "limits.list: expected at most 1 items, found 2");
  EXPECT_EQ(complaint([&] { reader.texts("name", 1); }), "limits.name: expected an array of strings, found an integer");
  EXPECT_EQ(complaint([&] { reader.optional_integer("ratio", 0, 9); }),
            "limits.ratio: expected an integer from 0 to 9, found a number with a fraction");
  EXPECT_EQ(complaint([&] { reader.optional_number("number"); }), "limits.number: expected a number, found a boolean");
  EXPECT_EQ(complaint([] { JsonReader(json::array(), "task"); }), "task: expected an object, found an array");
}

TEST(AJsonReader, HoldsTheRangeAtBothEnds) {
  const json object = {{"n", 5}, {"huge", 18446744073709551615ULL}, {"low", -1}};
  JsonReader reader(object);
  EXPECT_EQ(reader.integer("n", 5, 5), 5);
  EXPECT_EQ(complaint([&] { reader.integer("n", 6, 9); }), "n: expected an integer from 6 to 9, found 5");
  EXPECT_EQ(complaint([&] { reader.integer("n", 1, 4); }), "n: expected an integer from 1 to 4, found 5");
  EXPECT_THAT(complaint([&] { reader.integer("huge", INT64_MIN, INT64_MAX); }), HasSubstr("found 18446744073709551615"));
  EXPECT_THAT(complaint([&] { reader.integer("low", 0, 1); }), HasSubstr("found -1"));
}

TEST(AJsonReader, RefusesUnknownFieldsAndNamesTheNearest) {
  const json object = {{"max_turn", 5}};
  JsonReader reader(object, "limits");
  reader.optional_integer("max_turns", 1, 9);
  const auto error = error_of([&] { reader.finish(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->field(), "limits.max_turn");
  EXPECT_EQ(error->client_text(), "unknown field");
  EXPECT_EQ(error->hint(), "did you mean 'max_turns'?");
}

TEST(AJsonReader, DoesNotGuessFarAway) {
  const json object = {{"zebra", 5}};
  JsonReader reader(object);
  reader.optional_text("task");
  EXPECT_EQ(error_of([&] { reader.finish(); })->hint(), "");
}

TEST(StrictJson, IsParsed) {
  EXPECT_EQ(parse_json(R"({"a": [1, {"a": null}], "b": "\u00e4"})", "body"), json({{"a", {1, {{"a", nullptr}}}}, {"b", "\xc3\xa4"}}));
  EXPECT_EQ(parse_json("5", "body"), json(5));
}

TEST(StrictJson, IsRefusedWithThePlace) {
  EXPECT_EQ(complaint([] { parse_json(R"({"a": })", "the body"); }), "the body is not valid JSON (byte 7)");
  EXPECT_EQ(complaint([] { parse_json("", "the body"); }), "the body is empty where JSON was expected");
  EXPECT_EQ(complaint([] { parse_json("{} x", "the body"); }), "the body is not valid JSON (byte 4)");
  for (const char* text : {"{\"a\": 1,}", "// note\n{}", "{'a': 1}", "[NaN]", "\"\xff\"", "[1e999]", "{\"a\": 01}"})
    EXPECT_THAT(complaint([&] { parse_json(text, "it"); }), HasSubstr("it is not valid JSON")) << text;
}

TEST(StrictJson, HasEachKeyOnce) {
  EXPECT_EQ(complaint([] { parse_json(R"({"a": 1, "b": {"a": 1}, "a": 2})", "it"); }), "it has the key 'a' twice in one object");
  EXPECT_EQ(complaint([] { parse_json(R"([{"a": 1, "\u0061": 2}])", "it"); }), "it has the key 'a' twice in one object");
}

TEST(StrictJson, IsSixtyFourLevelsDeepAndNotMore) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(64), "it").is_array());
  EXPECT_EQ(complaint([&] { parse_json(nested(65), "it"); }), "it is nested deeper than 64 levels");
  EXPECT_EQ(complaint([] { parse_json(std::string(1'000'000, '['), "it"); }), "it is nested deeper than 64 levels");
}

TEST(WrittenJson, IsCompactAndAlwaysUtf8) {
  EXPECT_EQ(dump_json({{"a", {1, "x"}}}), R"({"a":[1,"x"]})");
  EXPECT_EQ(dump_json("a\xff"), "\"a\xEF\xBF\xBD\"");
}

std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(LenientJson, IsReadUpToADepthThatTheStackBears) {
  EXPECT_EQ(parse_leniently(R"({"a":1,"a":2})"), (json{{"a", 2}}));
  EXPECT_TRUE(parse_leniently("{").is_null());
  EXPECT_FALSE(parse_leniently(nested(kMaxLenientDepth)).is_null());
  EXPECT_TRUE(parse_leniently(nested(kMaxLenientDepth + 1)).is_null());
  EXPECT_TRUE(parse_leniently(nested(4'000'000)).is_null());
}

TEST(Nesting, IsCountedInBracketsOutsideOfStrings) {
  EXPECT_FALSE(nested_deeper_than(R"({"[[[":"\"[[[\\","b":[]})", 2));
  EXPECT_TRUE(nested_deeper_than(R"({"[[[":"\"[[[\\","b":[[]]})", 2));
  EXPECT_FALSE(nested_deeper_than("[][][]]]]{}", 1));
  EXPECT_FALSE(nested_deeper_than(R"("[[[)", 0));
  EXPECT_FALSE(nested_deeper_than("\"\\", 0));
}

}  // namespace
}  // namespace forge
