#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/temp_dir.h"

namespace forge::test {

void expect_golden(const std::string& path, std::string_view text) {
  const char* accept = std::getenv("FORGE_ACCEPT");
  if (accept != nullptr && std::string_view(accept) == "1") {
    write_file(path, text);
    GTEST_SKIP() << "accepted " << path;
  }
  if (!std::filesystem::exists(path)) {
    ADD_FAILURE() << path << " does not exist; look at the text below and run this test with FORGE_ACCEPT=1\n" << text;
    return;
  }
  EXPECT_EQ(read_file(path), text) << "differs from " << path << "; if the change is meant, run this test with FORGE_ACCEPT=1";
}

}  // namespace forge::test
