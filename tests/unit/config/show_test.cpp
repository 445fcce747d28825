#include "orchestrator/config/show.h"

#include <fmt/format.h>

#include <set>

#include "orchestrator/base/text.h"
#include "orchestrator/config/keys.h"
#include "tests/support/golden.h"
#include "tests/unit/config/fixture.h"

namespace forge::config {
namespace {

using testing::HasSubstr;

TEST_F(ConfigTest, ShowsEveryKeyWithItsSource) {
  file(R"toml([jobs]
max_turns = 7
default_model = "anthropic/claude-x"
[models.providers.mine]
kind = "openai"
base_url = "http://127.0.0.1:9000/v1"
api_key_env = "MINE_KEY"
headers = { X-Team = "blue" }
[git.credentials."git.example.com"]
token_env = "GIT_TOKEN"
[budget]
run_usd = 0.5
[network]
allow = ["pkg.test", "libs.test"]
)toml");
  env("FORGE_SANDBOX__POLICY", "degraded");
  env("ANTHROPIC_API_KEY", "sk-ant-0123456789");
  env("GIT_TOKEN", "token-0123456789");
  flag("server.listen", "127.0.0.1:0", "--listen");
  std::string text;
  for (const ShownKey& row : show(load())) text += fmt::format("{} = {}  # {} # {}\n", row.key, row.value, row.source, row.value_json);
  for (auto at = text.find(data()); at != text.npos; at = text.find(data())) text.replace(at, data().size(), "<data>");
  test::expect_golden("tests/unit/config/golden/show.txt", text);
}

TEST(ConfigKeys, HaveNamesAndMeaningsOfTheirOwn) {
  std::set<std::string> names;
  for (const Key& key : keys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_TRUE(key.doc.ends_with('.')) << key.name;
    EXPECT_FALSE(key.expected().empty()) << key.name;
    EXPECT_LT(std::count(key.name.begin(), key.name.end(), '*'), 2) << key.name;
  }
}

TEST(ConfigKeys, HaveDefaultsWithinTheirRanges) {
  for (const Key& key : keys()) {
    Config fresh;
    const Slot slot = key.slot(fresh, "entry");
    if (const auto* number = std::get_if<std::int64_t*>(&slot)) {
      EXPECT_LE(key.least, **number) << key.name;
      EXPECT_GE(key.most, **number) << key.name;
    }
    if (const auto* text = std::get_if<std::string*>(&slot); text && !(*text)->empty() && key.format) {
      EXPECT_TRUE(key.format->fits(**text)) << key.name;
    }
    if (const auto* choice = std::get_if<ChoiceSlot>(&slot)) {
      EXPECT_LT(choice->get(), key.choices.size()) << key.name;
    }
  }
}

TEST(ConfigKeys, AreFoundByTheirNames) {
  for (const Key& key : keys()) {
    auto parts = split(key.name, '.');
    std::replace(parts.begin(), parts.end(), std::string("*"), std::string("localhost"));
    const auto match = find_key(parts);
    ASSERT_TRUE(match) << key.name;
    EXPECT_EQ(match->key, &key);
    EXPECT_EQ(match->entry, key.has_entry() ? "localhost" : "");
    parts.pop_back();
    EXPECT_TRUE(is_section(parts)) << key.name;
  }
}

// The reference for people is this table: FORGE_ACCEPT=1 does not write it, it belongs to a page with other text.
TEST(ConfigKeys, StandInTheOperationsPage) {
  const std::string page = test::read_file("docs/operations.md");
  const std::string table = reference_table();
  EXPECT_THAT(page, HasSubstr(table)) << "docs/operations.md, section Configuration, must hold this table:\n" << table;
}

}  // namespace
}  // namespace forge::config
