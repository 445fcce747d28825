#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "orchestrator/base/process.h"
#include "tests/support/paths.h"
#include "tests/unit/sandbox/local_fixture.h"

namespace forge::sandbox {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

std::string whole(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();  // a process that ends meanwhile reads as nothing
  return text.str();
}

/// Host pids whose command line holds `text`.
std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos && whole(entry.path() / "cmdline").find(text) != std::string::npos)
      found.push_back(std::stoi(name));
  }
  return found;
}

/// Waits until `done` says so; the test fails when it does not within some seconds.
template <typename Done>
void eventually(Done done) {
  const Stop stop = Stop::after(std::chrono::seconds(50));
  try {
    while (!done()) pause(std::chrono::milliseconds(10), stop);
  } catch (const Error&) {
    ADD_FAILURE() << "it did not happen in time";
  }
}

std::vector<std::string> cgroups_of(const std::string& instance) {
  std::vector<std::string> left;
  std::error_code error;
  for (fs::recursive_directory_iterator it("/sys/fs/cgroup", fs::directory_options::skip_permission_denied, error), end; it != end;
       it.increment(error)) {
    if (it->path().filename() == "forge-" + instance) left.push_back(it->path().string());
  }
  return left;
}

class LocalCrash : public LocalSandboxTest {
 protected:
  /// The only instance directory but our own.
  std::string instance_in(const std::string& run) const {
    for (const fs::directory_entry& entry : fs::directory_iterator(run)) return entry.path().filename().string();
    return {};
  }
};

class Owner {
 public:
  explicit Owner(std::string run) : run_(std::move(run)), mark_("8" + std::to_string(::getpid())), child_(start()) {
    eventually([&] { return fs::exists(run_ + "/ready") && processes_with("sleep" + std::string(1, '\0') + mark_).size() == 2; });
  }
  const std::string& mark() const { return mark_; }
  Child& child() { return child_; }

 private:
  Child start() {
    SpawnOptions options;
    options.argv = {test::built_program("sandbox-owner"), run_, mark_};
    return Child::spawn(options);
  }
  std::string run_;
  std::string mark_;
  Child child_;
};

TEST_F(LocalCrash, OfTheServiceLeavesNothingBehindAfterTheNextStart) {
  const std::string run = path_of("crash");
  fs::create_directories(run);
  Owner owner(run);
  std::string dead;
  for (const fs::directory_entry& entry : fs::directory_iterator(run)) {
    if (entry.is_directory()) dead = entry.path().filename().string();
  }
  ASSERT_FALSE(dead.empty());
  EXPECT_THAT(cgroups_of(dead), testing::Not(IsEmpty()));
  ASSERT_EQ(::kill(owner.child().pid(), SIGKILL), 0);
  // Before anybody cleans up: the launcher and pid 1 see that their owner is gone.
  eventually([&] { return processes_with("sleep" + std::string(1, '\0') + owner.mark()).empty(); });
  EXPECT_THAT(whole("/proc/self/mounts"), testing::Not(HasSubstr(run)));
  owner.child().wait(soon());  // what still dies owns its instance; a sanitizer's memory takes a while to go

  DriverOptions next = options();
  next.run_directory = run;
  const auto driver = make_driver("local", next);
  EXPECT_FALSE(fs::exists(run + "/" + dead));
  EXPECT_THAT(cgroups_of(dead), IsEmpty());
}

TEST_F(LocalCrash, OfTheLauncherEndsItsSandboxAndTheDriverSaysSo) {
  const auto sandbox = acquire();
  const std::string mark = "7" + std::to_string(::getpid());
  output(*sandbox, "setsid sleep " + mark + " >/dev/null 2>&1 & echo");
  eventually([&] { return !processes_with("sleep" + std::string(1, '\0') + mark).empty(); });
  // The launcher is our child: the one whose command line ends with its name.
  pid_t launcher = 0;
  for (const pid_t pid : processes_with("forge-sandbox")) {
    const std::string stat = whole("/proc/" + std::to_string(pid) + "/stat");  // "PID (NAME) STATE PARENT ..."
    const auto name_end = stat.rfind(')');
    if (name_end != std::string::npos && stat.find(" " + std::to_string(::getpid()) + " ", name_end) == name_end + 3) launcher = pid;
  }
  ASSERT_GT(launcher, 1);
  ASSERT_EQ(::kill(launcher, SIGKILL), 0);
  eventually([&] { return processes_with("sleep" + std::string(1, '\0') + mark).empty(); });
  try {
    shell(*sandbox, "true");
    FAIL() << "a command ran in a dead sandbox";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::unavailable);
    EXPECT_THAT(e.what(), HasSubstr("killed from outside"));
  }
}

TEST_F(LocalCrash, OfTheSandboxInMidCommandIsAResult) {
  const auto sandbox = acquire();
  CommandSpec command{.argv = {"sh", "-c", "echo up; sleep infinity"}};
  command.on_output = [](std::string_view, bool) {
    for (const pid_t pid : processes_with("forge-sandbox")) {
      if (whole("/proc/" + std::to_string(pid) + "/stat").find(") S " + std::to_string(::getpid()) + " ") != std::string::npos)
        ::kill(pid, SIGKILL);
    }
  };
  EXPECT_EQ(sandbox->run(command, soon()).ended, Ended::driver_lost);
}

TEST_F(LocalCrash, ProbingLeavesNoProcess) {
  // The probe was told this directory when the test was set up; it forks a child per facility.
  eventually([&] { return processes_with("--probe" + std::string(1, '\0') + run_directory()).empty(); });
}

TEST_F(LocalCrash, EndsLeaveNoGroupAndNoDirectory) {
  std::string instance = instance_in(run_directory());
  ASSERT_FALSE(cgroups_of(instance).empty());
  output(*acquire(), "true");
  drop_driver();
  EXPECT_THAT(cgroups_of(instance), IsEmpty());
  EXPECT_FALSE(fs::exists(run_directory() + "/" + instance));
}

TEST_F(LocalCrash, EndsOfManySandboxesNeverHarmTheNextOne) {
  // More than the pool keeps ready, so that what came back is taken again.
  for (int i = 0; i < 30; ++i) EXPECT_EQ(output(*acquire(), "echo alive"), "alive\n");
}

TEST_F(LocalCrash, TheSweepLeavesLivingInstancesAlone) {
  const auto sandbox = acquire();
  const auto second = make_driver("local", options());
  EXPECT_EQ(output(*sandbox, "echo alive"), "alive\n");
  EXPECT_TRUE(second->acquire(spec(), soon())->run({.argv = {"true"}}, soon()).exit.ok());
}

}  // namespace
}  // namespace forge::sandbox
