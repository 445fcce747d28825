#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/functional/remains.h"
#include "tests/functional/repository.h"
#include "tests/functional/steps.h"

namespace forge::functional {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// Forge run by somebody who is not root.
class PlainUser : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = Installation::missing(User::plain); !why.empty()) GTEST_SKIP() << why;
    forge_.emplace(User::plain);
    repo_.emplace(&*forge_);
  }
  void TearDown() override { repo_.reset(); }

  std::vector<std::string> run_args(const std::string& command) const {
    return {"run", "--repo", repo_->str(), "--task", "x", "--json", "--model", forge_->steps(runs(command))};
  }
  void expect_edits(const json& report) const {
    EXPECT_EQ(report.at("state"), "succeeded") << report;
    const std::string branch = report.at("branch");
    const std::vector<std::string> as_root{"-c", "safe.directory=*", "show", branch + ":src/main.py"};
    EXPECT_EQ(repo_->git(as_root), "def main():\n    print('two')\n\n\nmain()");
  }

  std::optional<DelegatedCgroup> cgroup_;  // before what runs in it
  std::optional<Installation> forge_;
  std::optional<SmallRepo> repo_;
};

TEST_F(PlainUser, WithoutACgroupIsRefusedWithTheRemedy) {
  const Said sandbox = forge_->forge({"sandbox", "run", "--", "true"});
  EXPECT_EQ(sandbox.status(), 125);
  EXPECT_THAT(sandbox.err, HasSubstr("this machine cannot enforce the sandbox; memory limit, process limit, cpu limit: "));
  EXPECT_THAT(sandbox.err, HasSubstr("run Forge as root, or give it cgroups of its own: systemd-run --user --scope -p Delegate=yes"));
  EXPECT_THAT(sandbox.err, HasSubstr("sandbox.policy = degraded runs without"));
  const json report = forge_->json(run_args("true"), 1);
  EXPECT_EQ(report.at("reason"), "sandbox_failed");
  EXPECT_THAT(report.at("error").get<std::string>(), HasSubstr("sandbox.policy = degraded"));
  const Said doctor = forge_->forge({"doctor"});
  EXPECT_NE(doctor.status(), 0);
  EXPECT_THAT(doctor.out, HasSubstr("MISSING memory limit"));
}

TEST_F(PlainUser, DegradedRunsAndSaysWhatIsNotEnforced) {
  forge_->set("FORGE_SANDBOX__POLICY", "degraded");
  const json report = forge_->json(run_args("sed -i s/one/two/ src/main.py; id -u > uid"));
  expect_edits(report);
  EXPECT_EQ(repo_->git({"-c", "safe.directory=*", "show", report.at("branch").get<std::string>() + ":uid"}), "1000");
  const std::string unenforced = report.at("unenforced").dump();
  for (const char* limit : {"memory ", "processes ", "cpu "}) EXPECT_THAT(unenforced, HasSubstr(limit));
  const Said shown = forge_->forge({"show", report.at("job")});
  EXPECT_THAT(shown.out, HasSubstr("not enforced: memory"));
  const json told = forge_->json({"sandbox", "run", "--json", "--", "sh", "-c", "exit 4"}, 4);
  EXPECT_EQ(told.at("unenforced").size(), 1u);
  EXPECT_THAT(told.at("limits").get<std::vector<std::string>>(), Contains("seccomp"));
}

TEST_F(PlainUser, WithADelegatedCgroupRunsStrictly) {
  if (const std::string why = DelegatedCgroup::missing(); !why.empty()) GTEST_SKIP() << why;
  cgroup_.emplace();
  forge_->enter(cgroup_->directories());
  const json report = forge_->json(run_args("sed -i s/one/two/ src/main.py"));
  expect_edits(report);
  EXPECT_EQ(report.at("unenforced"), json::array());
  EXPECT_EQ(forge_->forge({"sandbox", "run", "--", "sh", "-c", "kill -SEGV $$"}).status(), 128 + SIGSEGV);
  EXPECT_THAT(forge_->instances(), IsEmpty());
}

TEST_F(PlainUser, KilledInTheMiddleLeavesNothingBehind) {
  forge_->set("FORGE_SANDBOX__POLICY", "degraded");
  if (DelegatedCgroup::missing().empty()) {
    cgroup_.emplace();
    forge_->enter(cgroup_->directories());
  }
  const std::string mark = "forge-agent-of-" + forge_->data().parent_path().filename().string();
  Program run = forge_->start(run_args("(" + sleeping_as(mark) + ") & " + sleeping_as(mark)));
  wait_for_process(mark);
  const auto children = descendants(run.pid());
  const auto instances = forge_->instances();
  ASSERT_EQ(instances.size(), 1u);
  run.signal(SIGKILL);
  run.wait();
  wait_until_dead(children);
  const json jobs = forge_->json({"jobs", "--json"});
  EXPECT_EQ(jobs.at("items").at(0).at("last_run").at("reason"), "interrupted");
  EXPECT_THAT(processes_with(mark), IsEmpty());
  EXPECT_THAT(cgroups_with("forge-" + instances.at(0)), IsEmpty());
  EXPECT_THAT(mounts_with(forge_->data().string()), IsEmpty());
  EXPECT_THAT(forge_->instances(), IsEmpty());
}

}  // namespace
}  // namespace forge::functional
