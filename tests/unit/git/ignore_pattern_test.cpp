#include "orchestrator/git/ignore_pattern.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "orchestrator/base/text.h"
#include "tests/support/temp_repo.h"

namespace forge::git {
namespace {

bool matches(const std::string& line, const std::string& path, bool is_directory = false) {
  return IgnorePattern(line).matches(path, is_directory);
}

TEST(IgnorePattern, ReadsStarsAsTheManualSays) {
  EXPECT_TRUE(matches("*.o", "deep/down/x.o"));
  EXPECT_FALSE(matches("/*.o", "deep/x.o"));
  EXPECT_TRUE(matches("**/cache", "cache"));
  EXPECT_TRUE(matches("**/cache", "a/b/cache"));
  EXPECT_FALSE(matches("**/cache", "mycache"));
  EXPECT_TRUE(matches("a/**/b", "a/b"));
  EXPECT_TRUE(matches("a/**/b", "a/x/y/b"));
  EXPECT_FALSE(matches("a/**/b", "a/xb"));
  EXPECT_TRUE(matches("docs/**", "docs/x/y"));
  EXPECT_FALSE(matches("docs/**", "docs", true));
  EXPECT_FALSE(matches("a/x**y", "a/x/y")) << "two stars inside a name are one";
}

TEST(IgnorePattern, ReadsSetsAndEscapes) {
  EXPECT_TRUE(matches("[a-c]x", "bx"));
  EXPECT_FALSE(matches("[!a-c]x", "bx"));
  EXPECT_TRUE(matches("[]x]", "]"));
  EXPECT_TRUE(matches("[[:digit:]_]", "7"));
  EXPECT_FALSE(matches("[[:nothing:]]", "7"));
  EXPECT_FALSE(matches("[abc", "a")) << "a set without an end matches nothing";
  EXPECT_FALSE(matches("a[!b]c/d", "a/c/d")) << "no set holds the slash";
  EXPECT_TRUE(matches("\\*", "*"));
  EXPECT_FALSE(matches("\\*", "a"));
  EXPECT_FALSE(matches("a\\", "a"));
}

TEST(IgnorePattern, OfAFileLeavesOutWhatIsNone) {
  const auto patterns =
      read_ignore_patterns("\xEF\xBB\xBFone\r\n# comment\n\n   \ntwo  \n\\#three\n" + std::string(2000, 'x') + "\n!four/");
  ASSERT_EQ(patterns.size(), 4u);
  EXPECT_TRUE(patterns[0].matches("one", false));
  EXPECT_TRUE(patterns[1].matches("two", false));
  EXPECT_TRUE(patterns[2].matches("#three", false));
  EXPECT_TRUE(patterns[3].negated());
  EXPECT_FALSE(patterns[3].matches("four", false));
  EXPECT_TRUE(patterns[3].matches("four", true));
}

// Against the real git, over patterns that nobody would think of.
TEST(IgnorePattern, AgreesWithGitOnRandomPatterns) {
  const test::TempRepo repo;
  std::mt19937 random(20261130);
  const auto one_of = [&](const std::vector<std::string>& all) { return all[random() % all.size()]; };
  const std::vector<std::string> atoms{"a",    "b",   "ab", "*",           "?",  "/",   "/",   "[ab]",
                                       "[!a]", "\\a", ".",  "[[:alpha:]]", "[a", "**/", "/**", "*.b"};
  const std::vector<std::string> names{"a", "b", "ab", "ba", "a.b", "c", "aa", "A"};
  std::map<std::string, std::string> line_of;  // of the directory whose .gitignore it is
  std::vector<std::string> args{"check-ignore", "--no-index", "--"};
  for (int round = 0; round < 100; ++round) {
    std::string line;
    for (std::size_t i = 0; i <= random() % 4; ++i) line += one_of(atoms);
    // git alone takes "a**/" for "a" and then any directories, against its own manual: names before two stars are left out.
    if (const auto stars = line.find("**/"); stars != std::string::npos && stars > 0 && line[stars - 1] != '/') continue;
    const std::string directory = "d" + std::to_string(round);
    line_of[directory] = line;
    repo.write(directory + "/.gitignore", line + "\n");
    for (int i = 0; i < 20; ++i) {
      std::string path = directory + "/" + one_of(names);
      for (std::size_t depth = random() % 4; depth > 0; --depth) path += "/" + one_of(names);
      args.push_back(std::move(path));
    }
  }
  const std::vector<std::string> told = split(repo.git(args), '\n');
  const std::set<std::string> ignored(told.begin(), told.end());
  EXPECT_GT(ignored.size(), 50u);
  for (auto path = args.begin() + 3; path != args.end(); ++path) {
    const std::string directory = path->substr(0, path->find('/'));
    const std::string below = path->substr(directory.size() + 1);
    const IgnorePattern pattern(line_of[directory]);
    bool found = pattern.matches(below, false);
    for (auto at = below.find('/'); at != std::string::npos; at = below.find('/', at + 1))
      found |= pattern.matches(below.substr(0, at), true);
    EXPECT_EQ(found, ignored.contains(*path)) << "'" << line_of[directory] << "' and '" << below << "'";
  }
}

}  // namespace
}  // namespace forge::git
