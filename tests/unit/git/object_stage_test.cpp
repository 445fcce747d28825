#include "orchestrator/git/object_stage.h"

#include "orchestrator/git/handles.h"
#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

namespace fs = std::filesystem;

class Stage : public testing::Test {
 protected:
  void SetUp() override {
    use_libgit2();
    write_pack_settings(mirror_.str());
    stage_.emplace(mirror_.str());
  }
  std::size_t files(const std::string& extension) {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(mirror_.path() / "objects"))
      if (entry.is_regular_file() && entry.path().extension() == extension) ++count;
    return count;
  }
  std::string content(const git_oid& id) { return mirror_.git({"cat-file", "blob", hex_of(id)}); }

  test::BareRepo mirror_;
  std::optional<ObjectStage> stage_;
};

TEST_F(Stage, WritesFewObjectsAsFiles) {
  const git_oid first = stage_->write_blob("one");
  const auto second = stage_->write_blob(3, reading("two"));
  EXPECT_EQ(files(""), 0u);
  stage_->finish();
  EXPECT_EQ(files(""), 2u);
  EXPECT_EQ(content(first), "one");
  EXPECT_EQ(content(*second), "two");
}

TEST_F(Stage, WritesManyObjectsAsOnePackThatIsWhole) {
  git_oid last{};
  for (int i = 0; i < 1000; ++i)
    last = stage_->write_blob("blob number " + std::to_string(i) + " of a text that is longer than fifty bytes");
  stage_->finish();
  EXPECT_EQ(files(".pack"), 1u);
  EXPECT_EQ(files(""), 0u);
  EXPECT_EQ(content(last), "blob number 999 of a text that is longer than fifty bytes");
  EXPECT_EQ(mirror_.git({"fsck", "--full", "--no-dangling", "--no-progress"}), "");
}

TEST_F(Stage, StreamsALargeBlobAroundTheMemory) {
  const std::string large(5 << 20, 'x');
  const auto id = stage_->write_blob(static_cast<std::int64_t>(large.size()), reading(large));
  EXPECT_EQ(files(""), 1u);  // before finish()
  EXPECT_EQ(content(*id).size(), large.size());
  EXPECT_FALSE(stage_->write_blob(6 << 20, reading(large)));
  EXPECT_FALSE(stage_->write_blob(10, reading("short")));
}

TEST_F(Stage, EmptiesItsMemoryOnTheWay) {
  std::vector<git_oid> ids;
  for (int i = 0; i < 40; ++i) ids.push_back(stage_->write_blob(std::string(2 << 20, static_cast<char>('A' + i))));
  EXPECT_EQ(files(".pack"), 1u);
  stage_->finish();
  for (const git_oid& id : ids) EXPECT_EQ(mirror_.git({"cat-file", "-s", hex_of(id)}), std::to_string(2 << 20));
}

}  // namespace
}  // namespace forge::git
