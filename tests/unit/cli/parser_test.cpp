#include "orchestrator/cli/parser.h"

#include <gmock/gmock.h>

#include "orchestrator/cli/help.h"
#include "orchestrator/cli/verbs.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"

namespace forge::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Message and hint of what the command line is refused with.
std::string refusal(const std::vector<std::string>& args) {
  const auto error = test::error_of([&] { parse_command_line(args, all_verbs()); });
  if (!error) return "";
  EXPECT_EQ(error->code(), ErrorCode::invalid_argument);
  return error->hint().empty() ? error->client_text() : error->client_text() + "\n" + error->hint();
}

/// A verb with one option of each type.
struct Sample {
  bool flag = false;
  std::string text = "unsaid";
  std::optional<std::int64_t> number;
  std::vector<std::string> list;
  std::string id;
  std::vector<std::string> command;

  std::vector<Verb> verbs() {
    return {{.name = "do",
             .summary = "Do it",
             .options = {{.name = "--flag", .value = {}, .help = "", .target = &flag},
                         {.name = "--text", .value = "T", .help = "", .target = &text},
                         {.name = "--number", .value = "N", .help = "", .target = &number, .least = -5, .most = 5},
                         {.name = "--list", .value = "L", .help = "", .target = &list}},
             .positionals = {{.name = "ID", .help = "", .target = &id, .required = false}},
             .command = &command,
             .run = [](Context&) { return 0; }}};
  }
};

TEST(Parser, FillsTargetsOfEveryType) {
  Sample sample;
  const auto verbs = sample.verbs();
  const Parsed parsed = parse_command_line(
      {"do", "--flag", "--text=a=b", "me", "--number", "-5", "--list", "x", "--list", "[y,z]", "--", "--flag", "-h"}, verbs);
  EXPECT_EQ(parsed.verb, &verbs.front());
  EXPECT_TRUE(sample.flag);
  EXPECT_EQ(sample.text, "a=b");
  EXPECT_EQ(sample.number, -5);
  EXPECT_THAT(sample.list, ElementsAre("x", "[y,z]"));
  EXPECT_EQ(sample.id, "me");
  EXPECT_THAT(sample.command, ElementsAre("--flag", "-h"));
}

TEST(Parser, LeavesAloneWhatWasNotSaid) {
  Sample sample;
  parse_command_line({"do"}, sample.verbs());
  EXPECT_FALSE(sample.flag);
  EXPECT_EQ(sample.text, "unsaid");
  EXPECT_EQ(sample.number, std::nullopt);
}

TEST(Parser, TakesEmptyAndOddTextsAsTheyAre) {
  for (const char* text : {"", "{}", "[]", "[a, b]", "'q'", "\"q\"", "a\nb", "%s", "-", "--text"}) {
    Sample sample;
    parse_command_line({"do", "--text", text, "--list", text}, sample.verbs());
    EXPECT_EQ(sample.text, text);
    EXPECT_THAT(sample.list, ElementsAre(text));
  }
}

TEST(Parser, TakesTheCommonOptionsBeforeAndBehindTheVerb) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"--data-dir", "/d", "--config", "c.toml", "--set", "a.b=c=d", "jobs"},
        std::vector<std::string>{"jobs", "--set", "a.b=c=d", "--config", "c.toml", "--data-dir", "/d"}}) {
    const Parsed parsed = parse_command_line(args, all_verbs());
    EXPECT_EQ(parsed.config.data_dir, "/d");
    EXPECT_EQ(parsed.config.file, "c.toml");
    ASSERT_EQ(parsed.config.overrides.size(), 1u);
    EXPECT_EQ(parsed.config.overrides[0].key, "a.b");
    EXPECT_EQ(parsed.config.overrides[0].value, "c=d");
  }
}

TEST(Parser, TakesAVerbsNameForAnIdWhereAnIdStands) {
  const auto verbs = all_verbs();
  EXPECT_EQ(parse_command_line({"show", "jobs"}, verbs).verb->name, "show");
}

TEST(Parser, RefusesBadCommandLinesWithAHint) {
  EXPECT_EQ(refusal({"job"}), "unknown verb \"job\"\ndid you mean jobs?");
  EXPECT_EQ(refusal({"frobnicate"}), "unknown verb \"frobnicate\"\n`forge --help` lists them");
  EXPECT_EQ(refusal({"token", "creat"}), "unknown verb \"creat\"\ndid you mean create?");
  EXPECT_EQ(refusal({"run", "--taks", "x"}), "unknown option --taks\ndid you mean --task?");
  EXPECT_EQ(refusal({"run", "--verfy=make"}), "unknown option --verfy\ndid you mean --verify?");
  EXPECT_EQ(refusal({"jobs", "--data-dri", "x"}), "unknown option --data-dri\ndid you mean --data-dir?");
  EXPECT_EQ(refusal({"jobs", "--nothing-like-it"}), "unknown option --nothing-like-it\n`forge jobs --help` shows what it takes");
  EXPECT_EQ(refusal({"--verbose"}), "unknown option --verbose\n`forge --help` shows what it takes");
  EXPECT_EQ(refusal({"jobs", "extra"}), "unexpected argument \"extra\"\n`forge jobs --help` shows what it takes");
  EXPECT_EQ(refusal({"jobs", "--", "ls"}), "forge jobs takes no command after --\n`forge jobs --help` shows what it takes");
  EXPECT_EQ(refusal({"jobs", "--set", "x"}), "--set x is not KEY=VALUE\nfor example --set jobs.max_turns=20");
  EXPECT_EQ(refusal({"jobs", "--limit", "201"}), "--limit must be an integer from 1 to 200, not \"201\"");
  EXPECT_EQ(refusal({"jobs", "--limit", "99999999999999999999"}), "--limit must be an integer from 1 to 200, not \"99999999999999999999\"");
  EXPECT_EQ(refusal({"show"}), "ID is required\n`forge show --help` shows what it takes");
  EXPECT_EQ(refusal({"run", "--task"}), "--task needs a value\n`forge run --help` shows what it takes");
  EXPECT_EQ(refusal({"jobs", "--json=maybe"}), "--json takes no value");
}

TEST(Parser, ShowsTheOverviewWithoutAVerb) {
  EXPECT_EQ(parse_command_line({}, all_verbs()).text, overview(all_verbs()));
  EXPECT_EQ(parse_command_line({"--help"}, all_verbs()).text, overview(all_verbs()));
  EXPECT_EQ(parse_command_line({"-h"}, all_verbs()).text, overview(all_verbs()));
}

TEST(Parser, ShowsTheHelpOfAVerbWhateverElseIsWrong) {
  const auto verbs = all_verbs();
  EXPECT_EQ(parse_command_line({"show", "--help"}, verbs).text, help_of("forge show", verbs[2]));
  EXPECT_THAT(parse_command_line({"sandbox", "run", "--help"}, verbs).text, HasSubstr("Usage: forge sandbox run [OPTIONS] -- COMMAND..."));
  EXPECT_TRUE(parse_command_line({"token", "--help"}, verbs).asked);
}

TEST(Parser, ShowsTheHelpOfAGroupUnaskedWhereItsVerbIsMissing) {
  const Parsed group = parse_command_line({"token"}, all_verbs());
  EXPECT_THAT(group.text, HasSubstr("Usage: forge token VERB ..."));
  EXPECT_FALSE(group.asked);
  EXPECT_FALSE(parse_command_line({}, all_verbs()).asked);
  EXPECT_FALSE(parse_command_line({"--data-dir", "/d"}, all_verbs()).asked);
}

TEST(Parser, TakesHelpAndVersionAsPeopleTypeThemOfHabit) {
  const auto verbs = all_verbs();
  EXPECT_EQ(parse_command_line({"help"}, verbs).text, overview(verbs));
  EXPECT_EQ(parse_command_line({"help", "sandbox", "run"}, verbs).text, parse_command_line({"sandbox", "run", "--help"}, verbs).text);
  const Parsed version = parse_command_line({"--version"}, verbs);
  ASSERT_NE(version.verb, nullptr);
  EXPECT_EQ(version.verb->name, "version");
}

void append_help(const std::string& name, const Verb& verb, std::string& all) {
  all += "$ " + name + " --help\n" + help_of(name, verb) + "\n";
  for (const Verb& inner : verb.verbs) append_help(name + " " + inner.name, inner, all);
}

TEST(Parser, KeepsItsHelpTexts) {
  std::string all = "$ forge --help\n" + overview(all_verbs()) + "\n";
  for (const Verb& verb : all_verbs()) append_help("forge " + verb.name, verb, all);
  test::expect_golden("tests/unit/cli/golden/help.txt", all);
}

}  // namespace
}  // namespace forge::cli
