#include <gtest/gtest.h>

#include <string_view>

#include "orchestrator/git/repository_cache.h"

// The tests are their own network child: `unit_git git-network` is what CacheOptions::helper_program starts.
int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "git-network") return forge::git::run_network_child();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
