#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orchestrator/base/text.h"
#include "tests/functional/repository.h"
#include "tests/functional/steps.h"

namespace forge::functional {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

/// An agent leaves odd things in the work tree. The run succeeds, the commit holds what can be in one, findings tell the rest.
class HostileTree : public testing::Test {
 protected:
  /// Runs `command` as the agent's; the run must succeed.
  void leave(const std::string& command) {
    report_ = forge_.json({"run", "--repo", repo_.str(), "--task", "x", "--json", "--model", forge_.steps(runs(command))});
    EXPECT_EQ(report_.at("state"), "succeeded") << report_;
    branch_ = report_.at("branch");
    for (const auto& event : of_type(forge_.trace(report_.at("job")), "finding"))
      findings_.push_back(event.at("data").at("kind").get<std::string>() + " " + event.at("data").at("path").get<std::string>());
    const auto bash = of_type(forge_.trace(report_.at("job")), "tool_result");
    ASSERT_EQ(bash.size(), 1u);
    EXPECT_EQ(bash[0].at("data").at("exit_code"), 0) << bash[0];
  }
  /// "A path" and so on, against the base, in the order of paths.
  std::vector<std::string> changed() const {
    std::vector<std::string> lines;
    const std::string out =
        repo_.git({"-c", "core.quotePath=true", "diff-tree", "-r", "--no-renames", "--name-status", repo_.base(), branch_});
    for (const auto line : split_lines(out)) {
      lines.emplace_back(line);
      lines.back()[1] = ' ';
    }
    return lines;
  }
  std::string content(const std::string& path) const { return repo_.git({"show", branch_ + ":" + path}); }
  void expect_git_agrees() const {
    repo_.git({"fsck", "--strict", "--no-dangling"});
    const std::string diff = forge_.forge({"show", report_.at("job"), "--diff"}).out;
    EXPECT_EQ(tree_after_apply(repo_.path(), repo_.base(), diff), repo_.git({"rev-parse", branch_ + "^{tree}"}));
  }

  Installation forge_;
  SmallRepo repo_;
  json report_;
  std::string branch_;
  std::vector<std::string> findings_;
};

TEST_F(HostileTree, WithGitDirectoriesOfItsOwn) {
  const std::string outside = forge_.file("outside").string();
  leave(
      "mkdir -p .git/hooks && cd .git && echo ref: refs/heads/evil > HEAD && mkdir objects refs && "
      "printf '[core]\\n\\tworktree = /\\n\\tfsmonitor = touch " +
      outside +
      "\\n\\thooksPath = hooks\\n[include]\\n\\tpath = /workspace/fifo\\n"
      "[filter \"evil\"]\\n\\tclean = touch " +
      outside + "\\n\\tsmudge = touch " + outside +
      "\\n\\trequired = true\\n"
      "[remote \"origin\"]\\n\\turl = /etc\\n\\tpushurl = /tmp/evil\\n[url \"/evil\"]\\n\\tinsteadOf = /\\n' > config && "
      "for h in pre-commit post-commit pre-push reference-transaction; do printf '#!/bin/sh\\ntouch " +
      outside +
      "\\n' > hooks/$h; chmod +x hooks/$h; done; "
      "cd ..; printf '* filter=evil\\n' > .gitattributes; echo changed >> README.md; "
      "mkdir -p vendor/lib && git init -q vendor/lib && echo kept > vendor/lib/file && mkdir sub && echo 'gitdir: /etc' > sub/.git && echo "
      "s > sub/f");
  EXPECT_THAT(changed(), ElementsAre("A .gitattributes", "M README.md", "A sub/f", "A vendor/lib/file"));
  EXPECT_THAT(findings_, UnorderedElementsAre("git_directory .git", "nested_repository sub", "nested_repository vendor/lib"));
  EXPECT_FALSE(std::filesystem::exists(outside));
  expect_git_agrees();
}

// Each of these made a git over the work tree fail, or open another repository.
TEST_F(HostileTree, WithRepositoriesOfEveryKind) {
  leave(
      "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; "
      "git init -q committed && echo c > committed/f && git -C committed add f && git -C committed commit -q -m x && "
      "git init -q only && mkdir -p junk/.git && echo j > junk/.git/j && echo j > junk/f && "
      "mkdir -p src/.git && echo '[core]' > src/.git/config && echo t > src/tracked-neighbour && "
      "git init -q --bare bare.git && mkdir linked && echo l > linked/f && ln -s ../committed/.git linked/.git && ln -s /etc .git");
  const auto all = changed();
  for (const char* line : {"A committed/f", "A junk/f", "A linked/f", "A src/tracked-neighbour", "A bare.git/HEAD"})
    EXPECT_THAT(all, Contains(line));
  EXPECT_THAT(all, Not(Contains(HasSubstr("/.git"))));
  EXPECT_THAT(all, Not(Contains(HasSubstr(" only"))));
  EXPECT_THAT(findings_, UnorderedElementsAre("git_directory .git", "nested_repository committed", "nested_repository junk",
                                              "nested_repository linked", "nested_repository only", "nested_repository src"));
  EXPECT_THAT(repo_.git({"ls-tree", "-r", branch_}), Not(HasSubstr("160000")));
  expect_git_agrees();
}

TEST_F(HostileTree, WithNamesThatGitOrOtherSystemsTakeForSomethingElse) {
  leave(
      "mkdir .GIT git~1 $'.git\\xe2\\x80\\x8c' && touch .GIT/x git~1/x $'.git\\xe2\\x80\\x8c/x'; "
      "echo n > $'line\\nbreak'; echo b > 'back\\slash'; echo l > $'latin-\\xe9'; echo c > CON; echo d > dot.; "
      "echo lower > readme.md; echo q > 'a \"quoted\" name'; echo t > $'tab\\there'; echo dash > ./-rf; echo u > 'ümläut'; "
      "printf '[submodule \"x\"]\\n' > .gitmodules; long=$(printf 'n%.0s' $(seq 250)); echo long > $long");
  EXPECT_THAT(changed(), UnorderedElementsAre("A \"line\\nbreak\"", "A \"back\\\\slash\"", "A \"latin-\\351\"", "A CON", "A dot.",
                                              "A readme.md", "A \"a \\\"quoted\\\" name\"", "A \"tab\\there\"", "A -rf",
                                              "A \"\\303\\274ml\\303\\244ut\"", "A .gitmodules", "A " + std::string(250, 'n')));
  EXPECT_THAT(findings_,
              testing::IsSupersetOf({"refused_name .GIT/x", "refused_name git~1/x", "refused_name .git\u200c/x", "unusual_name line\nbreak",
                                     "unusual_name back\\slash", "unusual_name latin-\uFFFD", "windows_name CON", "windows_name dot."}));
  EXPECT_THAT(findings_, Contains("case_pair README.md"));
  EXPECT_THAT(findings_, Contains("gitmodules_changed .gitmodules"));
  expect_git_agrees();
}

TEST_F(HostileTree, WithWhatIsNoFile) {
  leave("mkfifo pipe && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")' && echo y > y && mkdir -p empty/inner");
  EXPECT_THAT(changed(), ElementsAre("A y"));
  EXPECT_THAT(findings_, UnorderedElementsAre("fifo pipe", "socket sock"));
}

TEST_F(HostileTree, WithLinksThatLeadOut) {
  leave(
      "ln -s /etc/shadow shadow && ln -s /etc etc && ln -s ../../../../../../etc/passwd up && ln -s loop loop && "
      "rm -r src && ln -s /etc src && ln -s /nowhere .gitmodules; rm README.md && ln -s /etc/hostname README.md");
  EXPECT_THAT(changed(), ElementsAre("T README.md", "A etc", "A loop", "A shadow", "A src", "D src/main.py", "A up"));
  EXPECT_EQ(content("shadow"), "/etc/shadow");
  EXPECT_EQ(content("up"), "../../../../../../etc/passwd");
  EXPECT_EQ(content("README.md"), "/etc/hostname");
  EXPECT_THAT(findings_, Contains(HasSubstr(".gitmodules")));
  EXPECT_THAT(forge_.forge({"show", report_.at("job"), "--diff"}).out, Not(HasSubstr("root:")));
  expect_git_agrees();
}

TEST_F(HostileTree, WithFilesThatBecameDirectoriesAndBack) {
  leave(
      "rm README.md && mkdir README.md && echo inside > README.md/page && rm -r data && echo file > data && rm -r src && mkdir -p "
      "src/main.py/x && "
      "echo deep > src/main.py/x/y && chmod 700 .gitignore");
  EXPECT_THAT(changed(), ElementsAre("M .gitignore", "D README.md", "A README.md/page", "A data", "D data/table.csv", "D src/main.py",
                                     "A src/main.py/x/y"));
  EXPECT_THAT(findings_, IsEmpty());
  expect_git_agrees();
}

TEST_F(HostileTree, WithHugeAndSparseFiles) {
  leave(
      "(truncate -s 900G endless); rm endless; truncate -s 900M sparse && head -c 101M /dev/zero > dense && echo small > small && python3 "
      "-c 'import os; os.makedirs(\"d/\" * 300)' && "
      "cd d && for i in $(seq 40); do cd d; done && echo deep > f && printf '\\0\\1\\2\\377' > /workspace/binary");
  const auto all = changed();
  EXPECT_THAT(all, Contains("A small"));
  EXPECT_THAT(all, Contains("A binary"));
  EXPECT_EQ(all.size(), 3u) << testing::PrintToString(all);
  EXPECT_THAT(findings_, UnorderedElementsAre("sparse sparse", "too_large dense"));
  expect_git_agrees();
}

TEST_F(HostileTree, WithThingsThatNobodyMayRead) {
  leave(
      "mkdir locked && echo x > locked/f && chmod 000 locked && echo secret > closed && chmod 000 closed && "
      "touch -d '1970-01-01' old && chmod 4755 old && echo last > last");
  EXPECT_THAT(changed(), Contains("A last"));
  EXPECT_THAT(changed(), Contains("A old"));
  EXPECT_THAT(repo_.git({"ls-tree", branch_, "old"}), HasSubstr("100755 blob"));
}

}  // namespace
}  // namespace forge::functional
