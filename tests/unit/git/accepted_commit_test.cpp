#include "tests/unit/git/review_fixture.h"

namespace forge::git {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace std::string_literals;

class AcceptedCommits : public ReviewTest {
 protected:
  std::string raw(const std::string& commit) { return in_mirror(mirror_, {"cat-file", "-p", commit}); }
  std::string tree_of(const std::string& commit) { return repo_.git({"rev-parse", commit + "^{tree}"}); }
};

TEST_F(AcceptedCommits, HoldTheAcceptedHunksOnTheBase) {
  change("f", lines(40), lines(40, {{5, "five\nmore"}, {20, "twenty"}, {35, "last"}}));
  const AcceptedCommit made = accept({id("f", 0), id("f", 2)});
  EXPECT_EQ(content(made.commit, "f"), lines(40, {{5, "five\nmore"}, {35, "last"}}));
  EXPECT_EQ(in_mirror(mirror_, {"rev-parse", made.commit + "~1"}), base_);
  EXPECT_EQ(in_mirror(mirror_, {"rev-parse", made.commit + "^{tree}"}), made.tree);
  EXPECT_EQ(in_mirror(mirror_, {"rev-parse", "refs/forge/runs/forge/a-1-accepted"}), made.commit);
  EXPECT_EQ(in_mirror(mirror_, {"fsck", "--full", "--no-dangling", "--no-progress"}), "");
}

TEST_F(AcceptedCommits, AreTheSameForTheSameAcceptance) {
  change("f", lines(40), lines(40, {{5, "five"}, {20, "twenty"}}));
  const std::string first = id("f", 0);
  const std::string second = id("f", 1);
  const AcceptedCommit made = accept({first, second});
  EXPECT_EQ(accept({second, first}).commit, made.commit);
  EXPECT_THAT(raw(made.commit), AllOf(HasSubstr("author Forge <forge@localhost> 1767225600 +0000\n"),
                                      HasSubstr("committer Forge <forge@localhost> 1767225600 +0000\n"), HasSubstr("\n\nAccept some")));
  Acceptance later = acceptance({first, second});
  later.time_ms += 1000;
  EXPECT_NE(cache().accept(later, soon()).commit, made.commit);
}

TEST_F(AcceptedCommits, MoveTheirBranchOn) {
  change("f", lines(40), lines(40, {{5, "five"}, {20, "twenty"}}));
  const AcceptedCommit first = accept({id("f", 0)});
  const AcceptedCommit second = accept({id("f", 1)});
  EXPECT_NE(first.commit, second.commit);
  EXPECT_EQ(in_mirror(mirror_, {"rev-parse", "refs/forge/runs/forge/a-1-accepted"}), second.commit);
}

TEST_F(AcceptedCommits, OfAllAreTheHeadAndOfNothingTheBase) {
  repo_.write("f", lines(20));
  repo_.write("d/gone", "x\n");
  be_base();
  repo_.remove("d");
  repo_.write("f", lines(20, {{9, "nine"}}));
  repo_.write("d", "now a file\n");
  be_head();
  EXPECT_EQ(accept(all_ids(compare())).tree, tree_of(head_));
  const AcceptedCommit nothing = accept({});
  EXPECT_EQ(nothing.tree, tree_of(base_));
  EXPECT_EQ(in_mirror(mirror_, {"rev-parse", nothing.commit + "~1"}), base_);
}

TEST_F(AcceptedCommits, PutEditsIntoTheOldNameWhenTheNewOneIsRejected) {
  repo_.write("old", lines(40));
  be_base();
  repo_.remove("old");
  repo_.write("new", lines(40, {{20, "edited"}}));
  make_executable("new");
  be_head();
  const AcceptedCommit text = accept({id("new", 1)});
  EXPECT_EQ(paths(text.commit), "old");
  EXPECT_EQ(content(text.commit, "old"), lines(40, {{20, "edited"}}));
  EXPECT_EQ(mode(text.commit, "old"), "100644");
  const AcceptedCommit name = accept({id("new", 0)});
  EXPECT_EQ(paths(name.commit), "new");
  EXPECT_EQ(content(name.commit, "new"), lines(40));
  EXPECT_EQ(mode(name.commit, "new"), "100755");
}

TEST_F(AcceptedCommits, KeepReturnsAndAMissingLastNewline) {
  change("f", lines(30, {}, "\r\n") + "end", lines(30, {{5, "five"}}, "\r\n") + "END\r\n");
  EXPECT_EQ(content(accept({id("f", 0)}).commit, "f"), lines(30, {{5, "five"}}, "\r\n") + "end");
  EXPECT_EQ(content(accept({id("f", 1)}).commit, "f"), lines(30, {}, "\r\n") + "END\r\n");
}

TEST_F(AcceptedCommits, RefuseAnUnknownHunk) {
  change("f", "1\n", "2\n");
  const auto error = refusal({id("f"), std::string(32, 'a')});
  EXPECT_EQ(error->code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error->field(), "hunks");
  EXPECT_THAT(error->client_text(), HasSubstr(std::string(32, 'a')));
}

TEST_F(AcceptedCommits, RefuseAFileBelowAFileThatIsKept) {
  repo_.write("d", lines(20));
  be_base();
  repo_.remove("d");
  repo_.write("d/inside", "quite other\n");
  be_head();
  const auto error = refusal({id("d/inside")});
  EXPECT_EQ(error->code(), ErrorCode::conflict);
  EXPECT_EQ(error->client_text(), "accepted changes cannot stand without others that are not accepted: 'd/inside' needs the old 'd' gone");
  EXPECT_EQ(error->hint(), "accept what stands in the way as well, or reject what needs its place");
  EXPECT_NO_THROW(accept({id("d")}));
}

TEST_F(AcceptedCommits, RefuseAFileInThePlaceOfADirectoryThatIsKept) {
  repo_.write("d/one", lines(20));
  repo_.write("d/two", lines(20, {}, " two\n"));
  be_base();
  repo_.remove("d");
  repo_.write("d", "quite other\n");
  be_head();
  EXPECT_THAT(refusal({id("d"), id("d/one")})->client_text(), HasSubstr("'d' needs the old 'd/two' gone"));
  EXPECT_EQ(paths(accept({id("d"), id("d/one"), id("d/two")}).commit), "d");
}

TEST_F(AcceptedCommits, RefuseANewFileInThePlaceOfOneThatWasToMove) {
  repo_.write("p", lines(40));
  be_base();
  repo_.remove("p");
  repo_.write("q", lines(40, {{20, "edited"}}));
  link("q", "p");
  be_head();
  EXPECT_THAT(refusal({id("p"), id("q", 1)})->client_text(), HasSubstr("'p' needs the old 'p' gone"));
  EXPECT_EQ(paths(accept({id("p"), id("q", 0)}).commit), "p\nq");
}

TEST_F(AcceptedCommits, RefuseNamesThatDifferInCaseOnlyUnlessTheRunMadeThem) {
  repo_.write("Readme", lines(20));
  repo_.write("other", "");
  be_base();
  repo_.remove("Readme");
  repo_.write("README", "quite other\n");
  repo_.write("Other", "a pair of the run itself\n");
  be_head();
  EXPECT_THAT(refusal({id("README")})->client_text(), HasSubstr("'README' needs the old 'Readme' gone, whose name differs in case only"));
  EXPECT_EQ(paths(accept({id("README"), id("Readme"), id("Other")}).commit), "Other\nREADME\nother");
}

TEST_F(AcceptedCommits, RefuseADirectoryThatDiffersInCaseOnly) {
  repo_.write("Dir/a", lines(20));
  be_base();
  repo_.remove("Dir");
  repo_.write("dir/b", "quite other\n");
  be_head();
  EXPECT_THAT(refusal({id("dir/b")})->client_text(), HasSubstr("'dir/b' needs the old 'Dir/a' gone"));
}

TEST_F(AcceptedCommits, NameTheFirstTenConflictsAndCountTheRest) {
  for (int i = 0; i < 11; ++i) repo_.write("d" + std::to_string(i), lines(20, {}, std::to_string(i) + "\n"));
  be_base();
  for (int i = 0; i < 11; ++i) {
    repo_.remove("d" + std::to_string(i));
    repo_.write("d" + std::to_string(i) + "/inside", "other " + std::to_string(i) + "\n");
  }
  be_head();
  std::vector<std::string> additions;
  for (const FileDiff& file : compare().files)
    if (file.change == FileChange::added) additions.push_back(file.hunks[0].id);
  EXPECT_THAT(refusal(additions)->client_text(), HasSubstr("; and 1 more"));
  additions.pop_back();
  EXPECT_THAT(refusal(additions)->client_text(), Not(HasSubstr("more")));
}

TEST_F(AcceptedCommits, CleanWhatIsWrittenAsTheirMessage) {
  change("f", "1\n", "2\n");
  Acceptance odd = acceptance({id("f")});
  odd.message = "\n Subject\x1b[31m\n\nBody\n\n\n";
  EXPECT_THAT(raw(cache().accept(odd, soon()).commit), HasSubstr("\n\nSubject^[[31m\n\nBody"));
  odd.message = " ";
  EXPECT_THAT(raw(cache().accept(odd, soon()).commit), HasSubstr("\n\nAccepted changes"));
}

TEST_F(AcceptedCommits, AreStoppedBeforeTheBranchIsMade) {
  change("f", "1\n", "2\n");
  const Acceptance all = acceptance({id("f")});
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(test::code_of([&] { cache().accept(all, Stop(stopped.get_token())); }), "cancelled");
  EXPECT_THAT(in_mirror(mirror_, {"for-each-ref", "refs/forge/runs"}), IsEmpty());
}

}  // namespace
}  // namespace forge::git
