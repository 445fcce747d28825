#include "orchestrator/git/hunk_patch.h"

#include "tests/unit/git/review_fixture.h"

namespace forge::git {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class HunkPatches : public ReviewTest {
 protected:
  std::string blob(const std::string& commit, const std::string& path) { return in_mirror(mirror_, {"rev-parse", commit + ":" + path}); }
};

TEST_F(HunkPatches, CountTheirPlacesWithoutTheHunksThatAreLeftOut) {
  change("f", lines(60), lines(60, {{5, "five\nmore\nlines"}, {30, "thirty\nmore"}, {55, "last"}}));
  const std::vector<std::string> kept{id("f", 1), id("f", 2)};
  const std::string result = blob(accept(kept).commit, "f");
  EXPECT_EQ(patch(kept), "diff --git a/f b/f\nindex " + changed("f").old_blob + ".." + result +
                             " 100644\n--- a/f\n+++ b/f\n@@ -27,7 +27,8 @@\n" + changed("f").hunks[1].body + "@@ -52,7 +53,7 @@\n" +
                             changed("f").hunks[2].body);
}

TEST_F(HunkPatches, KeepTheFunctionInTheHeaderOfAHunk) {
  const std::string function = "int f(void) {\n";
  change("f.c", function + lines(30), function + lines(30, {{10, "ten"}, {25, "twenty five"}}));
  EXPECT_THAT(patch({id("f.c", 1)}), HasSubstr("@@ -23,7 +23,7 @@ int f(void) {\n"));
}

TEST_F(HunkPatches, AreTheWholeDiffWhenNothingIsLeftOut) {
  repo_.write("\u00fc \"old\"", lines(40));
  repo_.write("bin", std::string("a\0b", 3));
  repo_.write("same", lines(3));
  be_base();
  repo_.remove("\u00fc \"old\"");
  repo_.write("\u00fc \"new\"", lines(40, {{20, "edited"}}));
  repo_.write("bin", std::string("a\0c", 3));
  repo_.remove("same");
  link("bin", "same");
  be_head();
  const std::string whole = cache().patch(repo_.str(), base_, head_, {}, soon());
  EXPECT_EQ(whole, cache().text_diff(repo_.str(), base_, head_, 1 << 20, soon()).text);
  EXPECT_EQ(patch(all_ids(compare())), whole);
  EXPECT_EQ(patch({}), "");
}

TEST_F(HunkPatches, HaveTheNameOrTheTextOfARenamedFile) {
  repo_.write("\u00fc \"old\"", lines(40));
  be_base();
  repo_.remove("\u00fc \"old\"");
  repo_.write("new", lines(40, {{20, "edited"}}));
  make_executable("new");
  be_head();
  const std::string quoted = R"("a/\303\274 \"old\"")";
  EXPECT_EQ(patch({id("new", 0)}), "diff --git " + quoted + R"( b/new
old mode 100644
new mode 100755
similarity index 100%
rename from "\303\274 \"old\""
rename to new
)");
  EXPECT_THAT(patch({id("new", 1)}), AllOf(HasSubstr("diff --git " + quoted + R"( "b/\303\274 \"old\""
index )"),
                                           HasSubstr(" 100644\n--- " + quoted + "\n+++ \"b/"), Not(HasSubstr("rename"))));
}

TEST_F(HunkPatches, RemoveALinkBeforeAFileIsRenamedToItsPlace) {
  repo_.write("a", lines(40));
  repo_.write("keep", "");
  link("keep", "z");
  be_base();
  repo_.remove("z");
  repo_.remove("a");
  repo_.write("z", lines(40, {{20, "edited"}}));
  be_head();
  const std::string all = patch(all_ids(compare()));
  EXPECT_THAT(all, AllOf(HasSubstr("deleted file mode 120000"), HasSubstr("rename to z\n")));
  EXPECT_LT(all.find("deleted file mode"), all.find("rename to"));
  repo_.git({"checkout", "--quiet", "--detach", base_});
  test::run_git(repo_.path(), {"apply", "--index"}, all);
  EXPECT_EQ(repo_.git({"write-tree"}), repo_.git({"rev-parse", head_ + "^{tree}"}));
}

TEST_F(HunkPatches, RefuseWhatNoCommitCouldHold) {
  repo_.write("d", lines(20));
  be_base();
  repo_.remove("d");
  repo_.write("d/inside", "quite other\n");
  be_head();
  EXPECT_EQ(test::code_of([&] { patch({id("d/inside")}); }), "conflict");
  EXPECT_EQ(test::code_of([&] { patch({"none"}); }), "invalid_argument");
}

TEST_F(HunkPatches, NeverGrowPastTheirLimit) {
  change("f", lines(60), lines(60, {{5, "five"}, {30, "thirty"}}));
  const std::vector<std::string> all = all_ids(compare());
  const auto size = static_cast<std::int64_t>(patch(all).size());
  const TreeComparison trees = compare_commits(mirror_.mirror, base_, head_, BinaryContent::whole, soon());
  const CanonicalDiff diff = compare();
  EXPECT_NO_THROW(patch_of_hunks(trees, diff, all, size, soon()));
  EXPECT_EQ(test::code_of([&] { patch_of_hunks(trees, diff, all, size - 1, soon()); }), "limit_exceeded");
}

TEST(PathsInPatches, AreQuotedAsGitDoes) {
  EXPECT_EQ(quoted_path("plain/x y~!"), "plain/x y~!");
  EXPECT_EQ(quoted_path("a\tb\n\a\v\r\\\""), R"("a\tb\n\a\v\r\\\"")");
  EXPECT_EQ(quoted_path("\x01\x1f\x7f\xff"), R"("\001\037\177\377")");
}

}  // namespace
}  // namespace forge::git
