#include "orchestrator/schema/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"

namespace forge::schema {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kEdits = R"({
  "type": "object", "additionalProperties": false, "required": ["path", "edits"],
  "properties": {
    "path": {"type": "string", "minLength": 1},
    "mode": {"enum": ["fast", "exact"]},
    "depth": {"type": "integer", "minimum": 1, "maximum": 3},
    "edits": {"type": "array", "minItems": 1, "items": {
      "type": "object", "additionalProperties": false, "required": ["old_text"],
      "properties": {"old_text": {"type": "string"}, "new_text": {"type": ["string", "null"]}}}}
  }})";

std::vector<std::string> errors_of(const char* value) { return Schema::compile(kEdits).errors(json::parse(value)); }

TEST(Schema, AcceptsWhatFits) {
  EXPECT_THAT(errors_of(R"({"path": "a", "mode": "fast", "depth": 3, "edits": [{"old_text": "x", "new_text": null}]})"), IsEmpty());
}

TEST(Schema, NamesAMissingField) {
  EXPECT_THAT(errors_of(R"({"edits": [{"old_text": "x"}]})"), ElementsAre("path: is missing"));
  EXPECT_THAT(errors_of(R"({"path": "a", "edits": [{"old_text": "x"}, {}]})"), ElementsAre("edits[1].old_text: is missing"));
}

TEST(Schema, SaysWhatTypeWasExpectedAndFound) {
  EXPECT_THAT(errors_of(R"({"path": 7, "edits": [{"old_text": "x"}]})"), ElementsAre("path: expected string, found integer"));
  EXPECT_THAT(errors_of(R"({"path": "a", "edits": [{"old_text": "x", "new_text": []}]})"),
              ElementsAre("edits[0].new_text: expected string, null, found array"));
  EXPECT_THAT(errors_of(R"([])"), ElementsAre("expected object, found array"));
  EXPECT_THAT(errors_of(R"({"path": "a", "depth": 1.5, "edits": [{"old_text": "x"}]})"),
              ElementsAre("depth: expected integer, found number"));
}

TEST(Schema, NamesAnUnknownFieldAndTheNearestKnownOne) {
  EXPECT_THAT(errors_of(R"({"path": "a", "edits": [{"old_text": "x", "new_txt": ""}]})"),
              ElementsAre("edits[0].new_txt: unknown field, did you mean 'new_text'?"));
  EXPECT_THAT(errors_of(R"({"path": "a", "zzz": 1, "edits": [{"old_text": "x"}]})"),
              ElementsAre("zzz: unknown field, known are: depth, edits, mode, path"));
}

TEST(Schema, SaysTheBoundsAndChoices) {
  EXPECT_THAT(errors_of(R"({"path": "a", "mode": "slow", "edits": [{"old_text": "x"}]})"),
              ElementsAre("mode: must be one of: fast, exact"));
  EXPECT_THAT(errors_of(R"({"path": "a", "depth": 4, "edits": [{"old_text": "x"}]})"),
              ElementsAre(HasSubstr("depth: expected number less than or equal to 3")));
  EXPECT_THAT(errors_of(R"({"path": "a", "edits": []})"), ElementsAre(HasSubstr("edits: array should contain no fewer than 1")));
}

TEST(Schema, ListsAtMostTenErrors) {
  json value{{"path", "a"}, {"edits", json::array()}};
  for (int i = 0; i < 10; ++i) value["edits"].push_back({{"new_text", "x"}});
  EXPECT_THAT(Schema::compile(kEdits).errors(value), SizeIs(10));
  value["edits"].push_back({{"new_text", "x"}});
  EXPECT_THAT(Schema::compile(kEdits).errors(value), SizeIs(10));
}

TEST(Schema, KeepsWorkingInItsCopies) {
  std::vector<Schema> copies(2, Schema::compile(R"({"type": "string"})"));
  copies.erase(copies.begin());
  EXPECT_THAT(copies[0].errors(json(1)), SizeIs(1));
}

TEST(Schema, RefusesWhatIsNoSchema) {
  for (const char* bad : {"{", "[]", "7", R"({"type": "strung"})", R"({"properties": {"a": {"pattern": "x*"}}})",
                          R"({"items": {"anyOf": [{"patternProperties": {}}]}})"}) {
    try {
      Schema::compile(bad);
      ADD_FAILURE() << "accepted " << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument) << bad;
    }
  }
}

TEST(Schema, MayNameAPropertyLikeARefusedKeyword) {
  const Schema schema =
      Schema::compile(R"({"properties": {"pattern": {"type": "string"}, "format": {"type": "string", "format": "date"}}})");
  EXPECT_THAT(schema.errors(json{{"pattern", "x"}, {"format", "not a date"}}), IsEmpty());
  EXPECT_THAT(schema.errors(json{{"format", 1}}), ElementsAre("format: expected string, found integer"));
}

}  // namespace
}  // namespace forge::schema
