#include "orchestrator/base/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forge {
namespace {
TEST(RunCommand, ReturnsOutputErrorsAndCode) {
  const Output output =
      run_command({.argv = {"/bin/sh", "-c", "cat; echo err >&2; exit 3"}}, "hello", 1000, Stop::after(std::chrono::seconds(5)));
  EXPECT_EQ(output.out, "hello");
  EXPECT_EQ(output.err, "err\n");
  EXPECT_EQ(output.exit.code, 3);
}
}  // namespace
}  // namespace forge
