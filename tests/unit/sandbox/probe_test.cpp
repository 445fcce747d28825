#include "orchestrator/sandbox/local/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "orchestrator/base/log.h"
#include "orchestrator/sandbox/drivers.h"
#include "tests/support/errors.h"
#include "tests/support/paths.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace forge::sandbox {
namespace {

using local::CgroupKind;
using local::CgroupLayout;
using local::describe_missing;
using local::Finding;
using local::make_report;
using test::code_of;
using testing::HasSubstr;

std::vector<Finding> all_well() {
  std::vector<Finding> findings;
  for (const char* name : {"user", "mount", "pid", "network", "ipc", "uts", "cgroup", "mount_calls", "overlay", "proc", "terminals",
                           "seccomp", "id_map", "landlock", "loop"})
    findings.push_back({name, 0, ""});
  return findings;
}

CgroupLayout hybrid() { return {.kind = CgroupKind::hybrid, .memory = "/m", .pids = "/p", .cpu = "/c", .unified = "/u"}; }

const Capability& row(const CapabilityReport& report, const std::string& name) {
  const auto found = std::find_if(report.rows.begin(), report.rows.end(), [&](const Capability& one) { return one.name == name; });
  EXPECT_NE(found, report.rows.end()) << name;
  return *found;
}

TEST(Probe, ReadsWhatTheLauncherPrints) {
  const auto findings = local::parse_probe("user\t0\t\nproc\t1\tx\nrubbish\nbad\tx\ty\n");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[1].name, "proc");
  EXPECT_EQ(findings[1].error, 1);
  EXPECT_EQ(findings[1].detail, "x");
}

TEST(Probe, OfACompleteMachineIsUsableUnderEveryPolicy) {
  const CapabilityReport report = make_report(all_well(), hybrid(), "", true, Policy::strict);
  EXPECT_TRUE(report.usable);
  for (const Capability& one : report.rows) EXPECT_TRUE(one.available) << one.name;
}

TEST(Probe, NamesReasonAndRemedyForEveryMissingFacility) {
  for (std::size_t i = 0; i < all_well().size(); ++i) {
    std::vector<Finding> findings = all_well();
    findings[i].error = EPERM;
    const CapabilityReport report = make_report(findings, hybrid(), "", true, Policy::degraded);
    const auto missing = std::find_if(report.rows.begin(), report.rows.end(), [](const Capability& one) { return !one.available; });
    ASSERT_NE(missing, report.rows.end()) << findings[i].name;
    EXPECT_EQ(missing->detail, "Operation not permitted");
    EXPECT_EQ(report.usable, !missing->required) << "no policy does without " << missing->name;
    EXPECT_TRUE(!missing->required || !missing->remedy.empty()) << missing->name;
  }
}

TEST(Probe, LetsOnlyLimitsBeLeftOutAndOnlyWhenThatIsConfigured) {
  const CgroupLayout none{.why = "no cgroup directory that this user may write for: memory"};
  EXPECT_FALSE(make_report(all_well(), none, none.why, false, Policy::strict).usable);
  const CapabilityReport degraded = make_report(all_well(), none, none.why, false, Policy::degraded);
  EXPECT_TRUE(degraded.usable);
  EXPECT_FALSE(row(degraded, "memory limit").available);
  EXPECT_THAT(row(degraded, "memory limit").remedy, HasSubstr("Delegate=yes"));
}

TEST(Probe, SaysNoLimitWhenSettingOneFailed) {
  const CapabilityReport report = make_report(all_well(), hybrid(), "pids.max: Read-only file system", true, Policy::strict);
  EXPECT_FALSE(report.usable);
  EXPECT_THAT(row(report, "process limit").detail, HasSubstr("Read-only"));
}

TEST(Drivers, AreListedAndAnUnknownOneNamesTheNearest) {
  const auto log = make_null_log();
  const test::TempDir data;
  EXPECT_THAT(driver_names(), testing::ElementsAre("local", "none"));
  const auto error = test::error_of([&] { make_driver("locl", {.run_directory = data.str(), .log = *log}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::sandbox_config);
  EXPECT_THAT(error->what(), HasSubstr("did you mean 'local'"));
}

TEST(Drivers, NoneRefusesWithItsOwnCode) {
  const auto log = make_null_log();
  const auto driver = make_driver("none", {.log = *log});
  EXPECT_EQ(driver->name(), "none");
  EXPECT_FALSE(driver->probe(test::soon()).usable);
  EXPECT_EQ(code_of([&] { driver->acquire({}, test::soon()); }), "sandbox_policy");
}

TEST(Drivers, LocalSaysThatItsLauncherIsMissing) {
  const auto log = make_null_log();
  const test::TempDir data;
  const auto driver = make_driver("local", {.run_directory = data.str() + "/run", .launcher = "/no/such/launcher", .log = *log});
  const auto error = test::error_of([&] { driver->acquire({}, test::soon()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::sandbox_unavailable);
  EXPECT_THAT(error->client_text(), HasSubstr("/no/such/launcher"));
}

TEST(Probe, NamesEachReasonAndEachRemedyOnce) {
  const CapabilityReport report{.driver = "local",
                                .rows = {{.name = "user namespaces", .required = true, .detail = "not permitted", .remedy = "allow them"},
                                         {.name = "landlock", .detail = "not there"},
                                         {.name = "own /proc", .available = true, .required = true, .detail = "works"},
                                         {.name = "memory limit", .required = true, .detail = "no cgroup", .remedy = "delegate"},
                                         {.name = "pid namespaces", .required = true, .detail = "not permitted", .remedy = "allow them"},
                                         {.name = "cpu limit", .required = true, .detail = "no cgroup", .remedy = "delegate"}}};
  EXPECT_EQ(describe_missing(report),
            "user namespaces, pid namespaces: not permitted; memory limit, cpu limit: no cgroup. To do: allow them; delegate");
}

TEST(Drivers, LocalRefusesStrictlyAndWorksDegradedWithoutCgroups) {
  const auto log = make_null_log();
  const test::TempDir data;
  DriverOptions options{.policy = Policy::strict,
                        .run_directory = data.str() + "/run",
                        .launcher = test::built_program("forge-sandbox"),
                        .cgroup_parent = "/no-such-group",
                        .log = *log};
  const auto strict = make_driver("local", options);
  const auto error = test::error_of([&] { strict->acquire({}, test::soon()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::sandbox_unavailable);
  EXPECT_THAT(error->client_text(), HasSubstr("Delegate=yes"));
  options.policy = Policy::degraded;
  const auto degraded = make_driver("local", options);
  if (!degraded->probe(test::soon()).usable) return;  // no namespaces at all: nothing to degrade to
  const auto sandbox = degraded->acquire({}, test::soon());
  ASSERT_EQ(sandbox->unenforced().size(), 1U) << "the limits are missing for one reason";
  for (const char* limit : {"memory ", "processes ", "cpu "}) EXPECT_THAT(sandbox->unenforced()[0], HasSubstr(limit));
  for (const std::string& line : sandbox->enforced()) EXPECT_THAT(line, testing::Not(HasSubstr("memory"))) << line;
  EXPECT_TRUE(sandbox->run({.argv = {"true"}}, test::soon()).exit.ok());
}

}  // namespace
}  // namespace forge::sandbox
