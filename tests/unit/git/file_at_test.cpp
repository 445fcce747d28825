#include "orchestrator/git/file_at.h"

#include "tests/unit/git/review_fixture.h"

namespace forge::git {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

class FilesAt : public ReviewTest {
 protected:
  std::optional<Error> failure(const std::string& path, std::int64_t max_bytes = 100) {
    return test::error_of([&] { cache().file(repo_.str(), head_, path, max_bytes, soon()); });
  }
};

TEST_F(FilesAt, HaveTheirContentModeAndBlob) {
  repo_.write("dir/f", std::string("a\0\xff\r\n", 5));
  link("dir/f", "link");
  be_base();
  make_executable("dir/f");
  be_head();
  const FileAt file = cache().file(repo_.str(), head_, "dir/f", 100, soon());
  EXPECT_EQ(file.content, std::string("a\0\xff\r\n", 5));
  EXPECT_EQ(file.mode, "100755");
  EXPECT_EQ(file.blob, repo_.git({"rev-parse", head_ + ":dir/f"}));
  EXPECT_EQ(mode(base_, "dir/f"), "100644");
  EXPECT_EQ(mode(base_, "link"), "120000");
  EXPECT_EQ(content(base_, "link"), "dir/f");
}

TEST_F(FilesAt, AreNotFoundWhereThereIsNone) {
  change("dir/f", "1", "2");
  for (const std::string& path : {"none"s, "dir/none"s, "dir/f/below"s, ""s, "/dir/f"s, "dir/"s, "dir//f"s, "dir/f\0x"s, "../f"s})
    EXPECT_EQ(name_of(failure(path)->code()), "not_found") << path;
  EXPECT_THAT(failure("dir")->client_text(), HasSubstr("is a directory"));
  EXPECT_EQ(test::code_of([&] { cache().file(repo_.str(), std::string(40, '1'), "dir/f", 100, soon()); }), "not_found");
}

TEST_F(FilesAt, AreReadUpToTheirLimit) {
  change("f", "1", std::string(2048, 'x'));
  EXPECT_NO_THROW(cache().file(repo_.str(), head_, "f", 2048, soon()));
  const auto error = failure("f", 2047);
  EXPECT_EQ(error->code(), ErrorCode::limit_exceeded);
  EXPECT_THAT(error->client_text(), HasSubstr("'f' has 2.0 KiB"));
}

TEST_F(FilesAt, AreNoSubmodules) {
  repo_.git({"update-index", "--add", "--cacheinfo", "160000," + std::string(40, '1') + ",module"});
  repo_.git({"commit", "--quiet", "-m", "one"});
  head_ = repo_.head();
  cache().fetch(repo_.str(), "", soon());
  EXPECT_EQ(failure("module")->code(), ErrorCode::unsupported);
}

class TextDiffs : public ReviewTest {};

TEST_F(TextDiffs, GoFromOneRunsTreeToAnothers) {
  change("f", lines(10), lines(10, {{5, "five"}}));
  const std::string first = head_;
  repo_.git({"checkout", "--quiet", "-b", "second", base_});
  repo_.write("f", lines(10, {{5, "cinq"}}));
  const std::string second = repo_.commit("second");
  cache().fetch(repo_.str(), "second", soon());
  const Diff diff = cache().text_diff(repo_.str(), first, second, 1000, soon());
  EXPECT_THAT(diff.text, HasSubstr("\n-five\n+cinq\n"));
  EXPECT_EQ(diff.stat.files, 1);
  EXPECT_EQ(diff.stat.insertions, 1);
  EXPECT_EQ(test::code_of([&] { cache().text_diff(repo_.str(), first, second, 100, soon()); }), "limit_exceeded");
  EXPECT_EQ(test::code_of([&] { cache().text_diff(repo_.str(), first, std::string(40, '1'), 100, soon()); }), "not_found");
}

}  // namespace
}  // namespace forge::git
