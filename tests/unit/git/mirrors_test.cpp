#include "orchestrator/git/mirrors.h"

#include <thread>

#include "orchestrator/git/handles.h"
#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;
namespace fs = std::filesystem;

class MirrorsTest : public testing::Test {
 protected:
  void SetUp() override { use_libgit2(); }
  Mirrors& mirrors(std::int64_t max_bytes = 1 << 30) {
    if (!mirrors_) mirrors_.emplace((data_ / "mirrors").string(), max_bytes, *log_);
    return *mirrors_;
  }
  void restart(std::int64_t max_bytes = 1 << 30) {
    mirrors_.reset();
    mirrors(max_bytes);
  }
  std::string make(const std::string& name) {
    std::string path = mirrors().path_of(name);
    mirrors().create(path, [](const std::string&) {});
    return path;
  }

  test::TempDir data_;
  std::unique_ptr<Log> log_ = make_null_log();
  std::optional<Mirrors> mirrors_;
};

TEST_F(MirrorsTest, AreNamedByTheHashOfTheRepository) {
  EXPECT_THAT(fs::path(mirrors().path_of("https://host/x")).filename().string(), MatchesRegex("[0-9a-f]{64}"));
  EXPECT_NE(mirrors().path_of("/a"), mirrors().path_of("/b"));
}

TEST_F(MirrorsTest, ArePlacedOnlyWhenTheyAreWhole) {
  const std::string path = mirrors().path_of("x");
  EXPECT_THROW(mirrors().create(path,
                                [](const std::string& temporary) {
                                  EXPECT_TRUE(fs::exists(temporary + "/objects"));
                                  throw Error(ErrorCode::unavailable, "broken off");
                                }),
               Error);
  EXPECT_TRUE(fs::is_empty(data_ / "mirrors"));
  make("x");
  EXPECT_EQ(test::run_git(path, {"rev-parse", "--is-bare-repository"}), "true");
}

TEST_F(MirrorsTest, AreCleanedOfWhatACrashLeftBehind) {
  const std::string path = make("x");
  for (const char* file :
       {"/objects/pack/pack_git2_abc", "/objects/tmp_object_git2_x", "/refs/forge/runs/forge/b.lock", "/packed-refs.lock", "/config.lock"})
    test::write_file(path + file, "");
  test::write_file(path + "/objects/pack/pack-1.pack", "");
  fs::create_directories(data_ / "mirrors/.new-half/objects");
  restart();
  EXPECT_FALSE(fs::exists(data_ / "mirrors/.new-half"));
  EXPECT_TRUE(fs::exists(path + "/objects/pack/pack-1.pack"));
  for (const char* file :
       {"/objects/pack/pack_git2_abc", "/objects/tmp_object_git2_x", "/refs/forge/runs/forge/b.lock", "/packed-refs.lock", "/config.lock"})
    EXPECT_FALSE(fs::exists(path + file)) << file;
}

TEST_F(MirrorsTest, LeaveOldestFirstUnlessTheyHoldRuns) {
  const std::string oldest = make("oldest");
  const std::string holds_runs = make("runs");
  const std::string newest = make("newest");
  const auto now = fs::file_time_type::clock::now();
  for (const std::string& path : {oldest, holds_runs, newest})
    test::write_file(path + "/objects/pack/pack-1.pack", std::string(1 << 20, 'x'));
  const test::TempRepo repo;
  repo.commit("one");
  repo.git({"push", "--quiet", holds_runs, "main:refs/forge/runs/forge/a-1"});
  fs::last_write_time(holds_runs, now - std::chrono::hours(3));
  fs::last_write_time(oldest, now - std::chrono::hours(2));
  fs::last_write_time(newest, now - std::chrono::hours(1));
  restart(5 << 19);  // two and a half MiB
  EXPECT_FALSE(fs::exists(oldest));
  EXPECT_TRUE(fs::exists(holds_runs));
  EXPECT_TRUE(fs::exists(newest));
  restart(1);
  EXPECT_TRUE(fs::exists(holds_runs));
  EXPECT_FALSE(fs::exists(newest));
}

TEST_F(MirrorsTest, AreRefreshedByOneCallerAtATime) {
  const std::string path = make("x");
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> calls{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        mirrors_->refresh(path, std::to_string(i), soon(), [&] {
          most = std::max<int>(most, ++inside);
          ++calls;
          std::this_thread::yield();
          --inside;
        });
      });
  }
  EXPECT_EQ(most, 1);
  EXPECT_EQ(calls, 8);
}

TEST_F(MirrorsTest, AreNotRefreshedAgainForACallerWhoWaitedForANewerOne) {
  const std::string path = make("x");
  std::atomic<int> calls{0};
  std::stop_source first_is_in;
  std::jthread second;
  std::jthread third;
  mirrors().refresh(path, "", soon(), [&] {
    // Both come while this one runs, so that it began before them: one of them refreshes, for both.
    const auto come = [&] { mirrors_->refresh(path, "", soon(), [&] { ++calls; }); };
    second = std::jthread(come);
    third = std::jthread(come);
    pause(std::chrono::milliseconds(100), Stop());
  });
  second.join();
  third.join();
  EXPECT_EQ(calls, 1);
}

TEST_F(MirrorsTest, LetACallerStopWaiting) {
  const std::string path = make("x");
  mirrors().refresh(path, "", soon(), [&] {
    EXPECT_EQ(test::code_of([&] { mirrors_->refresh(path, "", Stop::after(std::chrono::milliseconds(20)), [] {}); }), "timed_out");
    std::stop_source stopped;
    stopped.request_stop();
    EXPECT_EQ(test::code_of([&] { mirrors_->refresh(path, "", Stop(stopped.get_token()), [] {}); }), "cancelled");
  });
  EXPECT_THROW(mirrors().refresh(path, "", soon(), [] { throw Error(ErrorCode::unavailable, "x"); }), Error);
  bool ran = false;
  mirrors().refresh(path, "", soon(), [&] { ran = true; });
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace forge::git
