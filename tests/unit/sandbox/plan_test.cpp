#include "orchestrator/sandbox/local/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "orchestrator/sandbox/driver.h"
#include "tests/support/errors.h"
#include "tests/support/golden.h"

namespace forge::sandbox::local {
namespace {

using test::code_of;
using test::expect_golden;

HostFacts debian() {
  return {.identity = {.uid = 2'000'000, .gid = 2'000'000, .pooled = true},
          .etc_directory = "/var/lib/forge/run/01/etc-1",
          .etc_bound = {"alternatives", "ssl/certs"},
          .root_entries = {{"/bin", "usr/bin"}, {"/sbin", "usr/sbin"}, {"/lib", "usr/lib"}, {"/lib64", "usr/lib64"}},
          .memory_limit = true,
          .pids_limit = true,
          .cpu_limit = true};
}

SandboxSpec job() {
  SandboxSpec spec;
  spec.scope = "forge-job:1";
  spec.tree = TreeSource{"/var/lib/forge/checkouts/abc"};
  spec.listener_ports = {kProxyPort, kModelPort};
  return spec;
}

TEST(Plan, OfAJobAsRootShowsEveryMountAndLimit) {
  expect_golden("tests/golden/plan_root.json", to_json(make_plan(job(), debian()), 1) + "\n");
}

TEST(Plan, OfAPlainUserWithoutTreeAndGroups) {
  HostFacts host = debian();
  host.identity = {.uid = 1234, .gid = 1234, .pooled = false};
  host.root_entries = {{"/bin", ""}, {"/lib", ""}};
  host.memory_limit = host.pids_limit = host.cpu_limit = false;
  SandboxSpec spec = job();
  spec.tree.reset();
  spec.listener_ports.clear();
  expect_golden("tests/golden/plan_user.json", to_json(make_plan(spec, host), 1) + "\n");
}

TEST(Plan, KeepsTheDiskBelowTheMemoryThatItCountsAs) {
  SandboxSpec spec = job();
  spec.contents.limits.memory_bytes = 512LL << 20;
  spec.contents.limits.upper_bytes = 1LL << 30;
  EXPECT_EQ(make_plan(spec, debian()).scratch_bytes, 384LL << 20);
  HostFacts no_groups = debian();
  no_groups.memory_limit = false;
  EXPECT_EQ(make_plan(spec, no_groups).scratch_bytes, 1LL << 30);
}

TEST(Plan, MapsTheOwnerOfATreeOnlyForAPooledIdentity) {
  EXPECT_TRUE(make_plan(job(), debian()).map_tree);
  HostFacts own = debian();
  own.identity.pooled = false;
  EXPECT_FALSE(make_plan(job(), own).map_tree);
}

TEST(Plan, LetsTheSpecReplaceAVariableAndAddOthers) {
  SandboxSpec spec = job();
  spec.env = {{"TZ", "Asia/Tokyo"}, {"NO_PROXY", "localhost"}};
  const Plan plan = make_plan(spec, debian());
  EXPECT_THAT(plan.env, testing::Contains(testing::Pair("TZ", "Asia/Tokyo")));
  EXPECT_THAT(plan.env, testing::Not(testing::Contains(testing::Pair("TZ", "UTC"))));
  EXPECT_THAT(plan.env, testing::Contains(testing::Pair("NO_PROXY", "localhost")));
}

TEST(Plan, ShowsAFileOfTheHostReadOnly) {
  SandboxSpec spec = job();
  spec.files = {{.target = "/opt/forge/claude", .source = "/var/lib/forge/adapters/claude"}};
  const Plan plan = make_plan(spec, debian());
  const auto found = std::find_if(plan.mounts.begin(), plan.mounts.end(), [](const Mount& m) { return m.target == "/opt/forge/claude"; });
  ASSERT_NE(found, plan.mounts.end());
  EXPECT_EQ(found->kind, Mount::Kind::bind);
  EXPECT_EQ(found->source, "/var/lib/forge/adapters/claude");
  EXPECT_TRUE(found->read_only);
}

TEST(Plan, RefusesAFileThatWouldCoverSomethingElse) {
  for (const char* target :
       {"/usr/bin/sh", "/opt/forge/", "/opt/forge", "/opt/forge/..", "/opt/forge/.", "/opt/forge/a/b", "opt/forge/a", ""}) {
    SandboxSpec spec = job();
    spec.files = {{.target = target, .source = "/bin/true"}};
    EXPECT_EQ(code_of([&] { make_plan(spec, debian()); }), "sandbox_config") << target;
  }
  SandboxSpec spec = job();
  spec.files = {{.target = "/opt/forge/a", .source = "relative"}};
  EXPECT_EQ(code_of([&] { make_plan(spec, debian()); }), "sandbox_config");
}

TEST(Plan, RefusesLimitsThatMakeNoSense) {
  const auto with = [](auto change) {
    SandboxSpec spec = job();
    change(spec.contents.limits);
    return code_of([&] { make_plan(spec, debian()); });
  };
  EXPECT_EQ(with([](SandboxLimits& limits) { limits.memory_bytes = 1000; }), "sandbox_config");
  EXPECT_EQ(with([](SandboxLimits& limits) { limits.pids = 0; }), "sandbox_config");
  EXPECT_EQ(with([](SandboxLimits& limits) { limits.cpu_millis = -1; }), "sandbox_config");
  EXPECT_EQ(with([](SandboxLimits& limits) { limits.upper_bytes = 0; }), "sandbox_config");
  EXPECT_EQ(with([](SandboxLimits& limits) { limits.upper_inodes = 1; }), "sandbox_config");
  EXPECT_EQ(with([](SandboxLimits& limits) { limits.open_files = 100'000; }), "sandbox_config");
}

TEST(Plan, RefusesATemplateOfAnotherKindAndAPortThatIsNone) {
  SandboxSpec spec = job();
  spec.contents.kind = "image";
  EXPECT_EQ(code_of([&] { make_plan(spec, debian()); }), "sandbox_config");
  spec = job();
  spec.listener_ports = {70'000};
  EXPECT_EQ(code_of([&] { make_plan(spec, debian()); }), "sandbox_config");
}

TEST(Plan, RefusesAPathThatTheLauncherCouldNotRead) {
  SandboxSpec spec = job();
  spec.tree = TreeSource{"/data/\xff"};
  EXPECT_EQ(code_of([&] { to_json(make_plan(spec, debian())); }), "sandbox_config");
}

}  // namespace
}  // namespace forge::sandbox::local
