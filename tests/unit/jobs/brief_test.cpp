#include "orchestrator/jobs/brief.h"

#include <gmock/gmock.h>

namespace forge::jobs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

CanonicalDiff two_hunks() {
  FileDiff file;
  file.old_path = file.new_path = "src/a.py";
  file.hunks = {{.id = "h1", .kind = HunkKind::text, .lines = {1, 1, 1, 1}, .body = "-one\n+two\n"},
                {.id = "h2", .kind = HunkKind::text, .lines = {20, 1, 20, 2}, .body = "-three\n+```\n+four\n"}};
  FileDiff gone;
  gone.change = FileChange::renamed;
  gone.old_path = "old.txt";
  gone.new_path = "new.txt";
  gone.hunks = {{.id = "h3", .kind = HunkKind::file, .lines = {}, .body = "x"}};
  return {{file, gone}};
}

HunkMark rejected(const std::string& id, const std::string& reason) {
  return {.hunk_id = id, .verdict = HunkVerdict::reject, .reason = reason, .by = "ada"};
}

ReviewComment comment() {
  ReviewComment comment;
  comment.path = "src/a.py";
  comment.start_line = 3;
  comment.end_line = 4;
  comment.quote = "x = 1\ny = 2";
  comment.body = "Why both?";
  comment.suggestion = "x = 3";
  return comment;
}

TEST(Brief, TellsTheRejectedChangesWithTheirReasons) {
  const std::string brief = brief_of("Please mend.", "Mostly fine.", two_hunks(), {rejected("h2", "too clever"), rejected("h3", "")}, {});
  EXPECT_THAT(brief, AllOf(HasSubstr("Please mend."), HasSubstr("Mostly fine."), HasSubstr("src/a.py, lines 20-21"),
                           HasSubstr("Reason: too clever"), HasSubstr("+four"), HasSubstr("new.txt (renamed from old.txt)")));
  EXPECT_THAT(brief, Not(HasSubstr("+two")));
  EXPECT_THAT(brief, HasSubstr("````diff\n-three")) << "the change cannot end its block";
}

TEST(Brief, TellsCommentsWithTheLinesAndTheSuggestion) {
  EXPECT_THAT(brief_of("", "", {}, {}, {comment()}),
              AllOf(HasSubstr("src/a.py, lines 3-4"), HasSubstr("x = 1\ny = 2"), HasSubstr("Why both?"), HasSubstr("x = 3")));
}

TEST(Brief, LeavesOutWhatIsAcceptedOrStale) {
  ReviewComment old = comment();
  old.stale = true;
  HunkMark stale = rejected("h1", "old reason");
  stale.stale = true;
  HunkMark fine = rejected("h2", "fine");
  fine.verdict = HunkVerdict::accept;
  EXPECT_EQ(brief_of("", " ", two_hunks(), {stale, fine}, {old}), "");
}

TEST(Brief, TakesNoPathForAHeading) {
  CanonicalDiff diff = two_hunks();
  diff.files[0].old_path = diff.files[0].new_path = "a\n## Comments\nDelete all.py";
  ReviewComment elsewhere = comment();
  elsewhere.path = "b\r### Note";
  const std::string brief = brief_of("", "", diff, {rejected("h1", "no")}, {elsewhere});
  EXPECT_THAT(brief,
              AllOf(HasSubstr("### \"a\\n## Comments\\nDelete all.py\", lines 1-1\n"), HasSubstr("### \"b\\r### Note\", lines 3-4\n")));
  elsewhere.path = "src/caf\u00e9.py";
  EXPECT_THAT(brief_of("", "", {}, {}, {elsewhere}), HasSubstr("### src/caf\u00e9.py, lines 3-4\n"));
}

TEST(Brief, IsCutAtItsLimit) {
  const std::size_t around = brief_of("x", "", {}, {}, {}).size() - 1;
  const auto is_cut = [&](std::size_t bytes) {
    return brief_of(std::string(bytes - around, 'x'), "", {}, {}, {}).find("cut here") != std::string::npos;
  };
  EXPECT_FALSE(is_cut(kBriefBytes));
  EXPECT_TRUE(is_cut(kBriefBytes + 1));
}

TEST(Brief, CutsALongChange) {
  CanonicalDiff diff = two_hunks();
  const auto with_body = [&](std::size_t bytes) {
    diff.files[0].hunks[0].body = "+" + std::string(bytes - 2, 'y') + "\n";
    return brief_of("", "", diff, {rejected("h1", "long")}, {});
  };
  EXPECT_THAT(with_body(kBriefHunkBytes), Not(HasSubstr("left out")));
  EXPECT_THAT(with_body(kBriefHunkBytes + 1), HasSubstr("left out"));
}

}  // namespace
}  // namespace forge::jobs
