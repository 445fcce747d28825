#include "orchestrator/git/checkout_store.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include <fstream>
#include <thread>

#include "orchestrator/base/fd.h"
#include "orchestrator/git/handles.h"
#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
namespace fs = std::filesystem;

class Checkouts : public testing::Test {
 protected:
  void SetUp() override {
    use_libgit2();
    for (int i = 0; i < 3; ++i) {
      repo_.write("f", std::string(static_cast<std::size_t>(i) + 1, 'x'));
      repo_.write("g" + std::to_string(i), "y");
      repo_.commit(std::to_string(i));
      trees_.push_back(repo_.git({"rev-parse", "HEAD^{tree}"}));
    }
  }
  CheckoutStore& store(std::int64_t max_bytes = 1 << 20) {
    if (!store_) store_.emplace((data_ / "checkouts").string(), max_bytes, *log_);
    return *store_;
  }
  std::unique_ptr<Checkout> get(int which) {
    return store_->get(repo_.str() + "/.git", trees_.at(static_cast<std::size_t>(which)), soon());
  }
  /// Trees that are there, as numbers; anything else by its name.
  std::vector<std::string> present() {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(data_ / "checkouts")) {
      const std::string name = entry.path().filename().string();
      const auto known = std::find(trees_.begin(), trees_.end(), name);
      if (known != trees_.end()) {
        all.push_back(std::to_string(known - trees_.begin()));
      } else if (!name.ends_with(".json")) {
        all.push_back(name);
      }
    }
    return all;
  }

  test::TempRepo repo_;
  test::TempDir data_;
  std::vector<std::string> trees_;
  std::unique_ptr<Log> log_ = make_null_log();
  std::optional<CheckoutStore> store_;
};

TEST_F(Checkouts, AreMadeOnceAndFoundAgainAfterARestart) {
  store();
  const std::string directory = get(0)->directory();
  const auto made = fs::last_write_time(directory);
  EXPECT_EQ(get(0)->directory(), directory);
  store_.reset();
  store();
  EXPECT_EQ(get(0)->directory(), directory);
  EXPECT_EQ(fs::last_write_time(directory), made);
}

TEST_F(Checkouts, LeaveTheLongestUnusedFirstAndNeverAHeldOne) {
  store(6L * 4096);  // two and a half of them
  const auto held = get(0);
  get(1);
  EXPECT_THAT(present(), UnorderedElementsAre("0", "1"));
  get(2);
  EXPECT_THAT(present(), UnorderedElementsAre("0", "2"));
  EXPECT_EQ(test::read_file(fs::path(held->directory()) / "f"), "x");
  EXPECT_FALSE(fs::exists(data_ / "checkouts" / (trees_[1] + ".json")));
  get(1);
  EXPECT_THAT(present(), UnorderedElementsAre("0", "1"));
}

/// While it lives nobody renames or removes `path`; `works` is false where the file system or the user's rights do not give that.
class Immovable {
 public:
  explicit Immovable(const fs::path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) { works = set(FS_IMMUTABLE_FL); }
  ~Immovable() { set(0); }
  Immovable(const Immovable&) = delete;
  Immovable& operator=(const Immovable&) = delete;
  bool works = false;

 private:
  bool set(int wanted) {
    int flags = 0;
    if (::ioctl(file_.get(), FS_IOC_GETFLAGS, &flags) != 0) return false;
    flags = (flags & ~FS_IMMUTABLE_FL) | wanted;
    return ::ioctl(file_.get(), FS_IOC_SETFLAGS, &flags) == 0;
  }
  UniqueFd file_;
};

TEST_F(Checkouts, ThatCannotBeMovedAwayStayUsable) {
  store(6L * 4096);
  const fs::path directory = get(0)->directory();
  get(1);
  {
    const Immovable kept(directory);
    if (!kept.works) GTEST_SKIP() << "files cannot be made immutable here";
    get(2);
    EXPECT_THAT(present(), UnorderedElementsAre("0", "2"));
    EXPECT_EQ(test::read_file(fs::path(get(0)->directory()) / "f"), "x");
  }
  get(1);
  EXPECT_EQ(test::read_file(fs::path(get(0)->directory()) / "f"), "x");
}

TEST_F(Checkouts, AreGivenOutAndReleasedWhenOthersCannotBeRemoved) {
  store(6L * 4096);
  const fs::path directory = get(0)->directory();
  get(1);
  {
    const Immovable kept(directory / "g0");
    if (!kept.works) GTEST_SKIP() << "files cannot be made immutable here";
    EXPECT_EQ(test::read_file(fs::path(get(2)->directory()) / "f"), "xxx");
    get(0);
    get(1);  // what is left of the first ones is removed at the next start
    EXPECT_THAT(present(), testing::IsSupersetOf({"0", "1"}));
    EXPECT_THAT(present(), testing::Not(testing::Contains("2"))) << "a holder was forgotten";
  }
  store_.reset();
  store(6L * 4096);
  EXPECT_THAT(present(), UnorderedElementsAre("0", "1"));
}

TEST_F(Checkouts, ThatWereNotFinishedAreRemovedAtTheNextStart) {
  store();
  get(0);
  get(1);
  store_.reset();
  fs::create_directories(data_ / "checkouts/.new-half/dir");
  fs::create_directories(data_ / "checkouts/.old-half/dir");
  fs::create_directories(data_ / "checkouts" / trees_[2]);  // without a record
  fs::remove_all(data_ / "checkouts" / trees_[1]);          // a record without a directory
  store();
  EXPECT_THAT(present(), ElementsAre("0"));
  EXPECT_FALSE(fs::exists(data_ / "checkouts" / (trees_[1] + ".json")));
  EXPECT_EQ(test::read_file(fs::path(get(2)->directory()) / "f"), "xxx");
}

TEST_F(Checkouts, OfBeforeTheMachinesLastStartAreNotTrusted) {
  store();
  get(0);
  store_.reset();
  const fs::path record = data_ / "checkouts" / (trees_[0] + ".json");
  std::string text = test::read_file(record);
  text.replace(text.find("\"boot\":\"") + 8, 8, "00000000");
  test::write_file(record, text);
  store();
  EXPECT_THAT(present(), ElementsAre());
}

TEST_F(Checkouts, AreSharedByCallersThatComeTogether) {
  store();
  std::vector<std::string> seen(6);
  {
    std::vector<std::jthread> threads;
    for (std::string& one : seen) threads.emplace_back([&] { one = test::read_file(fs::path(get(1)->directory()) / "f"); });
  }
  EXPECT_THAT(seen, testing::Each("xx"));
  EXPECT_THAT(present(), ElementsAre("1"));
}

TEST_F(Checkouts, CanBeTriedAgainAfterAFailure) {
  store();
  const std::string missing(40, '1');
  EXPECT_EQ(test::code_of([&] { store_->get(repo_.str() + "/.git", missing, soon()); }), "not_found");
  EXPECT_EQ(test::code_of([&] { store_->get(repo_.str() + "/.git", missing, soon()); }), "not_found");
  EXPECT_THAT(present(), ElementsAre());
}

TEST_F(Checkouts, LargerThanAllRoomAreRefused) {
  store(4096);
  const auto error = test::error_of([&] { get(0); });
  EXPECT_EQ(error->code(), ErrorCode::limit_exceeded);
  EXPECT_THAT(error->client_text(), HasSubstr("git.checkouts_max_bytes"));
  EXPECT_THAT(present(), ElementsAre());
}

TEST_F(Checkouts, SayWhatIsNotInThem) {
  repo_.write("pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:x\n");
  repo_.git({"update-index", "--add", "--cacheinfo", "160000," + repo_.head() + ",sub"});
  repo_.git({"add", "pointer"});
  repo_.git({"commit", "--quiet", "-m", "more"});
  trees_.push_back(repo_.git({"rev-parse", "HEAD^{tree}"}));
  store();
  const std::vector<std::string> expected{
      "submodules are not followed, their directories are empty (1): sub at " + repo_.git({"rev-parse", "HEAD~1"}).substr(0, 8),
      "Git LFS pointers stand for files whose content is not fetched (1): pointer"};
  EXPECT_EQ(get(3)->notes(), expected);
  store_.reset();
  store();
  EXPECT_EQ(get(3)->notes(), expected);
}

}  // namespace
}  // namespace forge::git
