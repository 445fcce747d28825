#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/functional/installation.h"
#include "tests/support/paths.h"
#include "tests/support/temp_repo.h"

namespace forge::functional {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

TEST(Demo, RepairsTheSampleAndShowsDiffCostAndAddress) {
  Installation forge;
  forge.set("FORGE_SERVER__LISTEN", "127.0.0.1:0");
  Program demo = forge.start_program({"/bin/bash", test::source_file("docs/demo/run.sh"), forge_program(), "1"});
  const Said said = demo.wait();
  EXPECT_EQ(said.status(), 0) << said.out << said.err;
  EXPECT_THAT(said.out, HasSubstr("No model key is set: this is a replay."));
  EXPECT_THAT(said.out, HasSubstr("+        if line and len(line) + 1 + len(word) > width:"));
  EXPECT_THAT(said.out, ContainsRegex("branch forge/[0-9a-z]{10}-1"));
  EXPECT_THAT(said.out, HasSubstr("$0.019851"));
  EXPECT_THAT(said.out, ContainsRegex("http://127\\.0\\.0\\.1:[0-9]+/sign-in/"));
  EXPECT_THAT(forge.instances(), testing::IsEmpty());
  // The sample's own tests pass on the branch.
  const auto sample = forge.data() / "sample";
  const std::string branch = test::run_git(sample, {"for-each-ref", "--format=%(refname:short)", "refs/heads/forge"});
  test::run_git(sample, {"checkout", "--quiet", branch});
  EXPECT_EQ(forge.start_program({"/usr/bin/python3", "-m", "unittest"}, "", sample).wait().status(), 0);
}

}  // namespace
}  // namespace forge::functional
