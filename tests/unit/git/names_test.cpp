#include "orchestrator/git/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forge::git {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using namespace std::string_literals;

std::string verdict(const std::string& path) {
  const Judgement judgement = judge_path(path);
  if (judgement.findings.empty()) return judgement.accepted ? "fine" : "refused without a word";
  return (judgement.accepted ? "warned: " : "refused: ") + judgement.findings[0].kind;
}

TEST(Names, RefusesWhatGitRefusesInAnyComponent) {
  for (const std::string& path : std::vector<std::string>{".GIT", ".Git/config", "a/.gIt/b", "git~1", "GIT~1/x", "a/git~1", "..", "a/../b",
                                                          ".", "a/./b", "", "/etc/passwd", "a//b", "a/", "/", "x\0y"s})
    EXPECT_EQ(verdict(path), "refused: refused_name") << path;
}

TEST(Names, RefusesDisguisesOfDotGit) {
  for (const std::string& path :
       std::vector<std::string>{".git\u200c", ".g\u200dit/x", "\ufeff.git", ".gi\u206ft", ".git\u202e/hooks/x", ".git ", ".git.",
                                ".git . .", ".git::$INDEX_ALLOCATION", ".git:x/y", "git~1.", "a\\.git\\config", ".GIT\u200e "})
    EXPECT_EQ(verdict(path), "refused: refused_name") << path;
}

TEST(Names, TellsARepositoryInsideFromOneAtTheTop) {
  const Judgement inside = judge_path("lib/x/.git/config");
  EXPECT_FALSE(inside.accepted);
  EXPECT_THAT(inside.findings,
              ElementsAre(testing::AllOf(Field(&NameFinding::kind, "nested_repository"), Field(&NameFinding::path, "lib/x"))));
  EXPECT_EQ(judge_path("lib/x/.git").findings[0].path, "lib/x");
  EXPECT_EQ(verdict(".git/HEAD"), "refused: git_directory");
  EXPECT_EQ(verdict(".git"), "refused: git_directory");
}

TEST(Names, CarriesOddNamesWithAWarning) {
  for (const std::string& path : std::vector<std::string>{"a\nb", "caf\xe9", "back\\slash", "tab\there"})
    EXPECT_EQ(verdict(path), "warned: unusual_name") << path;
  for (const std::string& path : std::vector<std::string>{"CON", "aux.txt", "dir/NUL", "com1", "LPT9.log", "dot.", "blank ", "a. /b"})
    EXPECT_EQ(verdict(path), "warned: windows_name") << path;
}

TEST(Names, TakesOrdinaryNames) {
  for (const std::string& path :
       std::vector<std::string>{"a", "a/b c/d", ".gitignore", ".gitattributes", ".github/x", "git", "git~2", "x.git", "\u00fcber",
                                "a.git/b", "console", "com", "com10", "...", "a..b", ".gitmodules", "-rf", "$(x)", "\u200cx"})
    EXPECT_THAT(judge_path(path).accepted, true) << path;
  EXPECT_THAT(judge_path("src/main.cpp").findings, IsEmpty());
}

TEST(Names, RefusesPathsThatNoSystemTakes) {
  EXPECT_EQ(verdict(std::string(4096, 'a')), "refused: refused_name");
  std::string deep = "a";
  for (int i = 0; i < 512; ++i) deep += "/a";
  EXPECT_EQ(verdict(deep), "refused: refused_name");
  EXPECT_EQ(verdict(deep.substr(2)), "fine");
}

TEST(Names, KnowsGitmodulesInItsDisguises) {
  for (const std::string& name : std::vector<std::string>{".gitmodules", ".GITMODULES", ".gitmodules ", ".gitmodules::$DATA", "GITMOD~1",
                                                          "gi7eba~1", ".git\u200cmodules"})
    EXPECT_TRUE(is_gitmodules_name(name)) << name;
  for (const std::string& name : std::vector<std::string>{".gitmodule", "gitmodules", "x.gitmodules", ".gitmodules.txt"})
    EXPECT_FALSE(is_gitmodules_name(name)) << name;
}

}  // namespace
}  // namespace forge::git
